import type { Database } from 'better-sqlite3'
import { isOpen, type OrderState, orderNumber } from '../../src/engine/order.ts'
import type { LandedTransaction } from '../../src/sandbox/chain/ledger.ts'
import { tokenAccountAddress } from '../../src/sandbox/keys.ts'
import { decodeTokenAccount } from '../../src/solana/token-account.ts'
import { conditionalComplaints } from '../support/conditional-books.ts'
import type { SimulatedChain } from './chain.ts'
import { WALLET, walletIn } from './ledger.ts'
import { MINTS } from './market.ts'
import type { Kind, Scenario } from './scenario.ts'
import type { Execution, Truth } from './truth.ts'

interface FillRow {
  readonly signature: string
  readonly order_id: string
  readonly account: string
  readonly side: string
  readonly tokens: string
  readonly wallet_lamports: number
  readonly final: number
}

/**
 * Returns errors in the journal and differences between journal and chain. It is called after every order was decided.
 * `wallets` has the public keys of the wallets.
 */
export function audit(
  db: Database,
  chain: SimulatedChain,
  truth: Truth,
  { kind, wallets }: { readonly kind: Kind; readonly wallets: readonly string[] },
): string[] {
  const fills = db.prepare('SELECT * FROM fill WHERE reversed = 0').all() as FillRow[]
  const alarms = db.prepare(`SELECT code, reason FROM output WHERE kind = 'alarm'`).all() as Alarm[]
  return [
    ...fillComplaints(fills, truth, chain, kind === 'service' ? alarms : []),
    ...orderComplaints(db, fills, kind === 'service' || chain.company.size > 0),
    ...alarmComplaints(truth, alarms, db),
    ...companyComplaints(chain, fills, alarms),
    ...wallets.flatMap((wallet) => heldComplaints(db, chain, foreignIn(fills, truth, chain), wallet)),
    ...(kind === 'service' ? [] : spentComplaints(db, truth)),
    ...wallets.flatMap((wallet) => lamportComplaints(db, chain, wallet)),
    ...balanceComplaints(db),
    ...conditionalComplaints(
      db,
      kind === 'honest' && chain.company.size === 0
        ? (orderId) => truth.successes(truth.of(orderId)).length
        : undefined,
    ),
  ]
}

/**
 * Checks that no transaction is refused only because its builder rounds numbers. If a builder charges more than the
 * order's fee, exits must be retried with another fee.
 */
export function roundingComplaints(
  db: Database,
  { local: { rounding }, service }: Scenario,
  isForked: (attemptId: string) => boolean,
): string[] {
  // After a dishonest answer, any amount may be wrong, so nothing is checked.
  if (rounding === undefined || service.lies > 0) return []
  const attempts = db.prepare(`SELECT id, code FROM attempt WHERE code IN ('PRIORITY_FEE', 'AMOUNT_OVER')`)
  const refused = attempts.all() as { id: string; code: string }[]
  const ended = db.prepare(
    `SELECT 'o' || number AS id FROM "order" WHERE class = 'exit' AND code IN ('PRIORITY_FEE', 'FEE_OVER')`,
  )
  const given = ended.pluck().all() as string[]
  return [
    ...refused
      .filter(({ code }) => !rounding.overcharges || code !== 'PRIORITY_FEE')
      // The builder may have computed the share from the tokens of a buy that a fork has since reversed. The refusal
      // with AMOUNT_OVER is then right.
      .filter(({ id, code }) => code !== 'AMOUNT_OVER' || !isForked(id))
      .map(({ id, code }) => `${id} is refused with ${code}, although its builder only rounds`),
    ...given.map((id) => `${id} ended because of its fee, although another fee could be tried`),
  ]
}

interface Alarm {
  readonly code: string
  readonly reason: string
}

/**
 * Compares the fills with the executions. An execution that has no matching order, but that `alarms` reported as
 * foreign, is no error.
 */
function fillComplaints(
  fills: readonly FillRow[],
  truth: Truth,
  { accompanied }: SimulatedChain,
  alarms: readonly Alarm[],
): string[] {
  const complaints: string[] = []
  const executed = truth.successes(truth.posts)
  const known = new Map(fills.map((fill) => [fill.signature, fill]))
  for (const execution of executed) {
    const { signature, post, landed } = execution
    const fill = known.get(signature)
    known.delete(signature)
    const line = lineOf(landed as LandedTransaction, walletIn(post.account))
    const isForeign = alarms.some(({ code, reason }) => code === 'FOREIGN_TX' && reason.includes(signature))
    if (fill === undefined && isForeign) continue
    if (fill === undefined) complaints.push(`${post.attemptId} executed as ${signature}, but is not booked`)
    else if (fill.account !== post.account)
      complaints.push(`${signature} of the account ${post.account} is booked in the account ${fill.account}`)
    else if (fill.final !== 1) complaints.push(`${signature} of ${post.attemptId} is booked, but not as final`)
    else if (`${fill.tokens} ${fill.wallet_lamports}` !== line)
      complaints.push(`${signature} is booked as ${fill.tokens} ${fill.wallet_lamports}, the chain has ${line}`)
  }
  // A trade of a second process may be booked as a trade of this process. On the chain, both look the same.
  for (const { signature } of accompanied) known.delete(signature)
  for (const signature of known.keys()) complaints.push(`${signature} is booked, but did not execute`)
  return complaints
}

