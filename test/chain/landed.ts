import { encodeBase58 } from '../../src/solana/base58.ts'

export const keyOf = (byte: number): string => encodeBase58(new Uint8Array(32).fill(byte))
export const signatureOf = (byte: number): string => encodeBase58(new Uint8Array(64).fill(byte))

export const WALLET = keyOf(9)
export const MINT = keyOf(7)
export const WSOL = 'So11111111111111111111111111111111111111112'
export const POOL = keyOf(20)
const TOKEN_ACCOUNT = keyOf(21)
export const SIGNATURE = signatureOf(3)

/** An account that a transaction uses, with its lamports before and after. A token account also has its tokens. */
export interface Use {
  key: string
  lamports: [number, number]
  /** Tokens in base units before and after the transaction; undefined while the account does not exist. */
  tokens?: [bigint | undefined, bigint | undefined]
  mint?: string
  owner?: string
  looked?: 'writable' | 'readonly'
}

export const wallet = (before: number, after: number): Use => ({ key: WALLET, lamports: [before, after] })
/** Returns the lamports and tokens of the wallet's token account before and after the transaction. */
export const ownTokens = (tokens: Use['tokens'] & {}, lamports: Use['lamports'], more: Partial<Use> = {}): Use => ({
  key: TOKEN_ACCOUNT,
  lamports,
  tokens,
  mint: MINT,
  owner: WALLET,
  ...more,
})

/**
 * A call of an instruction. The `height` of an inner instruction is 2 if an instruction of the message called it, and 3
 * one level deeper.
 */
export interface RawCall {
  program: string
  accounts: readonly string[]
  data: Uint8Array
  height?: number
  inner?: readonly RawCall[]
}

interface More {
  error?: unknown
  fee?: number
  signers?: number
  slot?: number
  time?: number | null
  calls?: readonly RawCall[]
}

/** Returns a transaction in the form in which getTransaction with encoding `json` returns it. */
export function landed(used: Use[], more: More = {}) {
  const { calls = [] } = more
  const named = calls
    .flatMap((call) => [call, ...(call.inner ?? [])])
    .flatMap((call) => [...call.accounts, call.program])
  const strangers = [...new Set(named)].filter((key) => !used.some((use) => use.key === key))
  const uses: Use[] = [...used, ...strangers.map((key): Use => ({ key, lamports: [1, 1] }))]
  const ordered = [
    ...uses.filter(({ looked }) => looked === undefined),
    ...uses.filter(({ looked }) => looked === 'writable'),
    ...uses.filter(({ looked }) => looked === 'readonly'),
  ]
  const balances = (when: 0 | 1) =>
    ordered.flatMap(({ tokens, mint, owner }, accountIndex) =>
      tokens?.[when] === undefined
        ? []
        : [
            {
              accountIndex,
              mint,
              owner,
              programId: 'p',
              uiTokenAmount: { amount: String(tokens[when]), decimals: 6, uiAmount: 0 },
            },
          ],
    )
  const place = (key: string): number => ordered.findIndex((use) => use.key === key)
  const compiled = ({ program, accounts, data, height }: RawCall) => ({
    programIdIndex: place(program),
    accounts: accounts.map(place),
    data: encodeBase58(data),
    stackHeight: height ?? null,
  })
  const keysOf = (looked?: string) => uses.filter((use) => use.looked === looked).map(({ key }) => key)
  return {
    slot: more.slot ?? 100,
    blockTime: more.time === undefined ? 1_782_611_393 : more.time,
    version: 0,
    meta: {
      err: more.error ?? null,
      fee: more.fee ?? 5_000,
      preBalances: ordered.map(({ lamports }) => lamports[0]),
      postBalances: ordered.map(({ lamports }) => lamports[1]),
      preTokenBalances: balances(0),
      postTokenBalances: balances(1),
      innerInstructions: calls.flatMap(({ inner = [] }, index) =>
        inner.length > 0 ? [{ index, instructions: inner.map(compiled) }] : [],
      ) as unknown,
      loadedAddresses: { writable: keysOf('writable'), readonly: keysOf('readonly') },
    },
    transaction: {
      signatures: [SIGNATURE],
      message: {
        accountKeys: keysOf(),
        header: { numRequiredSignatures: more.signers ?? 1 },
        ...(more.calls !== undefined && { instructions: calls.map(compiled) }),
      },
    },
  }
}
