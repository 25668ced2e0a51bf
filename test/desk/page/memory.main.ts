// Shows the page of the desk for 8 simulated hours in Chromium: the page's clock runs as fast as the page can follow,
// with four changes and log lines a second, 200 positions and 10,000 trades. Every ten minutes all pages are opened.
// Prints the heap after each hour, and fails if it has grown since the first quarter of the time.
// `npm run desk-memory -- --hours 0.5`
import { parseArgs } from 'node:util'
import type { CDPSession, Page } from 'playwright-core'
import { CHROMIUM, launch, NO_CHROMIUM, WatchedPage } from './browser.ts'
import { FixtureDesk } from './fixture-server.ts'
import { mintOf, NOW, recordedView } from './recorded-desk.ts'

const SIZE = { positions: 200, trades: 10_000 }
const STEP_SECONDS = 10
const CHANGES_PER_SECOND = 4
const CHANGED_ROWS = 5
const STEPS_OF_PERIOD = 60
const ROUTES = ['bots/momentum', `token/${mintOf(0)}`, 'money', 'log', 'orders', 'overview']
/** The time for which each page is shown while its requests are answered. */
const SHOWN_MS = 150
const AGAIN_MS = 3_000
const MOST_TRIES = 20
const MOST_GROWTH_MB = 1
const MOST_NODES_GROWTH = 1.2

interface Heap {
  readonly mb: number
  readonly nodes: number
  readonly listeners: number
}

async function heapOf(session: CDPSession): Promise<Heap> {
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { metrics } = await session.send('Performance.getMetrics')
  const metric = (name: string): number => metrics.find((one) => one.name === name)?.value ?? 0
  return { mb: usedSize / 1e6, nodes: metric('Nodes'), listeners: metric('JSEventListeners') }
}

/** Simulates ten seconds in which the desk sends changes to the page. `from` is the number of changes sent before. */
async function step(desk: FixtureDesk, page: Page, from: number): Promise<void> {
  const { positions } = recordedView(SIZE)
  const end = from + STEP_SECONDS * CHANGES_PER_SECOND
  for (let count = from; count < end; count++) {
    const rows = Array.from(
      { length: CHANGED_ROWS },
      (_none, row) => positions[(count * CHANGED_ROWS + row) % SIZE.positions]!,
    )
    const changed = rows.map((row) => [row.id, { ...row, changePercent: (count % 800) / 10 - 40 }])
    const time = NOW + (count * 1_000) / CHANGES_PER_SECOND
    desk.log([
      {
        ...{ time, seq: 2_000_000 + count, n: 0, level: 'info', bot: 'momentum', mint: '', code: 'X' },
        decision: '',
        text: `line ${count}`,
      },
    ])
    desk.push({ set: { time, title: `change ${count}` }, positions: Object.fromEntries(changed) })
  }
  await shown(desk, page, `change ${end - 1}`)
  await page.clock.runFor(STEP_SECONDS * 1_000)
}

/**
 * Waits until the page shows the title. Sends the title again if it does not appear: the page may have opened its
 * stream again, and the view at the beginning of a stream has the first title.
 */
async function shown(desk: FixtureDesk, page: Page, title: string): Promise<void> {
  const text = page.getByText(title, { exact: true })
  const isShown = (): Promise<boolean> =>
    text.waitFor({ timeout: AGAIN_MS }).then(
      () => true,
      () => false,
    )
  for (let tries = 0; !(await isShown()); tries++) {
    if (tries === MOST_TRIES) throw new Error(`the page never showed "${title}"`)
    desk.push({ set: { title } })
  }
}

/** Opens every page once, as a user does from time to time. */
async function openAll(page: Page): Promise<void> {
  for (const route of ROUTES) {
    await page.evaluate((to) => {
      location.hash = `#/${to}`
    }, route)
    await page.clock.runFor(1_000)
    await new Promise((resolve) => setTimeout(resolve, SHOWN_MS))
  }
}

async function heaps(hours: number): Promise<Heap[]> {
  const desk = new FixtureDesk()
  desk.size = SIZE
  const url = await desk.listen()
  const browser = await launch()
  try {
    const watched = await WatchedPage.open(browser, url, { viewport: { width: 1400, height: 900 } })
    const { page } = watched
    await page.clock.install({ time: NOW })
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable')
    await watched.go('overview')
    const found: Heap[] = []
    for (let period = 1, count = 0; period <= hours * 6; period++) {
      for (let one = 0; one < STEPS_OF_PERIOD; one++, count += STEP_SECONDS * CHANGES_PER_SECOND)
        await step(desk, page, count)
      await openAll(page)
      // A request that is not answered yet keeps the previous page in memory. The lowest of three readings therefore
      // counts.
      let heap = await heapOf(session)
      for (let reading = 0; reading < 2; reading++) {
        await page.clock.runFor(1_000)
        const next = await heapOf(session)
        if (next.mb < heap.mb) heap = next
      }
      found.push(heap)
      if (period <= 2 || period % 6 === 0 || period === hours * 6)
        console.log(
          `after ${(period / 6).toFixed(1)} h: ${heap.mb.toFixed(2)} MB, ${heap.nodes} nodes, ${heap.listeners} listeners`,
        )
    }
    if (watched.problems.length > 0) throw new Error(watched.problems.slice(0, 5).join('\n'))
    return found
  } finally {
    await browser.close()
    await desk.close()
  }
}

const { values } = parseArgs({ options: { hours: { type: 'string', default: '8' } } })
if (CHROMIUM === undefined) console.error(NO_CHROMIUM)
else {
  const began = performance.now()
  const found = await heaps(Number(values.hours))
  // In the first part of the time, the lists of the page are filled and its code is compiled.
  const [early, last] = [found[Math.max(1, Math.floor(found.length / 4))], found.at(-1)]
  if (early === undefined || last === undefined || last === early)
    throw new Error('--hours is too small: give at least 0.5')
  const growth = last.mb - early.mb
  const isFlat = growth <= MOST_GROWTH_MB && last.nodes <= early.nodes * MOST_NODES_GROWTH
  console.log(
    `${isFlat ? 'flat' : 'GROWN'}: ${growth.toFixed(2)} MB since the first quarter, at most ${MOST_GROWTH_MB} MB allowed; ${((performance.now() - began) / 1000).toFixed(0)} s`,
  )
  if (!isFlat) process.exitCode = 1
}
