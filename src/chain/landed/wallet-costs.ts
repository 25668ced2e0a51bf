import { lamports } from '../../base/units.ts'
import type { WalletCosts } from '../../orders/audit-records.ts'
import { JITO_TIPS } from '../../orders/builder-policy.ts'
import { decodeLongBase58, encodeBase58 } from '../../solana/base58.ts'
import { BASE_FEE } from '../../solana/constants.ts'
import { SYSTEM, TOKEN } from '../../solana/instructions.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import type { Call, LandedTransaction, TokenBalance } from './landed-transaction.ts'
import { balanceChange } from './wallet-change.ts'

/** Costs of a transaction for a wallet, and the amounts per account from which the costs were computed. The transaction
 *  need not be a trade. */
export interface OwnPart {
  readonly costs: WalletCosts
  /** Mints of the wallet's token accounts, by address. */
  readonly own: ReadonlyMap<string, string>
  /** Lamports that an account gained; 0 if it gained none or lost some. */
  readonly gain: (key: string) => number
  /** The part of an account's gain, in lamports, that paid for opening the account. */
  readonly rentTo: (key: string) => number
  /** Sums the wallet's transfers that match `which`, in lamports, by receiving account. */
  readonly paid: (which: (payment: Payment) => boolean) => Map<string, number>
}

/** Computes the costs of a transaction for a wallet. All amounts are differences of balances; the instructions only
 *  show what each amount was for. Throws RangeError if a number exceeds 2^53. */
export function ownPartOf(transaction: LandedTransaction, wallet: string): OwnPart {
  const own = ownTokenAccounts(transaction, wallet)
  const deltas = new Map(transaction.accounts.map((key, index) => [key, balanceChange(transaction, index)]))
  const payments = paymentsOf(transaction, wallet, own).filter(({ to }) => to !== wallet && !own.has(to))
  const opened = sumBy(payments.filter(({ opens, to }) => opens && isNew(transaction, to)))
  // The instruction data alone is not trusted, so a payment never counts for more than its receiver gained.
  const gain = (key: string): number => Math.max(0, deltas.get(key) ?? 0)
  const rentTo = (key: string): number => Math.min(opened.get(key) ?? 0, gain(key))
  const paid = (which: (payment: Payment) => boolean): Map<string, number> => {
    const sums = sumBy(payments.filter((payment) => !payment.opens && which(payment)))
    return new Map([...sums].map(([to, sum]) => [to, Math.min(sum, gain(to) - rentTo(to))]))
  }
  const network = transaction.accounts[0] === wallet ? networkFeeOf(transaction) : { base: 0, priority: 0 }
  const kept = keptOf(transaction, wallet, own)
  const costs: WalletCosts = {
    baseFeeLamports: lamports(network.base),
    priorityFeeLamports: lamports(network.priority),
    tipLamports: lamports(total(paid(({ to }) => isTip(to)).values())),
    rentPaidLamports: lamports(kept.rentPaid + total([...opened.keys()].map(rentTo))),
    rentReturnedLamports: lamports(kept.rentReturned),
    wrappedLamports: lamports(kept.wrapped),
  }
  return { costs, own, gain, rentTo, paid }
}

/** Returns the costs of a transaction for a wallet, lamports; undefined if a number exceeds 2^53. */
export function walletCostsOf(transaction: LandedTransaction, wallet: string): WalletCosts | undefined {
  try {
    return ownPartOf(transaction, wallet).costs
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return undefined
  }
}

/** Returns the lamports that moved between the wallet and its own token accounts: as wrapped SOL, as rent paid and as
 *  rent returned. SOL in these accounts still belongs to the wallet. */
function keptOf(
  transaction: LandedTransaction,
  wallet: string,
  own: ReadonlyMap<string, string>,
): { wrapped: number; rentPaid: number; rentReturned: number } {
  const sums = { wrapped: 0, rentPaid: 0, rentReturned: 0 }
  for (const [key, mint] of own) {
    const place = transaction.accounts.indexOf(key)
    if (key === wallet || place < 0) continue
    const amount = (balances: readonly TokenBalance[]): number =>
      Number(balances.find(({ account, owner }) => account === place && owner === wallet)?.tokens ?? 0n)
    const wrapped = mint === WSOL_MINT ? amount(transaction.after) - amount(transaction.before) : 0
    const rent = balanceChange(transaction, place) - wrapped
    sums.wrapped += wrapped
    if (rent > 0) sums.rentPaid += rent
    else sums.rentReturned -= rent
  }
  return sums
}

export function isTip(key: string): boolean {
  return (JITO_TIPS as readonly string[]).includes(key)
}

export function total(values: Iterable<number>): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

function isNew({ accounts, lamportsBefore }: LandedTransaction, key: string): boolean {
  return lamportsBefore[accounts.indexOf(key)] === 0
}

function sumBy(payments: readonly Payment[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { to, lamports: paid } of payments) sums.set(to, (sums.get(to) ?? 0) + paid)
  return sums
}

const LIMIT = 2
const PRICE = 3
const MICRO = 1000000

/** Splits the network fee, in lamports. The priority fee is the compute limit times the compute price, and the rest is
 *  the base fee. The base fee is 5,000 lamports per signature, including signatures that precompiled programs check. If
 *  no limit is set, the base fee is computed from the number of signers, and the rest is the priority fee. */
