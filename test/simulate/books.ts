import type { Database } from 'better-sqlite3'
import { isOpen, type OrderState, orderNumber } from '../../src/engine/order.ts'
import type { LandedTransaction } from '../../src/sandbox/chain/ledger.ts'
import { tokenAccountAddress } from '../../src/sandbox/keys.ts'
import { decodeTokenAccount } from '../../src/solana/token-account.ts'
import { conditionalComplaints } from '../support/conditional-books.ts'
import type { SimulatedChain } from './chain.ts'
import { WALLET } from './ledger.ts'
import { MINTS } from './market.ts'
import type { Kind, Scenario } from './scenario.ts'
import type { Execution, Truth } from './truth.ts'

interface FillRow {
  readonly signature: string
  readonly order_id: string
  readonly side: string
  readonly tokens: string
  readonly wallet_lamports: number
  readonly final: number
}

/** Everything in which the journal is not in order once all is decided, or differs from the chain. */
export function audit(db: Database, chain: SimulatedChain, truth: Truth, kind: Kind): string[] {
  const fills = db.prepare('SELECT * FROM fill WHERE reversed = 0').all() as FillRow[]
  const alarms = db.prepare(`SELECT code, reason FROM output WHERE kind = 'alarm'`).all() as Alarm[]
  return [
    ...fillComplaints(fills, truth, chain, kind === 'service' ? alarms : []),
    ...orderComplaints(db, fills, kind === 'service' || chain.company.size > 0),
    ...alarmComplaints(truth, alarms, db),
    ...companyComplaints(chain, fills, alarms),
    ...heldComplaints(db, chain, foreignIn(fills, truth, chain)),
    ...(kind === 'service' ? [] : spentComplaints(db, truth)),
    ...lamportComplaints(db, chain),
    ...conditionalComplaints(
      db,
      kind === 'honest' && chain.company.size === 0
        ? (orderId) => truth.successes(truth.of(orderId)).length
        : undefined,
    ),
  ]
}

/** Where a builder only rounds, nothing is refused for that; where it charges more than the fee that was named, exits
 *  go with another one. */
export function roundingComplaints(
  db: Database,
  { local: { rounding }, service }: Scenario,
  isForked: (attemptId: string) => boolean,
): string[] {
  // What lies may have changed any number.
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
      // A fork may have taken back the tokens of which the builder computed a share.
      .filter(({ id, code }) => code !== 'AMOUNT_OVER' || !isForked(id))
      .map(({ id, code }) => `${id} is refused with ${code}, and its builder only rounds`),
    ...given.map((id) => `${id} is given up for its fee`),
  ]
}

interface Alarm {
  readonly code: string
  readonly reason: string
}

/** `alarms`: an execution that nobody ordered like this counts as known where it was told as foreign. */
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
    const line = lineOf(landed as LandedTransaction)
    const isForeign = alarms.some(({ code, reason }) => code === 'FOREIGN_TX' && reason.includes(signature))
    if (fill === undefined && isForeign) continue
    if (fill === undefined) complaints.push(`${post.attemptId} executed as ${signature}, and is not booked`)
    else if (fill.final !== 1) complaints.push(`${signature} of ${post.attemptId} is booked, and not as final`)
    else if (`${fill.tokens} ${fill.wallet_lamports}` !== line)
      complaints.push(`${signature} is booked as ${fill.tokens} ${fill.wallet_lamports}, the chain has ${line}`)
  }
  // What a second process bought may be booked as ours: the chain does not tell them apart.
  for (const { signature } of accompanied) known.delete(signature)
  for (const signature of known.keys()) complaints.push(`${signature} is booked, and has not executed`)
  return complaints
}

/** Base units that came to the wallet, or left it. */
function movedOf({ tokens }: LandedTransaction, mint?: string): bigint {
  const own = tokens.find((one) => one.owner === WALLET && (mint === undefined || one.mint === mint))
  return (own?.post ?? 0n) - (own?.pre ?? 0n)
}

function lineOf(transaction: LandedTransaction): string {
  const { accounts } = transaction
  const moved = movedOf(transaction)
  const use = accounts.find(({ address }) => address === WALLET)
  return `${moved < 0n ? -moved : moved} ${(use?.postLamports ?? 0) - (use?.preLamports ?? 0)}`
}

/** `mayHaveMore`: executions than were asked for. */
function orderComplaints(db: Database, fills: readonly FillRow[], mayHaveMore: boolean): string[] {
  const complaints: string[] = []
  const orders = db.prepare(`SELECT 'o' || number AS id, state FROM "order"`)
  for (const { id, state } of orders.all() as { id: string; state: OrderState }[]) {
    const own = fills.filter(({ order_id }) => order_id === id)
    if (isOpen(state)) complaints.push(`${id} is ${state} in the end`)
    // Of two executions a fork may take back the one that the order was filled by; the other one has been alarmed.
    const isExtra = mayHaveMore && own.length > 0
    if (state === 'filled' ? own.length === 0 : own.length > 0 && !isExtra)
      complaints.push(`${id} is ${state} with ${own.length} fills`)
  }
  const undecided = db.prepare('SELECT id, state FROM attempt WHERE undecided = 1').all() as {
    id: string
    state: string
  }[]
  for (const { id, state } of undecided) complaints.push(`${id} is ${state} in the end`)
  return complaints
}

