import { encodeJson } from '../../base/json.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Mark, Position } from '../../engine/accounting/position.ts'
import { alarmText } from '../../engine/bots/thrown-value.ts'
import { type ConditionalOrder, conditionalNumber, isOver } from '../../engine/exits/conditional-order.ts'
import type { Input, LogLine, Output } from '../../engine/messages.ts'
import { isOpen, type Order } from '../../engine/order.ts'
import { type Attempt, isUndecided } from '../../orders/attempt.ts'
import type { WalletCursor, WalletTransaction } from '../../orders/audit-records.ts'
import type { JournalRecord, Slot } from '../../orders/ports.ts'
import { fillWrite } from '../schema/fills.ts'
import type { Write } from '../schema/statements.ts'

type ReportInput = Extract<Input, { kind: 'report' }>

const FRAMES_KEPT = 200
const FRAME_CHARACTERS = 65_536
/** Number of new request slots (requests of the plan's budget) after which old slots are deleted. */
const SLOTS_BETWEEN_CLEANING = 64
/** Age at which a request slot is deleted, ns. It is twice the time for which a request slot is held. */
const SLOT_KEPT_NS = 120_000_000_000n

/** Returns the writes to the tables for an input: the input itself as `json`. A report leaves the table of reports that
 *  the engine has not processed. */
export function inputWrites(segment: number, seq: Seq, time: Millis, input: Input, json: string): Write[] {
  if (input.kind === 'start') {
    const { config, code, seed } = input
    return [
      ['segment', input.segment, seq, time, config, code, seed, json, null, null],
      ['counter', 'nextTimer', input.money.nextTimer],
      ['counter', 'nextOrder', input.money.nextOrder],
      ['counter', 'nextConditional', input.money.nextConditional],
    ]
  }
  const row: Write = ['input', seq, segment, time, input.kind, json]
  if (input.kind === 'report') return [row, ...takenWrites(seq, time, input)]
  return input.kind === 'timer' ? [row, ['timerFired', time, input.id]] : [row]
}

function takenWrites(seq: Seq, time: Millis, { id, report }: ReportInput): Write[] {
  const writes: Write[] = [
    ['reportTaken', id],
    ['counter', 'nextReport', id + 1],
  ]
  if (report.fill !== undefined) writes.push(fillWrite(report.fill, seq))
  if (report.reversed !== undefined) writes.push(['fillReversed', report.reversed, report.orderId])
  if (report.feeLamports !== undefined) writes.push(['paperFailed', time, time, report.feeLamports, report.attemptId])
  return writes
}

/** Returns the writes to the tables for an output: the output itself as `json`, and its changes to the tables that a
 *  restart reads. */
export function outputWrites(seq: Seq, time: Millis, index: number, output: Output, json: string): Write[] {
  const { bot, mint, code, reason } = aboutOf(output)
  const row: Write = ['output', seq, index, time, output.kind, bot, mint, code, reason, json]
  return [row, ...effectsOf(seq, output, json)]
}

/** Returns the JSON of the last field of a message, which is the part of the message's JSON after `head`. Some messages
 *  are written to one table as a whole, and to another table as this field alone. With this function, such a message is
 *  encoded only once. */
function within(json: string, head: string, field: unknown): string {
  return json.startsWith(head) ? json.slice(head.length, -1) : encodeJson(field)
}

function effectsOf(seq: Seq, output: Output, json: string): Write[] {
  switch (output.kind) {
    case 'order':
      return [orderWrite(output.order, within(json, '{"kind":"order","order":', output.order))]
    case 'orderState': {
      const { orderId, state, code, reason } = output
      return [['orderState', isOpen(state) ? 1 : 0, state, code, reason, orderNumber(orderId)]]
    }
    case 'position':
      return positionWrites(seq, output.position, within(json, '{"kind":"position","position":', output.position))
    case 'conditional':
      return conditionalWrites(output.order)
    case 'timer':
      return [
        ['timer', output.timer.id, within(json, '{"kind":"timer","timer":', output.timer)],
        ['counter', 'nextTimer', output.timer.id + 1],
      ]
    case 'timerCleared':
      return [['timerCleared', output.id]]
    case 'bot':
      return [['bot', output.money.account, output.money.bot, within(json, '{"kind":"bot","money":', output.money)]]
    case 'tokenState': {
      const { account, bot, mint, day, value } = output.state
      if (value === null) return [['tokenFreed', account, bot, mint]]
      return [['tokenState', account, bot, mint, day, encodeJson(output.state)]]
    }
    case 'account':
      return [['account', output.money.account, within(json, '{"kind":"account","money":', output.money)]]
    default:
      return []
  }
}

function orderWrite(order: Order, json: string): Write {
  const { id, seq, time, account, bot, mint, side, class: orderClass, size, reason, tag = '' } = order
  const about = [orderNumber(id), seq, time, account, bot, mint, side, orderClass, reason]
  return ['order', ...about, size.kind === 'sol' ? size.lamports : null, order.reserveLamports, order.price, tag, json]
}

/** Returns the bot, mint, code and reason that an output names, for the view `decisions`. */
function aboutOf(output: Output): { bot: string; mint: string; code: string; reason: string } {
  switch (output.kind) {
    case 'order':
      return { bot: output.order.bot, mint: output.order.mint, code: '', reason: output.order.reason }
    case 'orderState':
      return { bot: '', mint: '', code: output.code, reason: output.reason }
    case 'cancel':
      return { bot: '', mint: '', code: output.code, reason: output.orderId }
    case 'refused':
    case 'note':
      return output
    case 'position':
      return { bot: output.position.bot, mint: output.position.mint, code: '', reason: output.position.state }
    case 'conditional': {
      const { bot, mint, code, state, id } = output.order
      return { bot, mint, code, reason: `${id} ${state}` }
    }
    case 'log':
      return { bot: output.bot, mint: mintIn(output), code: '', reason: output.text }
    case 'message':
      return { bot: output.bot, mint: '', code: '', reason: output.text }
    case 'tokenState':
      return { bot: output.state.bot, mint: output.state.mint, code: '', reason: '' }
    case 'alarm':
      return { bot: output.bot, mint: '', code: output.code, reason: alarmText(output) }
    default:
      return { bot: '', mint: '', code: '', reason: '' }
  }
}

