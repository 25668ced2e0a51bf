import { type ComponentChild, type ComponentChildren, h } from 'preact'
import type { View } from '../../runtime/view/view.ts'
import { Amount, Foreign } from './elements.ts'
import { ageText, bytesText, counted, printable, solText, spanText, timeText, wordsOf } from './format.ts'
import type { Shown } from './shown.ts'

/**
 * Limits from which the page highlights a value: the lag of the feed (`LAG_MS`), and the age of the oldest write that
 * is not yet on the disk (`WRITE_MS`).
 */
const LAG_MS = 2_000
const WRITE_MS = 1_000
const LITTLE_SPACE = 1e9

export type Mark = '' | 'good' | 'warn' | 'bad'

interface Vital {
  readonly name: string
  readonly value: ComponentChildren
  readonly detail: ComponentChildren
  readonly mark: Mark
}

/** The row of eight values that show the state of the process. */
export function Vitals({ shown: { view, now } }: { shown: Shown }): ComponentChild {
  const vitals = [
    wallet(view),
    today(view),
    entries(view, now),
    requests(view),
    feed(view),
    unknown(view),
    journal(view),
    plan(view),
  ]
  return h(
    'dl',
    { class: 'vitals', 'aria-label': 'State of the process' },
    vitals.map(({ name, value, detail, mark }) =>
      h(
        'div',
        { key: name, class: mark },
        h('dt', {}, name),
        h('dd', { class: 'value' }, value),
        h('dd', { class: 'detail' }, detail),
      ),
    ),
  )
}

/**
 * The mode of the bots whose money the header shows: `live` if there is a live bot, else the mode of the first bot.
 * Paper money and real money are never added up.
 */
function shownMode({ bots }: View): { mode: string; name: string } {
  const modes = new Set(bots.map(({ mode }) => mode))
  const mode = modes.has('live') ? 'live' : ([...modes][0] ?? '')
  return { mode, name: modes.size > 1 ? `, ${mode}` : '' }
}

function wallet(view: View): Vital {
  const { mode, name } = shownMode(view)
  const wallets = view.wallets.filter((one) => one.mode === mode)
  const balance = sumOf(wallets, ({ solBalance }) => solBalance ?? 0)
  const held = sumOf(wallets, ({ positionsSol }) => positionsSol)
  const isRead = wallets.every(({ solBalance }) => solBalance !== null)
  return {
    name: `${wallets.length > 1 ? `${wallets.length} wallets` : 'Wallet'}${name}`,
    value: isRead ? `${solText(balance + held)} SOL` : 'not read yet',
    detail: `${isRead ? solText(balance) : '?'} free + ${solText(held)} held${eachText(wallets)}`,
    mark: isRead ? '' : 'warn',
  }
}

/** The money of each named wallet, as text; '' if the wallets have no names. */
function eachText(wallets: View['wallets']): string {
  const texts = wallets.flatMap(({ name, solBalance, positionsSol }) =>
    name === undefined
      ? []
      : `${printable(name)} ${solBalance === null ? 'not read yet' : solText(solBalance + positionsSol)}`,
  )
  return texts.length === 0 ? '' : `: ${texts.join(', ')}`
}

function today(view: View): Vital {
  const { mode, name } = shownMode(view)
  const bots = view.bots.filter((bot) => bot.mode === mode)
  return {
    name: `${view.source === 'recorded' ? 'Net of the last day' : 'Net today'} (UTC)${name}`,
    value: [h(Amount, { sol: sumOf(bots, (bot) => bot.today.netSol) }), ' SOL'],
    detail: ['in all ', h(Amount, { sol: sumOf(bots, (bot) => bot.sinceBeginning.netSol) })],
    mark: '',
  }
}

function sumOf<Row>(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + of(row), 0)
}

function entries({ stops, bots }: View, now: number): Vital {
  const [first] = stops
  if (first === undefined) return { name: 'Entries', value: 'allowed', detail: `${bots.length} bots`, mark: 'good' }
  const all = stops.some((stop) => stop.bots.length === bots.length)
  const until = first.until === null ? '(no set end)' : `until ${timeText(first.until, now)}`
  const more = stops.length > 1 ? `, ${stops.length - 1} more` : ''
  return {
    name: 'Entries',
    value: all ? 'stopped' : 'stopped for some bots',
    detail: `${wordsOf(first.code)} ${until}${more}`,
    mark: 'bad',
  }
}