/** Base units of a token that a wallet received (positive) or sold (negative). */
function movedOf({ tokens }: LandedTransaction, wallet: string, mint?: string): bigint {
  const own = tokens.find((one) => one.owner === wallet && (mint === undefined || one.mint === mint))
  return (own?.post ?? 0n) - (own?.pre ?? 0n)
}

function lineOf(transaction: LandedTransaction, wallet: string): string {
  const { accounts } = transaction
  const moved = movedOf(transaction, wallet)
  const use = accounts.find(({ address }) => address === wallet)
  return `${moved < 0n ? -moved : moved} ${(use?.postLamports ?? 0) - (use?.preLamports ?? 0)}`
}

/**
 * Compares the fills with the states of the orders. `mayHaveMore`: whether an order may have executed more often than
 * ordered.
 */
function orderComplaints(db: Database, fills: readonly FillRow[], mayHaveMore: boolean): string[] {
  const complaints: string[] = []
  const orders = db.prepare(`SELECT 'o' || number AS id, state FROM "order"`)
  for (const { id, state } of orders.all() as { id: string; state: OrderState }[]) {
    const own = fills.filter(({ order_id }) => order_id === id)
    if (isOpen(state)) complaints.push(`${id} is still ${state} at the end`)
    // If an order executed twice, a fork may reverse the execution whose fill ended the order. The second execution,
    // which raised an alarm, then remains as its only fill.
    const isExtra = mayHaveMore && own.length > 0
    if (state === 'filled' ? own.length === 0 : own.length > 0 && !isExtra)
      complaints.push(`${id} is ${state} with ${own.length} fills`)
  }
  const undecided = db.prepare('SELECT id, state FROM attempt WHERE undecided = 1').all() as {
    id: string
    state: string
  }[]
  for (const { id, state } of undecided) complaints.push(`${id} is still ${state} at the end`)
  return complaints
}

/** Checks that each order with more than one execution raised an alarm for each execution after the first. */
function alarmComplaints(truth: Truth, alarms: readonly Alarm[], db: Database): string[] {
  const byOrder = new Map<string, Execution[]>()
  for (const execution of truth.successes(truth.posts)) {
    const { orderId } = execution.post
    byOrder.set(orderId, [...(byOrder.get(orderId) ?? []), execution])
  }
  const complaints: string[] = []
  const telling = new Set(['LATE_FILL', 'SERVICE_DUPLICATE', 'FOREIGN_TX'])
  const late = alarms.filter(({ code }) => telling.has(code)).length + misattributed(db, truth)
  let extra = 0
  for (const executions of byOrder.values()) if (!executions[0]?.post.isFull) extra += executions.length - 1
  if (late < extra) complaints.push(`there are ${extra} more executions than orders, but only ${late} alarms`)
  const untaken = db.prepare('SELECT count(*) FROM report WHERE taken = 0').pluck().get()
  if (untaken !== 0) complaints.push(`the engine has not taken ${untaken} reports`)
  return complaints
}

/**
 * Checks that an alarm reported the second process that trades with the wallet. No alarm is needed if all of its trades
 * were assigned to open orders.
 */
function companyComplaints(
  { accompanied }: SimulatedChain,
  fills: readonly FillRow[],
  alarms: readonly Alarm[],
): string[] {
  const codes = new Set(['LATE_FILL', 'SERVICE_DUPLICATE', 'FOREIGN_TX'])
  const isHeard = alarms.some(({ code }) => codes.has(code))
  const fillsOf = (orderId: string): number => fills.filter(({ order_id }) => order_id === orderId).length
  const isTaken = ({ signature }: LandedTransaction): boolean =>
    fills.some((fill) => fill.signature === signature && fillsOf(fill.order_id) === 1)
  const unheard = isHeard ? [] : accompanied.filter((one) => !isTaken(one) && movedOf(one, WALLET) !== 0n)
  return unheard.map(({ signature }) => `a second process made ${signature}, but no alarm reported it`)
}

