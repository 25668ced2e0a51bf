import { encodeBase58 } from '../../src/core/base58.ts'

export const keyOf = (byte: number): string => encodeBase58(new Uint8Array(32).fill(byte))
export const signatureOf = (byte: number): string => encodeBase58(new Uint8Array(64).fill(byte))

export const WALLET = keyOf(9)
export const MINT = keyOf(7)
export const WSOL = 'So11111111111111111111111111111111111111112'
export const POOL = keyOf(20)
const TOKEN_ACCOUNT = keyOf(21)
export const SIGNATURE = signatureOf(3)

/** One account of a transaction: lamports before and after, and tokens where it is a token account. */
export interface Use {
  key: string
  lamports: [number, number]
  /** Base units before and after; undefined where the account does not exist then. */
  tokens?: [bigint | undefined, bigint | undefined]
  mint?: string
  owner?: string
  looked?: 'writable' | 'readonly'
}

export const wallet = (before: number, after: number): Use => ({ key: WALLET, lamports: [before, after] })
/** The wallet's account of the traded token. */
export const ownTokens = (tokens: Use['tokens'] & {}, lamports: Use['lamports'], more: Partial<Use> = {}): Use => ({
  key: TOKEN_ACCOUNT,
  lamports,
  tokens,
  mint: MINT,
  owner: WALLET,
  ...more,
})

/** The answer of getTransaction, encoding json. */
export function landed(
  uses: Use[],
  more: { error?: unknown; fee?: number; signers?: number; slot?: number; time?: number | null } = {},
) {
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
      loadedAddresses: { writable: keysOf('writable'), readonly: keysOf('readonly') },
    },
    transaction: {
      signatures: [SIGNATURE],
      message: { accountKeys: keysOf(), header: { numRequiredSignatures: more.signers ?? 1 } },
    },
  }
}
