import { inspect, styleText } from 'node:util'
import { recordedEntries, recordedStrategies } from '../../backtest/replay/segments.ts'
import { RowsRead } from '../../backtest/rows-read.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { counted, printable } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import { SAME_REFUSAL_MS } from '../../engine/bots/bot.ts'
import { NO_MONEY } from '../../engine/recovered-money.ts'
import type { Entry } from '../../engine/replay/compare-decisions.ts'
import { type BotSnapshot, type Snapshot, silentStrategy, snapshotAt } from '../../engine/replay/snapshot.ts'
import type { BotSettings } from '../../engine/settings.ts'
import type { History, RecordedOrder, Word } from '../../journal/reader/history.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { Segment } from '../../journal/tape/recorded-segments.ts'
import type { FoundRow, FoundToken } from '../../journal/tape/tape-search.ts'
import { eventOf } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import { durationOf, stampOf } from '../../runtime/time-text.ts'
import { eventText, exitsText, lateText, orderText, plain, priceText } from '../../runtime/why/format.ts'
import { withRowsProgress } from '../terminal.ts'
import { type Instant, readInstant } from './parse-time.ts'
import { headLines, paragraph } from './step-lines.ts'

/** A process whose journal has no end record counts as running if the age of its last record is at most this time. In a
 *  quiet market, a process may run and write nothing for minutes. */
const STILL_RUNS_MS = 600_000
/** Maximum length of the text of a strategy's state, characters. */
const LONGEST_STATE = 600

/** Decision and state of one bot about one token at one time. */
export interface BotMoment {
  readonly bot: string
  /** The bot's decision in one word. */
  readonly verdict: 'asked' | 'refused' | 'noted' | 'held' | 'exits-only' | 'not shown' | 'nothing'
  /** First a sentence with the decision, then lines with the evidence for it, the most important first. */
  readonly lines: readonly string[]
}

/** Explains why a token was bought or not bought at a time. */
export interface Moment {
  readonly token: FoundToken
  readonly instant: Instant
  readonly segment: number
  /** Lines about the market at that time: last row, robust price and status of the feed. */
  readonly market: readonly string[]
  readonly bots: readonly BotMoment[]
}

/** Finds the decisions of the bots about a token at the time `at`. Throws SluiceError (exit 2) if the journal does not
 *  cover the time or has no such bot. */
export async function momentOf(
  reader: JournalReader,
  mint: string,
  at: string,
  bot: string | undefined,
): Promise<Moment> {
  const segments = reader.segments()
  const runs = runsOf(reader, segments)
  const instant = readInstant(at, segments[0]?.time ?? 0, runs.at(-1)?.end ?? 0, (one) =>
    runs.some((run) => isIn(run, one)),
  )
  const segment = segmentAt(runs, instant)
  const bots = segment.start.bots.filter(({ name }) => bot === undefined || name === bot)
  if (bots.length === 0) throw noBot(segment, bot)
  const { snapshot, doubt } = await repeated(reader, segment, mint, instant.to)
  return reader.look((history, tape) => ({
    ...{ token: tape.nameOf(mint), instant, segment: segment.number },
    market: marketLines(tape.lastRowOf(mint, instant.to), instant, snapshot, doubt),
    bots: bots.map((settings) =>
      botMoment(
        history,
        settings,
        segment,
        mint,
        instant,
        doubt === '' ? snapshot?.bots.get(settings.name) : undefined,
        doubt,
      ),
    ),
  }))
}

/**
 * The records of one process (a segment) and the time of its end. If the segment has no end record, `end` is the time
 * of the last record, or the present time if the process still runs.
 */
interface Run {
  readonly segment: Segment
  readonly end: Millis
}

function runsOf(reader: JournalReader, segments: readonly Segment[]): Run[] {
  const now = Date.now()
  return segments.map((segment, index) => {
    if (segment.ended !== null) return { segment, end: segment.ended }
    const isLast = index === segments.length - 1
    const heard = reader.look((history) => history.timeUpTo(isLast ? Number.MAX_SAFE_INTEGER : segment.lastSeq))
    return { segment, end: isLast && now - heard < STILL_RUNS_MS ? Math.max(now, heard) : heard }
  })
}

function isIn({ segment, end }: Run, { from, to }: Instant): boolean {
  return segment.time <= to && end >= from
}

