import { inspect, styleText } from 'node:util'
import { recordedEntries, recordedStrategies } from '../../backtest/replay/segments.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import { SAME_REFUSAL_MS } from '../../engine/bots/bot.ts'
import { NO_MONEY } from '../../engine/recovered-money.ts'
import { type BotSnapshot, type Snapshot, silentStrategy, snapshotAt } from '../../engine/replay/snapshot.ts'
import type { Entry } from '../../engine/replay/verify.ts'
import type { BotSettings } from '../../engine/settings.ts'
import type { History, RecordedOrder, Word } from '../../journal/reader/history.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { Segment } from '../../journal/tape/segments.ts'
import type { FoundRow, FoundToken } from '../../journal/tape/tape-search.ts'
import { eventOf } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import { durationOf, stampOf } from '../../runtime/time-text.ts'
import { type Instant, readInstant } from './instant.ts'
import { headLines, paragraph } from './page.ts'
import { eventText, exitsText, lateText, orderText, plain, priceText } from './words.ts'

/** One that did not end in order and was heard of so lately may still run: a market can be quiet. */
const STILL_RUNS_MS = 600_000
/** Characters that are shown of what a strategy keeps. */
const LONGEST_STATE = 600

/** What one bot did about a token at a time, and what it knew. */
export interface BotMoment {
  readonly bot: string
  /** The answer in a word: what it came to. */
  readonly verdict: 'asked' | 'refused' | 'noted' | 'held' | 'exits-only' | 'not shown' | 'nothing'
  /** The answer in a sentence, then what speaks to it, most important first. */
  readonly lines: readonly string[]
}

/** Why a token was bought, or not, at a time. */
export interface Moment {
  readonly token: FoundToken
  readonly instant: Instant
  readonly segment: number
  /** What there was to see: the last row, the price, the feed. */
  readonly market: readonly string[]
  readonly bots: readonly BotMoment[]
}

/** Throws SluiceError (exit 2) where the time or the bot is not one of the journal's. */
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
  const { glimpse, doubt } = await repeated(reader, segment, mint, instant.to)
  return reader.look((history, tape) => ({
    ...{ token: tape.nameOf(mint), instant, segment: segment.number },
    market: marketLines(tape.lastRowOf(mint, instant.to), instant, glimpse, doubt),
    bots: bots.map((settings) =>
      botMoment(
        history,
        settings,
        segment,
        mint,
        instant,
        doubt === '' ? glimpse?.bots.get(settings.name) : undefined,
        doubt,
      ),
    ),
  }))
}

/** When each process began, and when it ended or was last heard of. */
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

/** The last process that ran then. */
function segmentAt(runs: readonly Run[], instant: Instant): Segment {
  const run = runs.findLast((one) => isIn(one, instant))
  if (run !== undefined) return run.segment
  const before = runs.findLast(({ end }) => end < instant.from)
  const next = runs.find(({ segment }) => segment.time > instant.to)
  const how = before?.segment.ended === null ? 'was last heard of (crashed or killed)' : 'ended'
  const parts = [
    ...(before === undefined ? [] : [`segment ${before.segment.number} ${how} ${stampOf(before.end)}`]),
    ...(next === undefined ? [] : [`segment ${next.segment.number} began ${stampOf(next.segment.time)}`]),
  ]
  const advice = parts.length === 0 ? 'there are only imported rows' : `${parts.join(', ')}; give a time within one`
  throw new SluiceError(`no process ran then: ${advice}`, ExitCode.usage)
}

function noBot({ number, start }: Segment, bot: string | undefined): SluiceError {
  const names = start.bots.map(({ name }) => name).join(', ')
  const message =
    names === ''
      ? `no bot ran then: segment ${number} only recorded`
      : `no bot ${bot} ran in segment ${number}; there were ${names}`
  return new SluiceError(printable(message), ExitCode.usage)
}

/** The segment up to the time, by its own strategies; where they are not to be had, what does not hang on them.
 *  `doubt`: why what the strategies kept is not known; '' where it is. */
async function repeated(
  reader: JournalReader,
  segment: Segment,
  mint: string,
  time: Millis,
): Promise<{ glimpse: Snapshot | undefined; doubt: string }> {
  if (!segment.complete) return { glimpse: undefined, doubt: 'its tape is not there any more' }
  const recorded = await recordedStrategies(segment)
  const mints = new Mints()
  const entries = recordedEntries(reader, segment, mints)
  if (typeof recorded !== 'string') return { glimpse: snapshotAt(entries, mints, recorded, mint, time), doubt: '' }
  const silent = new Map(segment.start.bots.map(({ strategy }) => [strategy, silentStrategy(strategy)]))
  return { glimpse: snapshotAt(marketOf(entries), mints, silent, mint, time), doubt: recorded }
}

