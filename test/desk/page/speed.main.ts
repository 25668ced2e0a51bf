// Measures the desk on a journal of 10,000 trades and up to 200 positions: the times of each endpoint, and the times of
// 20 cold loads in Chromium. The desk is the real one, with its thread, API, login and stream. `--loads 5` measures
// less; `--journal DB` is served instead of a new journal, whose recording takes minutes. The exit code is 1 if a goal
// of docs/benchmarks.md is missed.
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { writeDeskJournal } from '../../../bench/desk-journal.ts'
import { inTemporaryFolder } from '../../../bench/temporary-folder.ts'
import { CHROMIUM, launch, NO_CHROMIUM, WatchedPage } from './browser.ts'
import { ServedJournal } from './served-journal.ts'

/** The simulated hours in which the bot of the benchmark makes more than 10,000 trades. */
const RECORDED_HOURS = 14
const REQUESTS = 20
/** Goals for the 95th percentile of the loads, ms. */
const GOALS = { shell: 300, chart: 1_000 }
const { values } = parseArgs({
  options: { loads: { type: 'string' }, journal: { type: 'string' } },
})
const loads = Number(values.loads ?? 20)

function p95(times: readonly number[]): number {
  const sorted = [...times].sort((one, other) => one - other)
  return sorted[Math.ceil(0.95 * sorted.length) - 1] as number
}

function median(times: readonly number[]): number {
  return [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] as number
}

const line = (name: string, times: readonly number[] = []): string =>
  `${name}: median ${median(times).toFixed(0)} ms, p95 ${p95(times).toFixed(0)} ms`

/** Returns the milliseconds from the navigation to the first frame after `selector` appears. */
function timeOf(page: Page, selector: string): Promise<number> {
  return page.evaluate(
    (awaited) =>
      new Promise<number>((resolve) => {
        const look = (): void => {
          if (document.querySelector(awaited) === null) requestAnimationFrame(look)
          else requestAnimationFrame(() => resolve(performance.now()))
        }
        look()
      }),
    selector,
  )
}

/**
 * Returns the milliseconds from the navigation to the end of the frame in which the chart has drawn its data. The
 * library draws axes and grid on one canvas, and prints, price and marks on another one above it. Both must have
 * pixels. Reading pixels takes as long as several frames, so the time is taken before.
 */
function timeOfChart(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const isDrawn = (canvas: HTMLCanvasElement): boolean => {
          const { width, height } = canvas
          const pixels = canvas.getContext('2d')?.getImageData(0, 0, width, height).data ?? []
          const columns = new Set<number>()
          for (let at = 3; at < pixels.length && columns.size <= width / 10; at += 4)
            if (pixels[at] !== 0) columns.add(((at - 3) / 4) % width)
          return columns.size > width / 10
        }
        const look = (): void => {
          const time = performance.now()
          const canvases = [...document.querySelectorAll<HTMLCanvasElement>('.chart.price[data-drawn] canvas')]
          const panes = canvases.filter(({ width, height }) => width > 200 && height > 150)
          if (panes.length > 1 && panes.every(isDrawn)) resolve(time)
          else requestAnimationFrame(look)
        }
        look()
      }),
  )
}

async function measureApi(desk: ServedJournal): Promise<void> {
  const { view } = desk
  const mint = view.positions[0]?.mint ?? ''
  const lists = ['orders', 'fills', 'round-trips', 'positions', 'log'].map((name) => `${name}?limit=100`)
  const others = ['money', 'equity', `token/${mint}?span=3600`, `why/${mint}`, 'results', 'view']
  for (const path of [...lists, ...others]) {
    const times: number[] = []
    for (let request = 0; request < REQUESTS; request++) times.push(await desk.ask(`/api/${path}`))
    console.log(`${line(path.split(/[?/]/)[0] ?? '', times)}, first ${times[0]?.toFixed(0)} ms`)
  }
}

/**
 * Opens a tab in a new browser profile, which has no files of the desk. `after`: the page that the tab shows before the
 * load. From the login page, a user comes to the desk. From an empty tab, the load also contains the start of a
 * process, because a browser shows a page with the header `cross-origin-opener-policy` in a process of its own.
 */
async function open(
  browser: Browser,
  { origin, cookie: [name, value] }: ServedJournal,
  after: 'login' | 'empty tab',
): Promise<WatchedPage> {
  const watched = await WatchedPage.open(browser, origin, { viewport: { width: 1400, height: 900 } })
  if (after === 'login') await watched.page.goto(`${origin}/login`)
  await watched.page.context().addCookies([{ name, value, url: origin }])
  return watched
}

async function measureLoads(desk: ServedJournal): Promise<void> {
  const browser = await launch()
  for (const after of ['empty tab', 'login'] as const) {
    const { painted, running, state, chart } = await measureLoadsAfter(browser, desk, after)
    console.log(line(`after ${after}: shell painted`, painted))
    console.log(line(`after ${after}: page running`, running))
    console.log(line(`after ${after}: ${desk.view.positions.length} positions drawn`, state))
    console.log(line(`after ${after}: chart with its data, opened directly`, chart))
    if (after !== 'login') continue
    requireGoal('shell painted', painted, GOALS.shell)
    requireGoal('chart with its data', chart, GOALS.chart)
  }
  await browser.close()
}

async function measureLoadsAfter(browser: Browser, desk: ServedJournal, after: 'login' | 'empty tab') {
  const { origin: url, view } = desk
  const { length } = view.positions
  const mint = view.positions[0]?.mint ?? ''
  const painted: number[] = []
  const running: number[] = []
  const state: number[] = []
  const chart: number[] = []
  for (let load = 0; load < loads; load++)
    for (const route of ['overview', `token/${mint}`]) {
      const { page } = await open(browser, desk, after)
      await page.goto(`${url}/#/${route}`, { waitUntil: 'commit' })
      if (route === 'overview') {
        running.push(await timeOf(page, '.skip'))
        state.push(await timeOf(page, `table[aria-label="Positions"] tbody tr:nth-child(${length})`))
        painted.push(
          await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0),
        )
      } else chart.push(await timeOfChart(page))
      await page.context().close()
    }
  return { painted, running, state, chart }
}

function requireGoal(name: string, times: readonly number[], goal: number): void {
  const reached = p95(times)
  if (reached <= goal) return
  console.error(`missed: ${name}: p95 ${reached.toFixed(0)} ms, at most ${goal} ms is the goal`)
  process.exitCode = 1
}

async function measure(journal: string): Promise<void> {
  const desk = await ServedJournal.open(journal)
  const load = (): void =>
    console.log(
      `load of the machine ${loadavg()
        .map((one) => one.toFixed(1))
        .join(', ')}`,
    )
  load()
  await measureApi(desk)
  await measureLoads(desk)
  load()
  await desk.close()
}

if (CHROMIUM === undefined) console.error(NO_CHROMIUM)
else if (values.journal !== undefined) await measure(values.journal)
else
  await inTemporaryFolder(async (folder) => {
    const journal = join(folder, 'desk.db')
    await writeDeskJournal(journal, RECORDED_HOURS)
    await measure(journal)
  })
