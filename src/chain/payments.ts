import { decodeLongBase58, encodeBase58 } from '../core/base58.ts'
import { PROGRAMS, WSOL_MINT } from '../core/programs.ts'
import type { Call } from './calls.ts'
import type { LandedTransaction } from './transaction.ts'

/** SOL that left a wallet, or one of its accounts of wrapped SOL, by an instruction. */
export interface Payment {
  readonly to: string
  readonly lamports: number
  /** It opened the account that it went to. */
  readonly opens: boolean
  readonly call: Call
}

/** The data of the longest instruction that is read here: CreateAccountWithSeed, with the longest seed. */
const MOST_BYTES = 4 + 32 + 8 + 32 + 8 + 8 + 32
/** Token and Token-2022. */
const TOKEN_PROGRAMS: readonly string[] = [PROGRAMS.token, PROGRAMS.token2022]
/** Numbers of instructions: solana-system-interface, spl-token-interface. */
const SYSTEM = { create: 0, assign: 1, transfer: 2, createWithSeed: 3, allocate: 8 } as const
const TOKEN = { initialize: 1, transfer: 3, transferChecked: 12, initialize2: 16, initialize3: 18, fees: 26 } as const

/** Token accounts of a wallet by address, with their mint: those of the balances, and those that lived within the transaction only. */
export function ownTokenAccounts(
  { before, after, accounts, calls }: LandedTransaction,
  wallet: string,
): Map<string, string> {
  const own = new Map<string, string>()
  for (const { owner, account, mint } of [...before, ...after])
    if (owner === wallet) own.set(accounts[account] as string, mint)
  const kept = new Set([...before, ...after].map(({ account }) => accounts[account]))
  for (const { program, accounts: keys, data } of calls?.all ?? []) {
    if (!TOKEN_PROGRAMS.includes(program)) continue
    const bytes = decodeLongBase58(data, 33)
    const [account = '', mint = '', third = ''] = keys
    const isNamed = bytes?.[0] === TOKEN.initialize2 || bytes?.[0] === TOKEN.initialize3
    const owner = bytes?.[0] === TOKEN.initialize ? third : isNamed ? encodeBase58(bytes.subarray(1)) : ''
    if (owner === wallet && !kept.has(account)) own.set(account, mint)
  }
  return own
}

/** What the wallet paid, transfer by transfer, in order. */
export function paymentsOf({ calls }: LandedTransaction, wallet: string, own: ReadonlyMap<string, string>): Payment[] {
  const all = calls?.all ?? []
  const made = new Set(all.flatMap((call) => madeBy(call) ?? []))
  return all.flatMap((call) => {
    const paid = call.program === PROGRAMS.system ? systemPayment(call, wallet) : wrappedPayment(call, own)
    return paid === undefined ? [] : [{ ...paid, opens: paid.opens || made.has(paid.to), call }]
  })
}

/** The accounts that an instruction moved tokens of a mint between; undefined for every other one. */
export function tokenMove({ program, accounts, data }: Call): { from: string; to: string } | undefined {
  if (!TOKEN_PROGRAMS.includes(program)) return undefined
  const kind = decodeLongBase58(data, MOST_BYTES)?.[0]
  const [from = '', second = '', third = ''] = accounts
  if (kind === TOKEN.transfer) return { from, to: second }
  return kind === TOKEN.transferChecked || kind === TOKEN.fees ? { from, to: third } : undefined
}

function systemPayment({ accounts: [from, to = ''], data }: Call, wallet: string): Omit<Payment, 'call'> | undefined {
  const bytes = decodeLongBase58(data, MOST_BYTES)
  if (from !== wallet || bytes === undefined || bytes.length < 12) return undefined
  const kind = uint(bytes, 0, 4)
  if (kind === SYSTEM.transfer) return { to, lamports: uint(bytes, 4, 8), opens: false }
  if (kind === SYSTEM.create) return { to, lamports: uint(bytes, 4, 8), opens: true }
  const seed = kind === SYSTEM.createWithSeed && bytes.length >= 44 ? uint(bytes, 36, 8) : undefined
  if (seed === undefined || bytes.length < 44 + seed + 8) return undefined
  return { to, lamports: uint(bytes, 44 + seed, 8), opens: true }
}

function wrappedPayment(call: Call, own: ReadonlyMap<string, string>): Omit<Payment, 'call'> | undefined {
  const move = tokenMove(call)
  if (move === undefined || own.get(move.from) !== WSOL_MINT) return undefined
  const bytes = decodeLongBase58(call.data, MOST_BYTES)
  return bytes === undefined || bytes.length < 9
    ? undefined
    : { to: move.to, lamports: uint(bytes, 1, 8), opens: false }
}

/** An account that held SOL before it was opened is made in three steps: filled up, given room, given away. */
function madeBy({ program, accounts: [account], data }: Call): string | undefined {
  if (program !== PROGRAMS.system) return undefined
  const bytes = decodeLongBase58(data, MOST_BYTES)
  const kind = bytes === undefined || bytes.length < 4 ? undefined : uint(bytes, 0, 4)
  return kind === SYSTEM.allocate || kind === SYSTEM.assign ? account : undefined
}

function uint(bytes: Uint8Array, at: number, length: number): number {
  return bytes.subarray(at, at + length).reduceRight((sum, byte) => sum * 256 + byte, 0)
}