function networkFeeOf({ feeLamports, signers, calls }: Pick<LandedTransaction, 'feeLamports' | 'signers' | 'calls'>): {
  base: number
  priority: number
} {
  const budget = calls?.all.filter(({ program, parent }) => program === PROGRAMS.computeBudget && parent === undefined)
  const limit = numberIn(budget, LIMIT, 4)
  const price = numberIn(budget, PRICE, 8)
  if (budget !== undefined && price === undefined) return { base: feeLamports, priority: 0 }
  const asked = limit === undefined || price === undefined ? undefined : Math.ceil((limit * price) / MICRO)
  const signatures = Math.min(feeLamports, BASE_FEE * signers)
  const priority = asked !== undefined && feeLamports - asked >= signatures ? asked : feeLamports - signatures
  return { base: feeLamports - priority, priority }
}

/** Returns the little-endian number that follows the kind byte in the first instruction of this kind; undefined if
 *  there is no such instruction. */
function numberIn(budget: readonly Call[] | undefined, kind: number, bytes: number): number | undefined {
  for (const { data } of budget ?? []) {
    const decoded = decodeLongBase58(data, 1 + bytes)
    if (decoded?.length === 1 + bytes && decoded[0] === kind)
      return decoded.subarray(1).reduceRight((sum, byte) => sum * 256 + byte, 0)
  }
  return undefined
}

/** A payment of SOL by an instruction, out of a wallet or one of its wrapped SOL accounts. */
export interface Payment {
  readonly to: string
  readonly lamports: number
  /** Whether the payment opened the receiving account. */
  readonly opens: boolean
  readonly call: Call
}

/** Maximum length in bytes of instruction data that is parsed: that of CreateAccountWithSeed with the longest seed. */
const MOST_BYTES = 4 + 32 + 8 + 32 + 8 + 8 + 32
/** Ids of the programs Token and Token-2022. */
const TOKEN_PROGRAMS: readonly string[] = [PROGRAMS.token, PROGRAMS.token2022]
/** Instruction kind of TransferFeeExtension in Token-2022, to which TransferCheckedWithFee belongs. */
const TRANSFER_WITH_FEE = 26

/** Returns the mints of a wallet's token accounts, by address. They include accounts that existed only within the
 *  transaction, which the reported balances omit. */
function ownTokenAccounts({ before, after, accounts, calls }: LandedTransaction, wallet: string): Map<string, string> {
  const own = new Map<string, string>()
  for (const { owner, account, mint } of [...before, ...after])
    if (owner === wallet) own.set(accounts[account] as string, mint)
  const kept = new Set([...before, ...after].map(({ account }) => accounts[account]))
  for (const { program, accounts: keys, data } of calls?.all ?? []) {
    if (!TOKEN_PROGRAMS.includes(program)) continue
    const bytes = decodeLongBase58(data, 33)
    const [account = '', mint = '', third = ''] = keys
    const isNamed = bytes?.[0] === TOKEN.initializeAccount2 || bytes?.[0] === TOKEN.initializeAccount3
    const owner = bytes?.[0] === TOKEN.initializeAccount ? third : isNamed ? encodeBase58(bytes.subarray(1)) : ''
    if (owner === wallet && !kept.has(account)) own.set(account, mint)
  }
  return own
}

/** Lists the payments of the wallet in the order of the instructions, one per transfer. */
function paymentsOf({ calls }: LandedTransaction, wallet: string, own: ReadonlyMap<string, string>): Payment[] {
  const all = calls?.all ?? []
  const made = new Set(all.flatMap((call) => madeBy(call) ?? []))
  return all.flatMap((call) => {
    const paid = call.program === PROGRAMS.system ? systemPayment(call, wallet) : wrappedPayment(call, own)
    return paid === undefined ? [] : [{ ...paid, opens: paid.opens || made.has(paid.to), call }]
  })
}

/** Returns the accounts between which an instruction moved tokens; undefined for other instructions. */
export function tokenMove({ program, accounts, data }: Call): { from: string; to: string } | undefined {
  if (!TOKEN_PROGRAMS.includes(program)) return undefined
  const kind = decodeLongBase58(data, MOST_BYTES)?.[0]
  const [from = '', second = '', third = ''] = accounts
  if (kind === TOKEN.transfer) return { from, to: second }
  return kind === TOKEN.transferChecked || kind === TRANSFER_WITH_FEE ? { from, to: third } : undefined
}

function systemPayment({ accounts: [from, to = ''], data }: Call, wallet: string): Omit<Payment, 'call'> | undefined {
  const bytes = decodeLongBase58(data, MOST_BYTES)
  if (from !== wallet || bytes === undefined || bytes.length < 12) return undefined
  const kind = uint(bytes, 0, 4)
  if (kind === SYSTEM.transfer) return { to, lamports: uint(bytes, 4, 8), opens: false }
  if (kind === SYSTEM.createAccount) return { to, lamports: uint(bytes, 4, 8), opens: true }
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

/** Returns the account that an Allocate or Assign instruction prepares; undefined for other instructions. If an address
 *  already holds SOL, an account is opened there in three steps: transfer, allocate, assign. */
function madeBy({ program, accounts: [account], data }: Call): string | undefined {
  if (program !== PROGRAMS.system) return undefined
  const bytes = decodeLongBase58(data, MOST_BYTES)
  const kind = bytes === undefined || bytes.length < 4 ? undefined : uint(bytes, 0, 4)
  return kind === SYSTEM.allocate || kind === SYSTEM.assign ? account : undefined
}

function uint(bytes: Uint8Array, at: number, length: number): number {
  return bytes.subarray(at, at + length).reduceRight((sum, byte) => sum * 256 + byte, 0)
}
