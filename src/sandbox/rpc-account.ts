import { encodeBase58 } from '../core/base58.ts'
import { PROGRAMS, WSOL_MINT } from '../core/programs.ts'
import { TOKEN_DECIMALS } from './curve.ts'
import type { Account } from './ledger.ts'
import { decodeTokenAccount, MINT_BYTES } from './token-layout.ts'

/** Solana's JSON shape of accounts (solana.com/docs/rpc). Lamports are numbers, token amounts strings. */

const PARSED_PROGRAMS: Readonly<Record<string, string>> = {
  [PROGRAMS.token]: 'spl-token',
  [PROGRAMS.token2022]: 'spl-token-2022',
}
const DECIMALS_AT = 44
const NO_RENT_EPOCH = 18_446_744_073_709_552_000

export function accountShape(account: Account, encoding: string): object {
  const { lamports, owner, executable, data } = account
  return {
    data: accountData(account, encoding),
    executable,
    lamports,
    owner,
    rentEpoch: NO_RENT_EPOCH,
    space: data.length,
  }
}

export function amountShape(amount: bigint, decimals: number): object {
  const uiAmount = Number(amount) / 10 ** decimals
  const fraction = String(amount % 10n ** BigInt(decimals))
    .padStart(decimals, '0')
    .replace(/0+$/, '')
  const whole = String(amount / 10n ** BigInt(decimals))
  return {
    amount: String(amount),
    decimals,
    uiAmount,
    uiAmountString: fraction ? `${whole}.${fraction}` : whole,
  }
}

/** Of a mint: the market's all have the same. */
export function decimalsOf(mint: string): number {
  return mint === WSOL_MINT ? 9 : TOKEN_DECIMALS
}

function accountData(account: Account, encoding: string): unknown {
  const { data } = account
  if (encoding === 'jsonParsed') {
    const program = PARSED_PROGRAMS[account.owner]
    const parsed = program && parsedTokenData(data)
    if (parsed) return { program, parsed, space: data.length }
  }
  if (encoding === 'base58') return [encodeBase58(data), 'base58']
  return [Buffer.from(data).toString('base64'), 'base64']
}

function parsedTokenData(data: Uint8Array): object | undefined {
  if (data.length === MINT_BYTES) {
    const supply = String(new DataView(data.buffer, data.byteOffset).getBigUint64(36, true))
    return {
      type: 'mint',
      info: { decimals: data[DECIMALS_AT], freezeAuthority: null, isInitialized: true, mintAuthority: null, supply },
    }
  }
  const token = decodeTokenAccount(data)
  if (!token) return undefined
  const { mint, owner, amount } = token
  const tokenAmount = amountShape(amount, decimalsOf(mint))
  return {
    type: 'account',
    info: { isNative: mint === WSOL_MINT, mint, owner, state: 'initialized', tokenAmount },
  }
}