/** Last segment that covers the time. Throws SluiceError (exit 2) if none does. */
function segmentAt(runs: readonly Run[], instant: Instant): Segment {
  const run = runs.findLast((one) => isIn(one, instant))
  if (run !== undefined) return run.segment
  const before = runs.findLast(({ end }) => end < instant.from)
  const next = runs.find(({ segment }) => segment.time > instant.to)
  const how = before?.segment.ended === null ? 'crashed or was killed after its last record of' : 'ended'
  const parts = [
    ...(before === undefined ? [] : [`segment ${before.segment.number} ${how} ${stampOf(before.end)}`]),
    ...(next === undefined ? [] : [`segment ${next.segment.number} began ${stampOf(next.segment.time)}`]),
  ]
  const advice =
    parts.length === 0 ? 'the journal has only imported rows' : `${parts.join(', ')}; choose a time within a segment`
  throw new SluiceError(`no process ran at that time: ${advice}`, ExitCode.usage)
}

function noBot({ number, start }: Segment, bot: string | undefined): SluiceError {
  const names = start.bots.map(({ name }) => name).join(', ')
  const message =
    names === ''
      ? `no bot ran at that time: the process of segment ${number} only recorded the feed`
      : `segment ${number} has no bot ${bot}; its bots are ${names}`
  return new SluiceError(printable(message), ExitCode.usage)
}

/**
 * Replays the segment up to the time with its recorded strategies. If these cannot be loaded, replays only the market.
 * `doubt` then explains why the state of the strategies is unknown.
 */
async function repeated(
  reader: JournalReader,
  segment: Segment,
  mint: string,
  time: Millis,
): Promise<{ snapshot: Snapshot | undefined; doubt: string }> {
  if (!segment.complete) return { snapshot: undefined, doubt: 'the tape was deleted' }
  const recorded = await recordedStrategies(segment)
  const mints = new Mints()
  return withRowsProgress((progress) => {
    const read = new RowsRead(progress)
    read.expect(segment.rows)
    const entries = read.items(recordedEntries(reader, segment, mints))
    if (typeof recorded !== 'string') return { snapshot: snapshotAt(entries, mints, recorded, mint, time), doubt: '' }
    const silent = new Map(segment.start.bots.map(({ strategy }) => [strategy, silentStrategy(strategy)]))
    return { snapshot: snapshotAt(marketOf(entries), mints, silent, mint, time), doubt: recorded }
  })
}

/**
 * Returns only the entries about the market, for a replay without the strategies: it can reproduce neither their
 * decisions nor the reports about their orders.
 */
function* marketOf(entries: Iterable<Entry>): Generator<Entry, void, undefined> {
  for (const entry of entries) {
    if (entry.kind === 'warm' || entry.kind === 'rows') yield entry
    else if (entry.kind === 'output') continue
    else if (entry.input.kind === 'start') yield { ...entry, input: { ...entry.input, money: NO_MONEY } }
    else if (entry.input.kind === 'feed' || entry.input.kind === 'gap') yield entry
  }
}

function marketLines(
  found: FoundRow | undefined,
  { to }: Instant,
  snapshot: Snapshot | undefined,
  doubt: string,
): string[] {
  if (found === undefined && snapshot === undefined) return [`last row, robust price and feed: unknown, ${doubt}`]
  const lines: string[] = []
  if (found === undefined) lines.push('last row: the tape has no earlier row of this token')
  else {
    const time = found.block.time[found.row] as number
    const event = eventText(eventOf(found.block, found.row))
    const late = lateText('; arrived ', snapshot?.eventAgeMs)
    lines.push(`last row: ${event}; seq ${found.seq}, ${stampOf(time)}, ${durationOf(to - time)} before${late}`)
  }
  if (snapshot === undefined) return [...lines, `robust price and feed: unknown, ${doubt}`]
  const none =
    'none, because it needs three prints of at least 0.01 SOL since the start or the last gap, and a verified unit of prices'
  lines.push(`robust price: ${snapshot.price === undefined ? none : priceText(snapshot.price)}`)
  lines.push(`feed: ${snapshot.feed}`)
  return lines
}