function requests({ requests: { held, allowed, perMinute, waiting, holds } }: View): Vital {
  const left = Math.max(0, allowed - held)
  const hold = holds[0] === undefined ? '' : `, ${wordsOf(holds[0].code)}`
  return {
    name: 'Requests left',
    value: `${left} of ${perMinute} /min`,
    detail: `${held} in use, ${waiting} waiting${hold}`,
    mark: left === 0 || holds.length > 0 ? 'warn' : '',
  }
}

function feed({ feed, feedLagMs, gaps, gapSeconds, reconnects, source }: View): Vital {
  const isGood = feed === 'live' || source === 'recorded'
  const missing = gaps === 0 ? 'no gaps' : `${counted(gaps, 'gap')} ${spanText(gapSeconds * 1000)}`
  return {
    name: 'Feed',
    value: feedLagMs === null ? printable(feed) : `${printable(feed)}, ${spanText(feedLagMs)} behind`,
    detail: reconnects === 0 ? missing : `${missing}, ${counted(reconnects, 'reconnect')}`,
    mark: !isGood ? 'bad' : (feedLagMs ?? 0) > LAG_MS ? 'warn' : '',
  }
}

function unknown({ openOrders }: View): Vital {
  const count = openOrders.filter(({ proof }) => proof !== null).length
  return {
    name: 'Unknown orders',
    value: String(count),
    detail: `${openOrders.length} open orders in total`,
    mark: count > 0 ? 'warn' : '',
  }
}

function journal({ journal: { bytes, freeBytes, waitingMs }, source }: View): Vital {
  if (source === 'recorded') return { name: 'Journal', value: bytesText(bytes), detail: 'recorded', mark: '' }
  const isLate = waitingMs > WRITE_MS
  return {
    name: 'Journal',
    value: isLate ? `waits ${spanText(waitingMs)}` : bytesText(bytes),
    detail: `${bytesText(freeBytes)} free`,
    mark: isLate || freeBytes < LITTLE_SPACE ? 'warn' : '',
  }
}

function plan({ plan, planNotice, decisionUs: { p50, p99 }, source }: View): Vital {
  const speed = source === 'recorded' ? '' : `decides in ${p50.toFixed(1)} µs, p99 ${p99.toFixed(0)} µs`
  return {
    name: 'Plan',
    value: printable(plan.name),
    detail: planNotice === '' ? speed : printable(planNotice),
    mark: planNotice === '' ? '' : 'warn',
  }
}

/** Lines about all problems that need attention, as the terminal shows them. */
export function Notices({ shown: { view, now } }: { shown: Shown }): ComponentChild {
  const { stops, bots, requests, brokenLists, brokenSources } = view
  const lines = [
    ...stops.map(({ code, bots: of, since, until, text }) => ({
      mark: 'bad',
      head: `${wordsOf(code)}${of.length === bots.length ? '' : `: ${of.join(', ')}`}`,
      text: `${since === null ? 'since before this start' : `since ${timeText(since, now)}`}${until === null ? '' : ` until ${timeText(until, now)} (${ageText(until - now)})`}: ${text}`,
    })),
    ...requests.holds.map(({ code, until, text }) => ({
      mark: 'warn',
      head: wordsOf(code),
      text: until === null ? text : `until ${timeText(until, now)}: ${text}`,
    })),
    ...[...brokenLists, ...brokenSources].map((text) => ({ mark: 'warn', head: 'not read', text })),
  ]
  if (lines.length === 0) return null
  return h(
    'ul',
    { class: 'notices', 'aria-label': 'Needs attention' },
    lines.map(({ mark, head, text }) =>
      h('li', { key: head + text, class: mark }, h('b', {}, printable(head)), ' ', h(Foreign, { text })),
    ),
  )
}

/**
 * The mode of the bots, and for real money the executor. For a recorded journal, also the time at which the record
 * ends.
 */
export function modeText({ bots, source, time }: View, now: number): string {
  if (source === 'results') return 'results'
  if (source === 'recorded') return `recorded until ${timeText(time, now)}`
  const modes = new Set(bots.map(({ mode, executor }) => (mode === 'live' ? `live, ${executor}` : mode)))
  return [...modes].join(' and ')
}