/** What executed beside what was asked has to be heard of. */
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
  if (late < extra) complaints.push(`${extra} executions too many, ${late} alarms`)
  const untaken = db.prepare('SELECT count(*) FROM report WHERE taken = 0').pluck().get()
  if (untaken !== 0) complaints.push(`${untaken} reports were never taken`)
  return complaints
}

/** A second process that traded with the wallet has to be heard of, unless all that it did was taken for what orders
 *  waited for. */
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
  const unheard = isHeard ? [] : accompanied.filter((one) => !isTaken(one) && movedOf(one) !== 0n)
  return unheard.map(({ signature }) => `a second process made ${signature}, and nobody was told`)
}

/** Nothing costs more than was reserved for it. */
function spentComplaints(db: Database, truth: Truth): string[] {
  const reserved = db.prepare(`SELECT json_extract(json, '$.reserveLamports') FROM "order" WHERE number = ?`).pluck()
  return truth.successes(truth.posts).flatMap(({ post, landed }) => {
    const use = landed?.accounts.find(({ address }) => address === WALLET)
    const spent = (use?.preLamports ?? 0) - (use?.postLamports ?? 0)
    const most = reserved.get(orderNumber({ id: post.orderId })) as number
    return spent <= most ? [] : [`${post.attemptId} cost ${spent} lamports, ${most} were reserved`]
  })
}

/** Executions that are not booked: a dishonest service's or a second process's, told as foreign. */
function foreignIn(fills: readonly FillRow[], truth: Truth, { accompanied }: SimulatedChain): LandedTransaction[] {
  const booked = new Set(fills.map(({ signature }) => signature))
  const own = truth.successes(truth.posts).flatMap(({ landed }) => landed ?? [])
  return [...own, ...accompanied].filter(({ signature }) => !booked.has(signature))
}

/** What is booked as held is there; more than that came from strangers, or from what is not booked, and less went with
 *  that. */
function heldComplaints(
  db: Database,
  { ledger, gifts }: SimulatedChain,
  foreign: readonly LandedTransaction[],
): string[] {
  const rows = db.prepare('SELECT mint, tokens FROM position').all() as { mint: string; tokens: string }[]
  return MINTS.flatMap((mint) => {
    const account = ledger.account(tokenAccountAddress(WALLET, mint), 'processed')
    const held = (account && decodeTokenAccount(account.data)?.amount) ?? 0n
    const booked = BigInt(rows.find((row) => row.mint === mint)?.tokens ?? 0)
    const given = gifts.get(mint) ?? 0n
    const moved = foreign.map((transaction) => movedOf(transaction, mint))
    const came = moved.reduce((sum, one) => (one > 0n ? sum + one : sum), given)
    const went = moved.reduce((sum, one) => (one < 0n ? sum - one : sum), 0n)
    return booked <= held + went && held <= booked + came
      ? []
      : [`${booked} of ${mint.slice(0, 4)} are booked, ${held} are held, ${given} were given`]
  })
}

/** The audit knows the wallet to the lamport, and the ledger has explained every one of them at every audit. */
function lamportComplaints(db: Database, { lamports }: SimulatedChain): string[] {
  const audited = db.prepare(`SELECT json_extract(json, '$.lamports') FROM wallet`).pluck().get()
  const posted = db.prepare('SELECT sum(wallet) FROM posting').pluck().get()
  const remainders = db.prepare('SELECT slot, remainder_lamports AS rest FROM audits WHERE rest <> 0').all()
  const unbalanced = db.prepare('SELECT posting FROM ledger GROUP BY posting HAVING sum(lamports) <> 0').pluck().all()
  return [
    ...(audited === lamports ? [] : [`the audit knows of ${audited} lamports, the wallet has ${lamports}`]),
    ...(posted === lamports ? [] : [`the ledger makes ${posted} lamports, the wallet has ${lamports}`]),
    ...(remainders as { slot: number; rest: number }[]).map(
      ({ slot, rest }) => `the ledger leaves ${rest} lamports over at slot ${slot}`,
    ),
    ...unbalanced.map((posting) => `posting ${posting} does not balance`),
  ]
}

/** Executions that are booked for another order than they were made for: which one it was, nobody could see. */
export function misattributed(db: Database, truth: Truth): number {
  const rows = db.prepare('SELECT signature, order_id FROM fill WHERE reversed = 0').all() as FillRow[]
  return rows.filter((row) => truth.executions.get(row.signature)?.post.orderId !== row.order_id).length
}
