import type { Refusal } from '../../base/errors.ts'
import type { AskedBuy } from '../../orders/asked-trade.ts'
import type { FeeAccount } from '../../orders/builder-policy.ts'
import { ACCOUNT_OVERHEAD_BYTES, BASE_FEE } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { mostAmount, mostFee } from '../../solana/rounding.ts'
import { TOKEN_ACCOUNT_BYTES } from '../../solana/token-account.ts'
import type { ChainFacts } from './chain-facts.ts'
import { computeUnits, priorityFee } from './compute-budget.ts'
import { type Reading, sol, type Trade } from './reading.ts'

/** Part of what may leave the wallet at most. */
export interface Part {
  readonly what: string
  readonly lamports: bigint
}

/** Upper bound of a Token-2022 account: it grows with the extensions of its mint, and none in use needs more. */
const EXTENDED_BYTES = 200
const HUNDRED = 100n
/** Percentages have at most six decimals. */
const FINE = 1_000_000

/** Adds up what was read, holds it against the order and the policy, and says what may leave the wallet at most; null:
 *  no bound. */
export function judge(
  reading: Reading,
  signers: number,
  steps: number,
  facts: ChainFacts,
): { parts: Part[]; bound: bigint | null; orderedLamports: bigint | null } {
  const [trade] = reading.trades
  const count = reading.trades.length + reading.opaque.length
  if (count !== 1)
    reading.refuse('TRADE_COUNT', count === 0 ? 'nothing is traded' : `${count} trades in one transaction`)
  if (trade !== undefined && count === 1) judgeTrade(trade, reading, facts)
  judgeSeeded(reading, trade)
  const parts = [
    ...(trade?.side === 'buy' ? [{ what: 'trade', lamports: trade.lamports }] : []),
    ...judgeFees(reading, trade),
    { what: 'priority fee', lamports: judgePriority(reading, steps) },
    { what: 'base fee', lamports: BigInt(BASE_FEE * signers) },
    { what: 'rent', lamports: rentOf(reading, facts.rentLamports) },
  ].filter(({ lamports }) => lamports > 0n)
  judgeWrapped(reading, trade, facts.rentLamports)
  const sum = parts.reduce((all, { lamports }) => all + lamports, 0n)
  if (reading.opaque.length === 0) return { parts, bound: sum, orderedLamports: null }
  const orderedLamports = facts.guardLamports === undefined ? orderedOf(reading, sum) : null
  return { parts: [], bound: judgeOpaque(reading, facts), orderedLamports }
}

/** What the order means a buy to cost, with all that can be read beside its trade; null for a sale. */
function orderedOf({ asked }: Reading, beside: bigint): bigint | null {
  return asked.side === 'buy' ? mostCost(asked) + beside : null
}

/** What a buy may cost with its slippage, however its builder rounds. */
function mostCost({ lamports, slippagePercent }: AskedBuy): bigint {
  return mostAmount(share(mostAmount(BigInt(lamports)), 100 + slippagePercent))
}

function judgeTrade(trade: Trade, reading: Reading, facts: ChainFacts): void {
  const { asked } = reading
  const { name, side, exact, lamports, tokens } = trade
  if (side !== asked.side) reading.refuse('WRONG_SIDE', `${name}, and the order is to ${asked.side}`)
  else if (asked.side === 'buy') {
    const most = exact === 'in' ? mostAmount(BigInt(asked.lamports)) : mostCost(asked)
    if (lamports > most)
      reading.refuse('AMOUNT_OVER', `${name} may cost ${sol(lamports)} SOL, the order allows ${sol(most)}`)
    if (tokens === 0n) reading.refuse('MIN_OUT', `${name} is content with no tokens at all`)
  } else {
    const most = tokensAsked(reading, facts)
    if (most === undefined) reading.refuse('SELL_UNBOUNDED', `${name} sells ${tokens}; ${whyUnbounded(reading)}`)
    else if (most !== null && tokens > most)
      reading.refuse('AMOUNT_OVER', `${name} sells ${tokens} base units, the order allows ${most}`)
    if (lamports === 0n) reading.refuse('MIN_OUT', `${name} is content with no SOL at all`)
  }
}

