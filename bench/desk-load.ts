// `npm run bench -- desk-load`: measures how much 100 browsers at the desk slow down the exits of the process, and how
// long a change takes to reach a browser.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { seededRandom } from '../src/base/random.ts'
import { deskFrom } from '../src/config/defaults.ts'
import { Desk } from '../src/desk/host.ts'
import { DecisionTime } from '../src/live/decision-time.ts'
import type { Journal } from '../src/orders/ports.ts'
import { readView } from '../src/runtime/view/read-view.ts'
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

const PAIRS = 20
const READING = 10
const STALLED = 90
/** Requests per minute of the plan. A fifth of them is reserved for exits, so a run has 1,000 exits, and the 99th
 *  percentile of the exits' times is the tenth highest time. */
const REQUESTS_PER_MINUTE = 5_000
const SMOKE_REQUESTS_PER_MINUTE = 250
const MOST_RATIO = 1.2
const MOST_BEHIND_MS = 250
const DRAWS = 5_000

interface Run {
  /** 99th percentile of the time from the row that triggers an exit to the exit's POST request, ms. */
  readonly p99: number
  /** Times from each commit of the journal until each reading browser had received the last sequence number (seq) of
   *  the commit, ms. */
  readonly behindMs: readonly number[]
}

/** Measures the exits of one process that serves a desk. `reading`: number of browsers that read all changes;
 *  `stalled`: number of browsers that read nothing. */
async function run(folder: string, requestsPerMinute: number, reading: number, stalled: number): Promise<Run> {
  const model = new ViewModel()
  const commits: [seq: number, at: number][] = []
  const watch = (journal: Journal): Journal => {
    const watched = model.watch(journal)
    return {
      ...watched,
      commit: (then) => {
        const { seq } = model
        watched.commit(() => {
          commits.push([seq, stampNow()])
          then()
        })
      },
    }
  }
  let seen: FromBrowsers & { kind: 'closed' } = { kind: 'closed', seen: [] }
  const during = async (parts: ExitParts): Promise<() => Promise<void>> => {
    const desk = await serve(parts, model)
    const process = await open(desk, reading, stalled)
    return async () => {
      process.send('close' satisfies ToBrowsers)
      ;[seen] = (await once(process, 'message')) as [typeof seen]
      await desk.close()
    }
  }
  const way = { way: 'alone', entriesPerSecond: 0 } as const
  const times = (await exitTimes({ requestsPerMinute, folder, ...way, watch, during })).sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] as number
  return { p99, behindMs: seen.seen.flatMap((one) => behind(commits, one)) }
}

/** Serves a desk of the bots, as `run` does. */
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
    ...{ clock, read: (n: number) => readView(parts, clock.now(), n), failed: raise },
    onLog: (run: (line: LogLine) => void) => model.onLog(run),
    onMessage: (run) => model.onMessage(run),
  })
  const log = { info: () => {}, warn: () => {}, error: console.error } as never
  const desk = new Desk({ config: deskFrom({ port: 0 }, ''), journal: journalPath, view, log, alert: console.error })
  await desk.ready
  return desk
}

/** Starts a process that connects browsers to the desk. */
async function open(desk: Desk, reading: number, stalled: number): Promise<ChildProcess> {
  const link = await desk.link(true)
  const cookie = await loginOf(link)
  const child = fork(new URL('./browsers-process.ts', import.meta.url))
  // Real browsers run on other machines. A lower priority prevents them from taking processor time from the process
  // that trades.
  setPriority(child.pid as number, constants.priority.PRIORITY_BELOW_NORMAL)
  child.send({ origin: new URL(link).origin, cookie, reading, stalled } satisfies ToBrowsers)
  await once(child, 'message')
  return child
}

/** Returns the times from each commit until one browser had received its seq, ms. A time is 0 if the browser had
 *  received the seq before the commit. */
function behind(
  commits: readonly (readonly [number, number])[],
  seen: readonly (readonly [number, number])[],
): number[] {
  let next = 0
  return commits.flatMap(([seq, at]) => {
    while (next < seen.length && (seen[next] as readonly [number, number])[0] < seq) next++
    const shown = seen[next]
    return shown === undefined ? [] : [Math.max(0, shown[1] - at) / 1e6]
  })
}

/** 95 % confidence interval of the median by a seeded bootstrap. */
function medianInterval(values: readonly number[]): readonly [low: number, high: number] {
  const random = seededRandom(1)
  const draw = (): number => summarize(values.map(() => values[random.integer(values.length)] as number)).median
  const medians = Array.from({ length: DRAWS }, draw).sort((one, other) => one - other)
  return [medians[Math.floor(DRAWS * 0.025)] as number, medians[Math.ceil(DRAWS * 0.975) - 1] as number]
}

export async function benchDeskLoad(smoke = false): Promise<Figure[]> {
  const requests = smoke ? SMOKE_REQUESTS_PER_MINUTE : REQUESTS_PER_MINUTE
  const without: Run[] = []
  const beside: Run[] = []
  const pairs = smoke ? 2 : PAIRS
  await inTemporaryFolder(async (folder) => {
    const alone = async (): Promise<unknown> => without.push(await run(folder, requests, 0, 0))
    const crowded = async (): Promise<unknown> => beside.push(await run(folder, requests, READING, STALLED))
    await run(folder, SMOKE_REQUESTS_PER_MINUTE, READING, STALLED) // warms up
    for (let pair = 0; pair < pairs; pair++) {
      process.stderr.write(`desk-load: ${pair} of ${pairs} pairs\n`)
      // The order changes with each pair, because a machine may become slower or faster during the bench.
      for (const one of pair % 2 === 0 ? [alone, crowded] : [crowded, alone]) await one()
    }
  })
  const p99 = (runs: readonly Run[]): number[] => runs.map((one) => one.p99)
  const ratios = p99(beside).map((value, pair) => value / (p99(without)[pair] as number))
  const [low, high] = medianInterval(ratios)
  const { median } = summarize(ratios)
  const late = beside.flatMap(({ behindMs }) => behindMs).sort((one, other) => one - other)
  const at = (share: number): number => late[Math.min(late.length - 1, Math.floor(late.length * share))] as number
  const name = 'trigger of an exit to its POST, p99'
  return [
    { name: `${name}, no browser`, unit: 'ms', ...summarize(p99(without)) },
    { name: `${name}, ${READING} browsers, ${STALLED} stalled`, unit: 'ms', ...summarize(p99(beside)) },
    { name: `${name}, 95 % interval`, unit: 'x no browser', median, min: low, max: high },
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
