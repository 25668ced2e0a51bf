// `npm run bench -- desk-load`: measures how much 100 browsers at the desk slow down the exits of the process, and how
// long a change takes to reach a browser.
import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { deskFrom } from '../src/config/convert-sections.ts'
import { Desk } from '../src/desk/host.ts'
import { DecisionTime } from '../src/live/decision-time.ts'
import type { Journal } from '../src/orders/ports.ts'
import { readParts } from '../src/runtime/view/read-view.ts'
import type { LogLine } from '../src/runtime/view/view.ts'
import { ViewModel } from '../src/runtime/view/view-model.ts'
import { ViewUpdates } from '../src/runtime/view/view-updates.ts'
import { STANDARD } from '../src/venues/token-service/plans.ts'
import { loginOf } from '../test/support/desk-browsers.ts'
import type { FromBrowsers, ToBrowsers } from './browsers-process.ts'
import { type ExitParts, exitTimes } from './exit.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'
import { stampNow } from './frames.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

// As `bin/sluice.js` does for `run`.
setFlagsFromString('--semi-space-growth-factor=1')

const PAIRS = 20
const READING = 10
const STALLED = 90
/** Number of blocks of exits in one pair of measurements. `EXITS_A_BLOCK`: number of exits in a block. Browsers are
 *  connected in 8 of the 16 blocks. The 8 blocks with browsers have 1,000 exits, and so have the 8 blocks without. The
 *  99th percentile of 1,000 exits is the tenth highest time. Each exit sells one of 2,000 open positions, so 1,000
 *  positions are open on average. */
const BLOCKS = 16
const EXITS_A_BLOCK = 125
/** Number of blocks of exits that are not measured, at the beginning of each pair. Each pair starts new threads for the
 *  journal and the desk. While V8 compiles the code of these threads, an exit takes several times as long. */
const WARM_UP_BLOCKS = 4
const SMOKE_EXITS_A_BLOCK = 5
/** Share of the requests that is reserved for exits. */
const RESERVED_SHARE = 0.2
/** Wait after a block of exits, ms, so that its last changes reach the browsers. `SETTLE_MS`: wait after browsers have
 *  connected or left, ms, so that new ones have received the whole view. */
const LAST_CHANGES_MS = 300
const SETTLE_MS = 1_000
const MOST_RATIO = 1.2
const MOST_BEHIND_MS = 250

interface Pair {
  /** 99th percentile of the time from the market row that triggers an exit to the exit's POST request, ms, without
   *  browsers. `followed`: with browsers. */
  readonly without: number
  readonly followed: number
  /** Times from each commit of a block with browsers until each reading browser had received the last sequence number
   *  (seq) of the commit, ms. */
  readonly behindMs: readonly number[]
}

/** Measures the exits of one process that serves a desk. Browsers come and leave between blocks of exits, because a
 *  disturbance of the machine lasts longer than a block and then affects blocks with and without browsers alike.
 *  `isFirst`: whether there are browsers in the first block. */
async function runPair(folder: string, exitsOfBlock: number, isFirst: boolean): Promise<Pair> {
  const warmUp = WARM_UP_BLOCKS * exitsOfBlock
  const isFollowedAt = (exit: number): boolean => {
    const block = Math.floor(exit / exitsOfBlock)
    // The order of blocks with (A) and without browsers (B) is A B B A A B B A ..., so that on average both kinds have
    // equally many open positions.
    return [1, 2].includes(block % 4) !== isFirst
  }
  const model = new ViewModel()
  /** Commits of each block with browsers. */
  const commits: [seq: number, at: number][][] = []
  let browsers: ChildProcess | undefined
  let isFollowed = false
  const watch = (journal: Journal): Journal => {
    const watched = model.watch(journal)
    return {
      ...watched,
      commit: (then) => {
        const { seq } = model
        const block = isFollowed ? commits.at(-1) : undefined
        watched.commit(() => {
          block?.push([seq, stampNow()])
          then()
        })
      },
    }
  }
  let seen: FromBrowsers & { kind: 'closed' } = { kind: 'closed', seen: [] }
  let come: ToBrowsers = 'leave'
  const during = async (parts: ExitParts): Promise<() => Promise<void>> => {
    const desk = await serve(parts, model)
    const link = await desk.link(true)
    come = { origin: new URL(link).origin, cookie: await loginOf(link), reading: READING, stalled: STALLED }
    const child = startBrowsers()
    browsers = child
    return async () => {
      seen = await ask(child, 'close')
      await desk.close()
    }
  }
  const turn = async (): Promise<void> => {
    if (isFollowed) await sleep(LAST_CHANGES_MS)
    await ask(browsers as ChildProcess, isFollowed ? 'leave' : come)
    await sleep(SETTLE_MS)
    isFollowed = !isFollowed
    if (isFollowed) commits.push([])
  }
  const before = (exit: number): Promise<void> | undefined => (isFollowedAt(exit) === isFollowed ? undefined : turn())
  const exits = warmUp + BLOCKS * exitsOfBlock
  const way = { requestsPerMinute: Math.ceil(exits / RESERVED_SHARE), way: 'alone', entriesPerSecond: 0 } as const
  const times = await exitTimes({ folder, ...way, watch, during, before })
  const p99 = (isIn: (exit: number) => boolean): number => {
    const own = times.filter((_, exit) => exit >= warmUp && isIn(exit)).sort((one, other) => one - other)
    return own[Math.floor(own.length * 0.99)] as number
  }
  return {
    without: p99((exit) => !isFollowedAt(exit)),
    followed: p99(isFollowedAt),
    behindMs: seen.seen.flatMap((one, browser) => behind(commits[Math.floor(browser / READING)] ?? [], one)),
  }
}

