// Runs the bots of config/demo.yaml with `sluice demo --isolate`, on a market that launches 26,000 tokens per day at
// 100 times its speed. Measures the memory of main thread and engine, and the disk use, after each hour of the market.
// `npm run soak -- --seconds 900`.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DAY, dayOf, HOUR } from '../src/base/units.ts'
import type { Block } from '../src/market/block.ts'
import type { Journal } from '../src/orders/ports.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const SPEED = 100
/** The sandbox's default. */
const LAUNCHES_AN_HOUR = 0.3 * 3600
const MB = 2 ** 20

/** Measurements at the end of an hour of the market. Sizes are in bytes, after a garbage collection. */
interface Reading {
  readonly hour: number
  readonly rows: number
  readonly orders: number
  readonly liveTokens: number
  readonly main: number
  readonly engine: number
  readonly rss: number
  /** Part of the resident set that maps no file (RssAnon of Linux); 0 if the system does not report it. */
  readonly anonymous: number
  readonly sandboxRss: number
  readonly journal: number
}

/** Counts the tokens that traded on this day or the day before. Sluice forgets all other tokens. */
class LiveTokens {
  #today = new Set<number>()
  #yesterday = new Set<number>()
  #day = 0

  watch(journal: Journal): Journal {
    return {
      ...journal,
      rows: (block, from, to, firstSeq) => {
        this.#see(block, from, to)
        journal.rows(block, from, to, firstSeq)
      },
    }
  }

  get size(): number {
    let size = this.#today.size
    for (const token of this.#yesterday) if (!this.#today.has(token)) size++
    return size
  }

  #see(block: Block, from: number, to: number): void {
    const day = dayOf(block.time[from] as number)
    if (day !== this.#day) {
      this.#yesterday = this.#today
      this.#today = new Set()
      this.#day = day
    }
    for (let row = from; row < to; row++) this.#today.add(block.token[row] as number)
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** Resident set of a process on Linux; 0 elsewhere. */
function bytesOf(process: string, name: 'VmRSS' | 'RssAnon'): number {
  if (!existsSync('/proc/self/status')) return 0
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${process}/status`, 'utf8'))?.[1] ?? 0) * 1024
}

/** Returns the resident set of the sandbox's child process, bytes. */
function sandboxRss(): number {
  for (const thread of existsSync('/proc/self/task') ? readdirSync('/proc/self/task') : []) {
    const children = readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean)
    const sandbox = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('sandbox'))
    if (sandbox !== undefined) return bytesOf(sandbox, 'VmRSS')
  }
  return 0
}

/** Growth of a measurement per market hour, as the slope of a least-squares line. `of`: reads the measurement. */
function slope(readings: readonly Reading[], of: (reading: Reading) => number): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const x = mean(readings.map(({ hour }) => hour))
  const y = mean(readings.map(of))
  const up = readings.reduce((sum, one) => sum + (one.hour - x) * (of(one) - y), 0)
  return up / readings.reduce((sum, { hour }) => sum + (hour - x) ** 2, 0)
}

const mb = (bytes: number): string => (bytes / MB).toFixed(1)

function line({ hour, rows, orders, liveTokens, ...bytes }: Reading): string {
  const { main, engine, rss, anonymous, sandboxRss: sandbox, journal } = bytes
  const cells = [hour, rows, orders, liveTokens, ...[main, engine, rss, anonymous, sandbox, journal].map(mb)]
  return cells.map((cell) => String(cell).padStart(10)).join('')
}

/** Runs the bots for this many seconds. Measures and prints a line after each market hour, and returns the
 *  measurements. */
async function soak(folder: string, seconds: number): Promise<Reading[]> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { configOf } = await import('../src/commands/configuration.ts')
  const { startBots } = await import('../src/live/start-bots.ts')
  const demo = await configOf([fileURLToPath(new URL('../config/demo.yaml', import.meta.url))])
  const config = join(folder, 'soak.yaml')
  const strategy = fileURLToPath(new URL('soak-collector.ts', import.meta.url))
  writeFileSync(config, JSON.stringify({ service: 'sandbox', bots: [{ name: 'collector', strategy }] }))
  const collector = await configOf([config])
  const path = join(folder, 'soak.db')
  const live = new LiveTokens()
  let engine = 0
  const running = await startBots(
    {
      ...demo,
      bots: [...demo.bots, ...collector.bots],
      journal: { ...demo.journal, path, keepTapeDays: (2 * DAY) / (24 * HOUR) },
    },
    {
      ...{ allow: 'paper', speed: SPEED, isolate: true, logFormat: 'json' },
      probe: { watch: (journal) => live.watch(journal), answered() {}, sellUnit: () => 'unproved' },
      writeLog: (text) => {
        const [, heap, buffers] = /holds (\d+) and (\d+) bytes/.exec(text) ?? []
        if (heap === undefined) process.stderr.write(text)
        else engine = Number(heap) + Number(buffers)
      },
    },
  )
  const readings: Reading[] = []
  const began = performance.now()
  const read = (): void => {
    collect()
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
    const { rows, orders } = running.model
    const journal = sizeOf(path) + sizeOf(`${path}-wal`)
    const hour = readings.length + 1
    const reading = { hour, rows, orders, liveTokens: live.size, main: heapUsed + arrayBuffers, engine, rss }
    readings.push({ ...reading, anonymous: bytesOf('self', 'RssAnon'), sandboxRss: sandboxRss(), journal })
    console.log(line(readings.at(-1) as Reading))
  }
  const timer = setInterval(read, HOUR / SPEED)
  const ended = new Promise<void>((resolve) => {
    setTimeout(resolve, seconds * 1000)
    process.once('SIGINT', () => resolve())
  })
  const ending = await Promise.race([running.ended, ended])
  clearInterval(timer)
  await running.stop()
  if (ending !== undefined) throw new Error(ending.message)
  console.log(`${((performance.now() - began) / 1000).toFixed(0)} s`)
  return readings
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '900' },
  },
})
const seconds = Number(values.seconds)
if (!(seconds > 0)) {
  console.error('--seconds must be above 0')
  process.exit(2)
}
const heads = ['hour', 'rows', 'orders', 'live', 'main MB', 'engine MB', 'rss MB', 'anonymous', 'sandbox', 'journal']
console.log(heads.map((head) => head.padStart(10)).join(''))
const readings = await inTemporaryFolder((folder) => soak(folder, seconds))
/** Measurements after the first two days of the market. From then on, all modules are loaded, and the number of tokens
 *  in memory no longer grows. */
const settled = readings.filter(({ hour }) => hour > (2 * DAY * SPEED) / HOUR)
if (settled.length > 2) {
  for (const part of ['main', 'engine', 'rss', 'anonymous', 'sandboxRss', 'journal', 'liveTokens'] as const) {
    const perHour = slope(settled, (reading) => reading[part])
    console.log(
      `${part}: ${(perHour / 1024).toFixed(1)} kB per market hour, ${(perHour / LAUNCHES_AN_HOUR).toFixed(1)} bytes per launch`,
    )
  }
}
process.exit(0)
