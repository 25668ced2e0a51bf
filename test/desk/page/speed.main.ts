// Measures the page of the desk in Chromium with 10,000 trades and 200 positions: the times of 20 loads, and the heap
// after 8 hours of changes against that after 10 minutes. `--hours 1` and `--loads 5` measure less.
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type { CDPSession, Page } from 'playwright-core'
import { CHROMIUM, launch, NO_CHROMIUM, WatchedPage } from './browser.ts'
import { FixtureDesk } from './fixture-server.ts'
import { mintOf, NOW, recordedView } from './recorded-desk.ts'

const SIZE = { positions: 200, trades: 10_000 }
const CHANGES_PER_MINUTE = 240
const PERIOD_MINUTES = 10
const CHANGED_ROWS = 5
const BETWEEN = ['bots/momentum', `token/${mintOf(0)}`, 'money', 'log', 'orders', 'overview']

const { values } = parseArgs({ options: { hours: { type: 'string' }, loads: { type: 'string' } } })
const hours = Number(values.hours ?? 8)
const loads = Number(values.loads ?? 20)

function p95(times: readonly number[]): number {
  const sorted = [...times].sort((one, other) => one - other)
  return sorted[Math.ceil(0.95 * sorted.length) - 1] as number
}

function median(times: readonly number[]): number {
  return [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] as number
}

/** Milliseconds from the navigation to the frame after `selector` is there. */
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

async function measureLoads(url: string): Promise<void> {
  const browser = await launch()
  const [painted, shell, state, chart]: number[][] = [[], [], [], []]
  for (let load = 0; load < loads; load++)
    for (const route of ['overview', `token/${mintOf(0)}`]) {
      const { page } = await WatchedPage.open(browser, url, { viewport: { width: 1400, height: 900 } })
      await page.goto(`${url}/#/${route}`, { waitUntil: 'commit' })
      if (route === 'overview') {
        shell?.push(await timeOf(page, '.skip'))
        state?.push(await timeOf(page, 'table[aria-label="Positions"] tbody tr:nth-child(200)'))
        painted?.push(
          await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0),
        )
      } else chart?.push(await timeOf(page, '.chart.price[data-drawn] canvas'))
      await page.context().close()
    }
  await browser.close()
  const line = (name: string, times: readonly number[] = []): string =>
    `${name}: median ${median(times).toFixed(0)} ms, p95 ${p95(times).toFixed(0)} ms`
  console.log(line('shell painted', painted))
  console.log(line('page running', shell))
  console.log(line('200 positions drawn', state))
  console.log(line('chart drawn, opened directly', chart))
}

async function heapOf(session: CDPSession): Promise<{ mb: number; nodes: number; listeners: number }> {
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { metrics } = await session.send('Performance.getMetrics')
  const metric = (name: string): number => metrics.find((one) => one.name === name)?.value ?? 0
  return { mb: usedSize / 1e6, nodes: metric('Nodes'), listeners: metric('JSEventListeners') }
}

/** Pushes changes as fast as the page takes them, and opens other pages between them. */
async function measureHeap(desk: FixtureDesk, url: string): Promise<void> {
  const browser = await launch('--js-flags=--expose-gc')
  const watched = await WatchedPage.open(browser, url, { viewport: { width: 1400, height: 900 } })
  const { page } = watched
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  await watched.go('overview')
  const view = recordedView(SIZE)
  const periods = Math.max(2, Math.round((hours * 60) / PERIOD_MINUTES))
  for (let period = 1, count = 0; period <= periods; period++) {
    for (let change = 0; change < PERIOD_MINUTES * CHANGES_PER_MINUTE; change++, count++) {
      const rows = Array.from(
        { length: CHANGED_ROWS },
        (_none, row) => view.positions[(count * CHANGED_ROWS + row) % 200]!,
      )
      const positions = Object.fromEntries(
        rows.map((row) => [row.id, { ...row, changePercent: (count % 800) / 10 - 40 }]),
      )
      desk.push({ set: { rows: count, title: `change ${count}` }, positions })
      desk.log([
        { time: NOW, seq: 2e6 + count, n: 0, level: 'info', bot: 'dips', mint: '', code: 'X', text: `line ${count}` },
      ])
      if (change % 400 === 399) await page.getByText(`change ${count}`, { exact: true }).waitFor()
    }
    for (const route of BETWEEN) {
      await page.evaluate((to) => {
        location.hash = `#/${to}`
      }, route)
      await page.waitForTimeout(300)
    }
    const { mb, nodes, listeners } = await heapOf(session)
    if (period === 1 || period === periods || period % 6 === 0)
      console.log(
        `heap after ${((period * PERIOD_MINUTES) / 60).toFixed(1)} h: ${mb.toFixed(2)} MB, ${nodes} nodes, ${listeners} listeners`,
      )
  }
  if (watched.problems.length > 0) console.log(watched.problems.slice(0, 5))
  await browser.close()
}

if (CHROMIUM === undefined) console.error(NO_CHROMIUM)
else {
  const desk = new FixtureDesk()
  desk.size = SIZE
  const url = await desk.listen()
  console.log(
    `load of the machine ${loadavg()
      .map((one) => one.toFixed(1))
      .join(', ')}`,
  )
  await measureLoads(url)
  await measureHeap(desk, url)
  console.log(
    `load of the machine ${loadavg()
      .map((one) => one.toFixed(1))
      .join(', ')}`,
  )
  await desk.close()
}