/** Serves the desk of the measured bots, as `sluice run` does. */
async function serve({ journalPath, bot, money, engine, limiter, clock }: ExitParts, model: ViewModel): Promise<Desk> {
  model.restore(money)
  const world = {
    ...{ feed: { state: 'live', counts: { losses: 0 } }, limiter, planNotice: '', decisionTime: new DecisionTime() },
    ...{ lists: { broken: new Map<string, string>() }, sources: { broken: [] }, plan: () => STANDARD },
  }
  const parts = {
    ...{ title: 'bench', bots: [bot], model, world, journalPath, startedAt: clock.now() },
    readingOf: (position: Parameters<typeof engine.readingOf>[0]) => engine.readingOf(position),
  }
  const raise = (error: unknown): never => {
    throw error
  }
  const view = new ViewUpdates({
    ...{ clock, read: (n: number) => readParts(parts, clock.now(), n), failed: raise },
    onLog: (run: (line: LogLine) => void) => model.onLog(run),
    onMessage: (run) => model.onMessage(run),
    committing: model.committing,
  })
  const log = { info: () => {}, warn: () => {}, error: console.error } as never
  const desk = new Desk({ config: deskFrom({ port: 0 }, ''), journal: journalPath, view, log, alert: console.error })
  await desk.ready
  return desk
}

/** Starts a process for browsers. Real browsers run on other machines, so this process must not take processor time
 *  from the process that trades. A low priority is not enough: on Linux, a process that has begun to run may keep its
 *  processor for a millisecond, even if a thread with a higher priority wakes up. Only a process of the scheduling
 *  class `idle` leaves its processor immediately. */
function startBrowsers(): ChildProcess {
  const file = new URL('./browsers-process.ts', import.meta.url)
  const idle = ['--idle', '0', process.execPath]
  if (spawnSync('chrt', [...idle, '--version']).status === 0)
    return fork(file, { execPath: 'chrt', execArgv: [...idle, ...process.execArgv] })
  const child = fork(file)
  setPriority(child.pid as number, constants.priority.PRIORITY_LOW)
  return child
}

/** Sends a message to the browsers. Resolves with their answer. */
async function ask<Answer>(browsers: ChildProcess, message: ToBrowsers): Promise<Answer> {
  const answered = once(browsers, 'message')
  browsers.send(message)
  return (await answered)[0] as Answer
}

/** Returns, for each commit, the time until one browser had received the commit's sequence number (seq), ms. A time is
 *  0 if the browser had received the seq before the commit, and Infinity if it never did. */
function behind(
  commits: readonly (readonly [number, number])[],
  seen: readonly (readonly [number, number])[],
): number[] {
  let next = 0
  return commits.map(([seq, at]) => {
    while (next < seen.length && (seen[next] as readonly [number, number])[0] < seq) next++
    const [, shown = Number.POSITIVE_INFINITY] = seen[next] ?? []
    return Math.max(0, shown - at) / 1e6
  })
}

export async function benchDeskLoad(smoke = false): Promise<Figure[]> {
  const pairs: Pair[] = []
  const count = smoke ? 2 : PAIRS
  await inTemporaryFolder(async (folder) => {
    await runPair(folder, SMOKE_EXITS_A_BLOCK, true) // warms up
    while (pairs.length < count) {
      const pair = await runPair(folder, smoke ? SMOKE_EXITS_A_BLOCK : EXITS_A_BLOCK, pairs.length % 2 === 0)
      pairs.push(pair)
      const both = `${pair.without.toFixed(1)} ms without browsers, ${pair.followed.toFixed(1)} ms with them`
      process.stderr.write(`desk-load: pair ${pairs.length} of ${count}: p99 ${both}\n`)
    }
  })
  const ratio = summarize(pairs.map(({ followed, without }) => followed / without))
  const [low, high] = ratio.interval ?? [ratio.min, ratio.max]
  const late = pairs.flatMap(({ behindMs }) => behindMs).sort((one, other) => one - other)
  const at = (share: number): number => late[Math.min(late.length - 1, Math.floor(late.length * share))] as number
  const name = 'trigger of an exit to its POST, p99'
  return [
    { name: `${name}, no browser`, unit: 'ms', ...summarize(pairs.map(({ without }) => without)) },
    {
      name: `${name}, ${READING} browsers, ${STALLED} stalled`,
      unit: 'ms',
      ...summarize(pairs.map(({ followed }) => followed)),
    },
    { name: `${name}, ratio with to without browsers`, unit: 'x', ...ratio },
    {
      name: `${name}, lower end of the 95 % interval`,
      unit: 'x no browser',
      median: low,
      min: low,
      max: low,
      goal: 1,
      atMost: true,
    },
    {
      name: `${name}, upper end of the 95 % interval`,
      unit: 'x no browser',
      median: high,
      min: high,
      max: high,
      goal: MOST_RATIO,
      atMost: true,
    },
    { name: 'delay from a commit to a browser, p50', unit: 'ms', median: at(0.5), min: at(0), max: at(1) },
    {
      name: 'delay from a commit to a browser, p99',
      unit: 'ms',
      median: at(0.99),
      min: at(0),
      max: at(1),
      goal: MOST_BEHIND_MS,
      atMost: true,
    },
  ]
}

if (isMain(import.meta.url)) printFigures(await benchDeskLoad(process.argv.includes('--smoke')))