function botMoment(
  history: History,
  settings: BotSettings,
  segment: Segment,
  mint: string,
  { from, to }: Instant,
  snapshot: BotSnapshot | undefined,
  doubt: string,
): BotMoment {
  const { name: bot, account } = settings
  const isMine = (one: { readonly bot: string }): boolean => one.bot === bot
  const orders = history.ordersOf(mint).filter(({ order }) => isMine(order) && order.time >= from && order.time <= to)
  const words = history.words(mint, from, to).filter(isMine)
  const word = words.at(-1)
  const broke = history.breakOf(bot, segment.firstSeq, to)
  const position = history.positionAt(mint, account.id, { time: to })
  const isHeld = position !== undefined && position.state !== 'closed' && position.bot === bot
  const known = snapshot === undefined ? [`state of the strategy: unknown, ${doubt}`] : stateLines(snapshot)
  const earlier = word === undefined ? earlierLines(history.lastWord(mint, bot, from - 1), { from, to }) : []
  const held = isHeld ? [heldText(position)] : []
  const moment = (verdict: BotMoment['verdict'], ...lines: string[]): BotMoment => ({
    bot,
    verdict,
    lines: [...lines, ...held, ...earlier, ...known],
  })
  if (orders.length > 0)
    return moment(
      'asked',
      ...orders.map(orderedText),
      ...(word === undefined ? [] : [`also ${decisionText(words, word, to)}`]),
    )
  if (word !== undefined) return moment(word.kind === 'note' ? 'noted' : 'refused', decisionText(words, word, to))
  if (broke !== undefined)
    return moment(
      'exits-only',
      `no decision: the strategy threw or was stopped at ${stampOf(broke.time)}, and since then the bot has only closed positions: ${broke.reason}`,
    )
  if (isHeld)
    return moment(
      'held',
      position.state === 'opening'
        ? 'no decision: a buy was already in progress'
        : 'no decision: the bot already held a position',
    )
  if (snapshot?.shown === 0)
    return moment(
      'not shown',
      `no decision: the strategy subscribes to ${snapshot.keys.join(', ')} and had received no row of this token since the start of this segment`,
    )
  return moment('nothing', 'no decision')
}

function earlierLines(before: Word | undefined, { from, to }: Instant): string[] {
  if (before === undefined) return []
  const isNear = before.kind === 'refused' && from - before.time <= SAME_REFUSAL_MS
  const hidden = isNear ? '; later equal refusals within a second are not recorded' : ''
  return [`previous decision: ${wordText(before, to)}${hidden}`]
}

function heldText({ state, openedAt, exits }: Position): string {
  return `position (${state}) since ${stampOf(openedAt)}; exits: ${exitsText(exits)}`
}

function orderedText(recorded: RecordedOrder): string {
  return `ordered: ${orderText(recorded)}; see \`sluice why ${recorded.order.id}\``
}

function decisionText(words: readonly Word[], word: Word, to: Millis): string {
  const times = words.length === 1 ? '' : `; the last of ${words.length} such decisions in this period`
  return `${word.kind === 'note' ? 'decided against an order' : 'refused'}: ${wordText(word, to)}${times}`
}

function wordText({ kind, code, reason, time, seq }: Word, to: Millis): string {
  const decision = kind === 'note' ? reason : `${code}: ${reason}`
  return `${decision} (${stampOf(time)}, seq ${seq}, ${durationOf(to - time)} before)`
}

function stateLines({ shown, state, wallet, budget }: BotSnapshot): string[] {
  const kept = inspect(state, {
    depth: 4,
    breakLength: Number.POSITIVE_INFINITY,
    maxArrayLength: 20,
    maxStringLength: 200,
  })
  const sol =
    wallet.sol === undefined ? 'unknown' : `${plain(wallet.sol)} SOL, ${plain(wallet.reservedSol)} of it reserved`
  const halted = budget.halted ? ', entries halted' : ''
  return [
    `state of the strategy after ${counted(shown, 'row')} of this token: ${state === undefined ? 'none' : kept.slice(0, LONGEST_STATE)}`,
    `money: wallet ${sol}; ordered ${plain(budget.solThisHour)} SOL within the hour, profit today ${plain(budget.profitTodaySol)} SOL${halted}`,
  ]
}

export function momentLines({ token, instant, segment, market, bots }: Moment, columns: number): string[] {
  const { from, to } = instant
  const when = from === to ? stampOf(to) : `${stampOf(from)} to ${stampOf(to)}`
  return [
    ...headLines(token, columns),
    ...paragraph(`${when}, segment ${segment}`, columns, 2),
    ...market.flatMap((line) => paragraph(line, columns, 2)),
    ...bots.flatMap(({ bot, lines: [answer = '', ...rest] }) => [
      '',
      styleText('bold', bot),
      ...paragraph(answer, columns, 2),
      ...rest.flatMap((line) => paragraph(line, columns, 4)),
    ]),
  ]
}

export function momentJson({ token, instant, segment, market, bots }: Moment): object {
  return { kind: 'moment', ...token, ...instant, segment, market, bots }
}
