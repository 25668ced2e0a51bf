import { formatSol } from '../../base/units.ts'
import type { FeeAccount } from '../../orders/builder-policy.ts'
import { ACCOUNT_OVERHEAD_BYTES, BASE_FEE } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { mostAmount, mostFee } from '../../solana/rounding.ts'
import { TOKEN_ACCOUNT_BYTES } from '../../solana/token-account.ts'
import type { ChainFacts } from './chain-facts.ts'
import { judgeTrade, mostCost } from './order-match.ts'
import { share, wholeOf } from './percentages.ts'
import { computeUnits, priorityFee } from './read-compute-budget.ts'
import type { Reading, Trade } from './reading.ts'

/** One of the costs of a transaction. Their sum is the maximum number of lamports that may leave the wallet. */
export interface Part {
  readonly what: string
  readonly lamports: bigint
}

/** Maximum length of a Token-2022 account, in bytes. The account grows with the extensions of its mint, and no
 *  extension in use needs more. */
const EXTENDED_BYTES = 200

/** Compares a decoded transaction with the order and the policy. Returns the costs (`parts`) and their sum (`bound`);
 *  the sum is null if the costs are not limited. */
export function checkTerms(
  reading: Reading,
  signers: number,
  steps: number,
  facts: ChainFacts,
): { parts: Part[]; bound: bigint | null; orderedLamports: bigint | null } {
  const [trade] = reading.trades
  const count = reading.trades.length + reading.opaque.length
  if (count !== 1)
    reading.refuse(
      'TRADE_COUNT',
      count === 0 ? 'the transaction contains no trade' : `the transaction contains ${count} trades`,
    )
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

/** Returns the maximum cost, in lamports, of a buy whose instruction cannot be decoded: the most that the order may
 *  pay, plus `readable`, the costs in instructions that can be decoded. null for a sale. */
function orderedOf({ asked }: Reading, readable: bigint): bigint | null {
  return asked.side === 'buy' ? mostCost(asked) + readable : null
}

/** Refuses fees and tips that the policy does not allow; both are separate transfers in the transaction. Returns them
 *  as parts of the maximum cost. */
function judgeFees(reading: Reading, trade: Trade | undefined): Part[] {
  const { asked, policy } = reading
  // If the program of a sale is opaque, `trade` is undefined, because its instruction cannot be decoded. The proceeds
  // are then unknown.
  const proceeds = trade && expected(trade.lamports, asked.slippagePercent)
  const moved = asked.side === 'buy' ? mostAmount(BigInt(asked.lamports)) : proceeds
  for (const [address, lamports] of reading.fees) {
    const account = policy.feeAccounts.find((one) => one.address === address) as FeeAccount
    const cap = capOf(account, moved)
    if (lamports > cap)
      reading.refuse(
        'FEE_OVER',
        `the fee to ${address} is ${formatSol(lamports)} SOL, but the policy allows ${formatSol(cap)} SOL`,
      )
  }
  const most = BigInt(policy.tips.maxLamports)
  if (reading.tips > most)
    reading.refuse(
      'TIP_OVER',
      `the tips are ${formatSol(reading.tips)} SOL, but the policy allows ${formatSol(most)} SOL`,
    )
  return [
    ...[...reading.fees].map(([address, lamports]) => ({ what: `fee to ${address}`, lamports })),
    { what: 'tips', lamports: reading.tips },
  ]
}

/** Returns the expected proceeds of a sale in lamports. They are computed from the slippage limit and the minimum
 *  output, which may have been rounded down. The result is at most twice the minimum output: the builder chooses the
 *  minimum output, and with a high slippage limit, a larger factor would allow a much higher fee. */
function expected(least: bigint, slippagePercent: number): bigint {
  return wholeOf(mostAmount(least), Math.max(50, 100 - slippagePercent))
}

/** Returns the largest fee that the policy allows, in lamports. If the traded amount is unknown, only the cap in SOL
 *  applies, because a percentage cannot be computed. */
function capOf({ maxPercent, maxLamports }: FeeAccount, moved: bigint | undefined): bigint {
  // Services round their fee up, so one lamport is added.
  const byPercent = maxPercent === null || moved === undefined ? undefined : share(moved, maxPercent) + 1n
  if (maxLamports === null) return byPercent ?? 0n
  return byPercent === undefined || byPercent > BigInt(maxLamports) ? BigInt(maxLamports) : byPercent
}

/** Judges the priority fee and returns it in lamports. The policy's cap is exact. If the order names a lower fee,
 *  rounding may make the transaction exceed that fee. */
function judgePriority(reading: Reading, steps: number): bigint {
  const lamports = priorityFee(reading, steps)
  const cap = BigInt(reading.policy.maxPriorityFeeLamports)
  const asked = reading.asked.priorityFeeLamports
  const most = asked === null || BigInt(asked) > cap ? cap : mostFee(BigInt(asked), computeUnits(reading, steps))
  if (lamports > most)
    reading.refuse(
      'PRIORITY_FEE',
      `the priority fee is ${formatSol(lamports)} SOL, but at most ${formatSol(most)} SOL is allowed`,
    )
  return lamports
}

/** Refuses a transaction that wraps more SOL than the trade needs. Wrapped SOL would still belong to the wallet, but
 *  there is no legitimate reason to wrap more. */
function judgeWrapped(reading: Reading, trade: Trade | undefined, rentLamports: bigint): void {
  const needed = trade?.side === 'buy' && trade.wraps ? trade.lamports : 0n
  const most = needed + rentLamports * BigInt(reading.seeded.size)
  if (reading.wrapped > most)
    reading.refuse(
      'AMOUNT_OVER',
      `${formatSol(reading.wrapped)} SOL is wrapped, but the trade needs at most ${formatSol(most)} SOL`,
    )
}

/** Refuses seeded accounts, except for one that is initialized for the wallet in a trade that uses wrapped SOL. */
function judgeSeeded(reading: Reading, trade: Trade | undefined): void {
  const { seeded } = reading
  for (const [address, isOurs] of seeded)
    if (!isOurs) reading.refuse('ACCOUNT_OPENED', `${address} is opened without an owner, so anyone could take it`)
  if (seeded.size > (trade?.wraps ? 1 : 0))
    reading.refuse(
      'ACCOUNT_OPENED',
      `${seeded.size} accounts for wrapped SOL are opened, which is more than the trade needs`,
    )
}

/** Returns the rent, in lamports, of the new accounts that the transaction leaves open, and of the accounts that an
 *  opaque program may open. */
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

/** Returns the maximum cost of a program whose instructions cannot be decoded. The wallet signs for the program, so the
 *  program can take the wallet's whole balance. Without guards, the maximum is therefore the whole balance, which must
 *  not exceed maxWalletSol. */
function judgeOpaque(reading: Reading, { walletLamports, guardLamports }: ChainFacts): bigint | null {
  if (guardLamports !== undefined) return guardLamports
  const most = reading.policy.maxWalletLamports
  const because =
    most === null
      ? 'the policy does not set maxWalletSol'
      : walletLamports === undefined
        ? 'the balance of the wallet was not read: add the option --rpc'
        : walletLamports > BigInt(most)
          ? `the wallet holds ${formatSol(walletLamports)} SOL, which is more than maxWalletSol`
          : ''
  if (because !== '')
    reading.refuse(
      'OPAQUE_UNBOUNDED',
      `the instructions of program ${reading.opaque.join(', ')} cannot be decoded, and ${because}`,
    )
  return walletLamports ?? null
}