/** What an order is held against. */
type Terms = Pick<Reading, 'asked' | 'policy'>

/** A trade of which nothing can be read but what it does when it is simulated: by so much the wallet would change. */
export function judgeSimulated(
  terms: Terms,
  facts: ChainFacts,
  orderedLamports: bigint | null,
  { lamports, tokens }: { readonly lamports: bigint; readonly tokens: bigint },
): Refusal[] {
  if (terms.asked.side === 'buy') {
    if (orderedLamports === null || -lamports <= orderedLamports) return []
    const reason = `${sol(-lamports)} SOL would be paid, the order allows ${sol(orderedLamports)} with fees and rent`
    return [{ code: 'AMOUNT_OVER', reason }]
  }
  const most = tokensAsked(terms, facts)
  if (most === null || (most !== undefined && -tokens <= most)) return []
  return [
    most === undefined
      ? { code: 'SELL_UNBOUNDED', reason: `${-tokens} would be sold; ${whyUnbounded(terms)}` }
      : { code: 'AMOUNT_OVER', reason: `${-tokens} base units would be sold, the order allows ${most}` },
  ]
}

/** Base units that may be sold at most; null: all there are; undefined: not known. */
function tokensAsked({ asked, policy }: Terms, { holding }: ChainFacts): bigint | null | undefined {
  if (asked.side === 'buy' || asked.amount.kind === 'all') return null
  if (asked.amount.kind === 'percent') return holding && mostAmount(share(holding.tokens, asked.amount.percent))
  const [whole = '', fraction = ''] = asked.amount.decimal.split('.')
  if (policy.sellNumber === 'baseUnits') return /^0*$/.test(fraction) ? BigInt(whole) : undefined
  if (policy.sellNumber === null || holding === undefined) return undefined
  return mostAmount(BigInt(whole + fraction.slice(0, holding.decimals).padEnd(holding.decimals, '0')))
}

function whyUnbounded({ asked, policy }: Terms): string {
  const isNumber = asked.side === 'sell' && asked.amount.kind === 'number'
  if (isNumber && policy.sellNumber === null) return 'sellNumber of the policy has to say what a number counts'
  return 'how many the order means depends on the wallet: give --rpc'
}

/** Fees by a transfer of their own. */
function judgeFees(reading: Reading, trade: Trade | undefined): Part[] {
  const { asked, policy } = reading
  // What a sale by an opaque program brings is not to be read.
  const brought = trade && expected(trade.lamports, asked.slippagePercent)
  const moved = asked.side === 'buy' ? mostAmount(BigInt(asked.lamports)) : brought
  for (const [address, lamports] of reading.fees) {
    const account = policy.feeAccounts.find((one) => one.address === address) as FeeAccount
    const cap = capOf(account, moved)
    if (lamports > cap)
      reading.refuse('FEE_OVER', `${sol(lamports)} SOL to ${address}, and at most ${sol(cap)} are allowed`)
  }
  const most = BigInt(policy.tips.maxLamports)
  if (reading.tips > most) reading.refuse('TIP_OVER', `${sol(reading.tips)} SOL, and at most ${sol(most)} are allowed`)
  return [
    ...[...reading.fees].map(([address, lamports]) => ({ what: `fee to ${address}`, lamports })),
    { what: 'tips', lamports: reading.tips },
  ]
}

/** What a sale should bring by its own least, which may have been rounded down, and slippage. The least is the
 *  builder's number, so it counts twice at most: else a high slippage would multiply the fee. */
function expected(least: bigint, slippagePercent: number): bigint {
  const kept = BigInt(Math.round(Math.max(50, 100 - slippagePercent) * FINE))
  return (mostAmount(least) * HUNDRED * BigInt(FINE) + kept - 1n) / kept
}

