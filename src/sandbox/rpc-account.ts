import { encodeBase58 } from '../core/base58.ts'
import { PROGRAMS } from '../core/programs.ts'
import { TOKEN_DECIMALS } from './curve.ts'
import type { Account } from './ledger.ts'
import { decodeTokenAccount, MINT_BYTES } from './token-layout.ts'

/** Solana's JSON shape of accounts (solana.com/docs/rpc). Lamports are numbers, token amounts strings. */

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

export function amountShape(amount: bigint): object {
  const uiAmount = Number(amount) / 10 ** TOKEN_DECIMALS
  const fraction = String(amount % 10n ** BigInt(TOKEN_DECIMALS))
    .padStart(TOKEN_DECIMALS, '0')
    .replace(/0+$/, '')
  const whole = String(amount / 10n ** BigInt(TOKEN_DECIMALS))
  return {
    amount: String(amount),
    decimals: TOKEN_DECIMALS,
    uiAmount,
    uiAmountString: fraction ? `${whole}.${fraction}` : whole,
  }
}

function accountData(account: Account, encoding: string): unknown {
  const { data } = account
  if (encoding === 'jsonParsed') {
    const parsed = account.owner === PROGRAMS.token ? parsedTokenData(data) : undefined
    if (parsed) return { program: 'spl-token', parsed, space: data.length }
  }
  if (encoding === 'base58') return [encodeBase58(data), 'base58']
  return [Buffer.from(data).toString('base64'), 'base64']
}

function parsedTokenData(data: Uint8Array): object | undefined {
  if (data.length === MINT_BYTES) {
    const supply = String(new DataView(data.buffer, data.byteOffset).getBigUint64(36, true))
    return {
      type: 'mint',
      info: { decimals: TOKEN_DECIMALS, freezeAuthority: null, isInitialized: true, mintAuthority: null, supply },
    }
  }
  const token = decodeTokenAccount(data)
  if (!token) return undefined
  const { mint, owner, amount } = token
  return {
    type: 'account',
    info: { isNative: false, mint, owner, state: 'initialized', tokenAmount: amountShape(amount) },
  }
}