/** Without what was decided and what came of it, which other code could not follow. */
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
  glimpse: Snapshot | undefined,
  doubt: string,
): string[] {
  if (found === undefined && glimpse === undefined) return [`last row, robust price and feed: not known, ${doubt}`]
  const lines: string[] = []
  if (found === undefined) lines.push('last row: none of it was on the tape by then')
  else {
    const time = found.block.time[found.row] as number
    const event = eventText(eventOf(found.block, found.row))
    const late = lateText('; it came ', glimpse?.eventAgeMs)
    lines.push(`last row: ${event}; seq ${found.seq}, ${stampOf(time)}, ${durationOf(to - time)} before${late}`)
  }
  if (glimpse === undefined) return [...lines, `robust price and feed: not known, ${doubt}`]
  const none = 'none: it takes three prints of 0.01 SOL or more since the start or the last gap, and a proved unit'
  lines.push(`robust price: ${glimpse.price === undefined ? none : priceText(glimpse.price)}`)
  lines.push(`feed: ${glimpse.feed}`)
  return lines
}

function botMoment(
  history: History,
  settings: BotSettings,
  segment: Segment,
  mint: string,
  { from, to }: Instant,
  glimpse: BotSnapshot | undefined,
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
  const known = glimpse === undefined ? [`what its strategy kept for it is not known: ${doubt}`] : glimpseLines(glimpse)
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
      ...orders.map(askedText),
      ...(word === undefined ? [] : [`also: ${saidText(words, word, to)}`]),
    )
  if (word !== undefined) return moment(word.kind === 'note' ? 'noted' : 'refused', saidText(words, word, to))
  if (broke !== undefined)
    return moment(
      'exits-only',
      `asked for nothing: its strategy threw or was stopped ${stampOf(broke.time)}, and since then it only closes what it holds: ${broke.reason}`,
    )
  if (isHeld)
    return moment(
      'held',
      position.state === 'opening'
        ? 'asked for nothing: a buy of it was under way already'
        : 'asked for nothing: it was in it already',
    )
  if (glimpse?.shown === 0)
    return moment(
      'not shown',
      `asked for nothing: its strategy, which is shown ${glimpse.keys.join(', ')}, had seen no row of it in this segment`,
    )
  return moment('nothing', 'asked for nothing')
}

function earlierLines(before: Word | undefined, { from, to }: Instant): string[] {
  if (before === undefined) return []
  const isNear = before.kind === 'refused' && from - before.time <= SAME_REFUSAL_MS
  const hidden = isNear ? '; it may have asked again: the same answer is not written twice within a second' : ''
  return [`its last word on it before: ${wordText(before, to)}${hidden}`]
}

function heldText({ state, openedAt, exits }: Position): string {
  return `it had a position in it (${state}) since ${stampOf(openedAt)}; exits: ${exitsText(exits)}`
}

function askedText(recorded: RecordedOrder): string {
  return `asked, and it became an order: ${orderText(recorded)}; \`sluice why ${recorded.order.id}\``
}

function saidText(words: readonly Word[], word: Word, to: Millis): string {
  const times = words.length === 1 ? '' : `; ${words.length} answers then, this is the last`
  return `${word.kind === 'note' ? 'decided against it' : 'asked, and was refused'}: ${wordText(word, to)}${times}`
}

function wordText({ kind, code, reason, time, seq }: Word, to: Millis): string {
  const said = kind === 'note' ? reason : `${code}: ${reason}`
  return `${said} (${stampOf(time)}, seq ${seq}, ${durationOf(to - time)} before)`
}

function glimpseLines({ shown, state, wallet, budget }: BotSnapshot): string[] {
  const kept = inspect(state, {
    depth: 4,
    breakLength: Number.POSITIVE_INFINITY,
    maxArrayLength: 20,
    maxStringLength: 200,
  })
  const sol =
    wallet.sol === undefined ? 'unread' : `${plain(wallet.sol)} SOL, of it ${plain(wallet.reservedSol)} reserved`
  const halted = budget.halted ? ', entries halted' : ''
  return [
    `its strategy had been shown ${shown} rows of it, and kept for it: ${state === undefined ? 'nothing' : kept.slice(0, LONGEST_STATE)}`,
    `its money: wallet ${sol}; asked ${plain(budget.solThisHour)} SOL within the hour, today ${plain(budget.profitTodaySol)} SOL${halted}`,
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