/** Checks that no execution cost more than the amount that its order reserved. */
function spentComplaints(db: Database, truth: Truth): string[] {
  const reserved = db.prepare(`SELECT json_extract(json, '$.reserveLamports') FROM "order" WHERE number = ?`).pluck()
  return truth.successes(truth.posts).flatMap(({ post, landed }) => {
    const use = landed?.accounts.find(({ address }) => address === walletIn(post.account))
    const spent = (use?.preLamports ?? 0) - (use?.postLamports ?? 0)
    const most = reserved.get(orderNumber({ id: post.orderId })) as number
    return spent <= most ? [] : [`${post.attemptId} cost ${spent} lamports, but only ${most} were reserved`]
  })
}

/**
 * Returns the executions that are not booked because they were reported as foreign. A dishonest service or a second
 * process made them.
 */
function foreignIn(fills: readonly FillRow[], truth: Truth, { accompanied }: SimulatedChain): LandedTransaction[] {
  const booked = new Set(fills.map(({ signature }) => signature))
  const own = truth.successes(truth.posts).flatMap(({ landed }) => landed ?? [])
  return [...own, ...accompanied].filter(({ signature }) => !booked.has(signature))
}

/**
 * Checks that a wallet holds the booked tokens. Unbooked executions, and tokens that strangers sent to the first
 * wallet, are taken into account.
 */
function heldComplaints(
  db: Database,
  { ledger, gifts }: SimulatedChain,
  foreign: readonly LandedTransaction[],
  wallet: string,
): string[] {
  const all = db.prepare('SELECT account, mint, tokens FROM position')
  const rows = (all.all() as { account: string; mint: string; tokens: string }[]).filter(
    ({ account }) => walletIn(account) === wallet,
  )
  return MINTS.flatMap((mint) => {
    const account = ledger.account(tokenAccountAddress(wallet, mint), 'processed')
    const held = (account && decodeTokenAccount(account.data)?.amount) ?? 0n
    const booked = BigInt(rows.find((row) => row.mint === mint)?.tokens ?? 0)
    const given = wallet === WALLET ? (gifts.get(mint) ?? 0n) : 0n
    const moved = foreign.map((transaction) => movedOf(transaction, wallet, mint))
    const came = moved.reduce((sum, one) => (one > 0n ? sum + one : sum), given)
    const went = moved.reduce((sum, one) => (one < 0n ? sum - one : sum), 0n)
    return booked <= held + went && held <= booked + came
      ? []
      : [
          `${booked} tokens of ${mint.slice(0, 4)} are booked, but the wallet has ${held}, of which strangers sent ${given}`,
        ]
  })
}

/** Checks that the lamports of a wallet are the same in the audit, in the ledger and on the chain. */
function lamportComplaints(db: Database, chain: SimulatedChain, wallet: string): string[] {
  const lamports = chain.lamportsOf(wallet)
  const own = `account LIKE '%|' || ?`
  const audited = db.prepare(`SELECT json_extract(json, '$.lamports') FROM wallet WHERE ${own}`).pluck().get(wallet)
  const posted = db.prepare(`SELECT sum(wallet) FROM posting WHERE ${own}`).pluck().get(wallet)
  return [
    ...(audited === lamports ? [] : [`the audit shows ${audited} lamports, but the wallet ${wallet} has ${lamports}`]),
    ...(posted === lamports
      ? []
      : [`the postings of the ledger have the sum ${posted} lamports, but the wallet ${wallet} has ${lamports}`]),
  ]
}

/**
 * Checks that every audit found the ledger complete to the lamport, and that the amounts of every posting have the sum
 * 0.
 */
function balanceComplaints(db: Database): string[] {
  const remainders = db.prepare('SELECT slot, remainder_lamports AS rest FROM audits WHERE rest <> 0').all()
  const unbalanced = db.prepare('SELECT posting FROM ledger GROUP BY posting HAVING sum(lamports) <> 0').pluck().all()
  return [
    ...(remainders as { slot: number; rest: number }[]).map(
      ({ slot, rest }) => `the ledger does not explain ${rest} lamports at Solana slot ${slot}`,
    ),
    ...unbalanced.map((posting) => `posting ${posting} does not balance`),
  ]
}

/** Returns the number of executions that are booked for a wrong order, because the evidence also fitted this order. */
export function misattributed(db: Database, truth: Truth): number {
  const rows = db.prepare('SELECT signature, order_id FROM fill WHERE reversed = 0').all() as FillRow[]
  return rows.filter((row) => truth.executions.get(row.signature)?.post.orderId !== row.order_id).length
}