/** Where nobody knows what is moved, a percentage of it is no cap, and the one in SOL counts alone. */
function capOf({ maxPercent, maxLamports }: FeeAccount, moved: bigint | undefined): bigint {
  // services round up
  const byPercent = maxPercent === null || moved === undefined ? undefined : share(moved, maxPercent) + 1n
  if (maxLamports === null) return byPercent ?? 0n
  return byPercent === undefined || byPercent > BigInt(maxLamports) ? BigInt(maxLamports) : byPercent
}

/** The policy's cap is exact; an order at the cap may round above it like any other. */
function judgePriority(reading: Reading, steps: number): bigint {
  const lamports = priorityFee(reading, steps)
  const cap = BigInt(reading.policy.maxPriorityFeeLamports)
  const asked = reading.asked.priorityFeeLamports
  const most = asked === null || BigInt(asked) > cap ? cap : mostFee(BigInt(asked), computeUnits(reading, steps))
  if (lamports > most) reading.refuse('PRIORITY_FEE', `${sol(lamports)} SOL, and at most ${sol(most)} are allowed`)
  return lamports
}

/** What is wrapped stays the wallet's, but more than the trade needs has no reason. */
function judgeWrapped(reading: Reading, trade: Trade | undefined, rentLamports: bigint): void {
  const needed = trade?.side === 'buy' && trade.wraps ? trade.lamports : 0n
  const most = needed + rentLamports * BigInt(reading.seeded.size)
  if (reading.wrapped > most)
    reading.refuse('AMOUNT_OVER', `${sol(reading.wrapped)} SOL are wrapped, the trade needs at most ${sol(most)}`)
}

/** At most one, for a trade that wraps, and the wallet's. */
function judgeSeeded(reading: Reading, trade: Trade | undefined): void {
  const { seeded } = reading
  for (const [address, isOurs] of seeded)
    if (!isOurs)
      reading.refuse('ACCOUNT_OPENED', `${address} is opened and belongs to nobody: whoever comes first takes it`)
  if (seeded.size > (trade?.wraps ? 1 : 0))
    reading.refuse('ACCOUNT_OPENED', `${seeded.size} accounts for wrapped SOL are opened, more than the trade needs`)
}

/** Of accounts that are still there afterwards, and of those that the program may open. */
function rentOf(reading: Reading, rentLamports: bigint): bigint {
  const bytes = BigInt(TOKEN_ACCOUNT_BYTES + ACCOUNT_OVERHEAD_BYTES)
  const extendedBytes = BigInt(EXTENDED_BYTES + ACCOUNT_OVERHEAD_BYTES)
  const extended = (rentLamports * extendedBytes + bytes - 1n) / bytes
  const opened = [...reading.opened].filter(([address]) => !reading.closed.has(address))
  const seeded = [...reading.seeded.keys()].filter((address) => !reading.closed.has(address))
  const rents = opened.map(([, program]) => (program === PROGRAMS.token2022 ? extended : rentLamports))
  const others = rentLamports * BigInt(seeded.length + reading.policy.rentAccounts)
  return rents.reduce((sum, rent) => sum + rent, others)
}

/** Whatever its arguments say, a program that gets the wallet as a signer can take all that is in it. */
function judgeOpaque(reading: Reading, { walletLamports, guardLamports }: ChainFacts): bigint | null {
  if (guardLamports !== undefined) return guardLamports
  const most = reading.policy.maxWalletLamports
  const because =
    most === null
      ? 'the policy sets no maxWalletSol'
      : walletLamports === undefined
        ? 'what the wallet holds is not known: give --rpc'
        : walletLamports > BigInt(most)
          ? `the wallet holds ${sol(walletLamports)} SOL, more than maxWalletSol`
          : ''
  if (because !== '')
    reading.refuse('OPAQUE_UNBOUNDED', `${reading.opaque.join(', ')} is not understood, and ${because}`)
  return walletLamports ?? null
}

/** So many percent, rounded down; the percentage is a float of few places. */
export function share(amount: bigint, percent: number): bigint {
  return (amount * BigInt(Math.round(percent * FINE))) / (HUNDRED * BigInt(FINE))
}