const LONGEST_MINT = 64

/** Returns the mint that a warning names in its fields; '' if it names none. */
function mintIn({ fields }: LogLine): string {
  const mint = fields?.mint
  return typeof mint === 'string' ? mint.slice(0, LONGEST_MINT) : ''
}

/** Returns the writes to the tables for a record of the order path. `time`: time of the last row, input or output that
 *  was written before the record. */
export function recordWrites(record: JournalRecord, time: Millis): Write[] {
  switch (record.kind) {
    case 'attempt':
      return attemptWrites(record.attempt)
    case 'fill':
      return [fillWrite(record.fill, null)]
    case 'report':
      return [['report', 0, record.id, encodeJson(record.report)]]
    case 'slot':
      return slotWrites(record.slot)
    case 'watch': {
      const { attempt, progress } = record.watch
      return [['watch', attempt.id, attempt.orderId, progress, encodeJson(record.watch)]]
    }
    case 'watchOver':
      return [['watchOver', record.attemptId]]
    case 'wallet':
      return walletWrites(record.cursor, record.transactions, time)
    case 'learned': {
      const { about, name, time } = record.learned
      return [['learned', about, name, time, encodeJson(record.learned)]]
    }
    case 'mark':
      return markWrites(record.mark)
    case 'netResult': {
      const { time, account, bot, netLamports } = record.result
      return [['netResult', time, account, bot, netLamports]]
    }
    case 'frame':
      return [
        ['frame', record.time, record.why, record.text.slice(0, FRAME_CHARACTERS)],
        ['framesOver', FRAMES_KEPT],
      ]
  }
}

function attemptWrites(attempt: Attempt): Write[] {
  const { id, account, executor, state, signature, code, armedAt, slippagePercent, priorityFeeLamports } = attempt
  const about = [isUndecided(state) ? 1 : 0, id, account, executor, state, signature, code, armedAt]
  const row: Write = ['attempt', ...about, slippagePercent, priorityFeeLamports, encodeJson(attempt)]
  // Only a new attempt has the state `armed`, so there is no earlier row to delete. The needless deletion is skipped,
  // because an order waits for this write.
  return state === 'armed' ? [row] : [['attemptBefore', id], row]
}

function walletWrites(cursor: WalletCursor, transactions: readonly WalletTransaction[], time: Millis): Write[] {
  const { account, slot, lamports } = cursor
  return [
    ...transactions.map(transactionWrite),
    ['wallet', account, encodeJson(cursor)],
    ['audit', account, slot, time, lamports],
  ]
}

function transactionWrite(transaction: WalletTransaction): Write {
  const { account, slot, signature, attemptId, lamports, time } = transaction
  const row = [account, slot, signature, transaction.class, attemptId, lamports, time]
  return ['walletTransaction', ...row, encodeJson(transaction)]
}

function conditionalWrites(order: ConditionalOrder): Write[] {
  const { bot, account, mint, time, state, code, reason, action } = order
  const number = conditionalNumber(order)
  const about = [number, time, account, bot, mint, action.side, state, code, reason, encodeJson(order)]
  return [
    ['conditionalBefore', number],
    ['conditional', isOver(state) ? 0 : 1, ...about],
    ['counter', 'nextConditional', number + 1],
  ]
}

function markWrites({ account, mint, highPrice, best, worst }: Mark): Write[] {
  const row: Write = ['mark', account, mint, highPrice]
  if (best === undefined || worst === undefined) return [row]
  return [row, ['tripMark', account, mint, best.lamports, best.percent, worst.lamports, worst.percent]]
}

/** Returns the writes to the tables for a position. A closed position is moved to the table of past positions, with the
 *  seq at which it closed. */
function positionWrites(seq: Seq, position: Position, json: string): Write[] {
  const { account, bot, mint, state, openedAt, tokens, decimals, costLamports, realizedLamports, feeLamports } =
    position
  const amounts = [tokens.toString(), decimals, costLamports, realizedLamports, feeLamports]
  const row = [account, bot, mint, state, openedAt, ...amounts, json]
  if (state !== 'closed') return [['position', ...row]]
  return [
    ['pastPosition', ...row, seq],
    ['positionClosed', account, mint],
    ['markCleared', account, mint],
    ['tripMarkCleared', account, mint],
  ]
}

/** Returns the writes for a request slot (a request of the plan's budget). From time to time, they also delete request
 *  slots that are no longer held: old ones of this boot of the machine, and those of an earlier boot once this boot is
 *  old enough. */
function slotWrites({ key, id, boot, takenAt, doneAt }: Slot): Write[] {
  const row: Write = ['slot', key, id, boot, takenAt, doneAt]
  if (id % SLOTS_BETWEEN_CLEANING !== 0 || takenAt < SLOT_KEPT_NS) return [row]
  return [row, ['slotsOver', key, boot, takenAt - SLOT_KEPT_NS]]
}

/** Returns the number of an order. Orders are numbered within a journal: o1, o2, ... Throws RangeError for any other
 *  id. */
function orderNumber(id: string): number {
  const number = /^o(\d{1,15})$/.exec(id)?.[1]
  if (number === undefined) throw new RangeError(`invalid order id: ${id}`)
  return Number(number)
}
