// A sweep, compared with its single backtests, and its threads, compared with those of a bare loop. Alone: `npx node
// bench/sweep.ts`.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { runBacktest } from '../src/backtest/run.ts'
import { paramsOf, runSets, SETS_AN_ENGINE, type SweepGround } from '../src/backtest/sweep/run-sets.ts'
import type { SweepSet } from '../src/backtest/sweep/sweep.ts'
import { SweepThreads } from '../src/backtest/sweep/threads.ts'
import { openReader } from '../src/journal/reader/reader.ts'
import { configOf, writeTape } from './backtest.ts'
import { costOf } from './command.ts'
import { type Figure, isMain, pairs, printFigures, summarize, threadMs } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const SETS = 64
/** Number of single runs that represent the 64. */
const SINGLES = 8
/** 1 M rows. See `sweep-lengths.ts` for other lengths. */
const BLOCKS = 32
const SMOKE_BLOCKS = 1
const RUNS = 3
export const THREADS = 2

/** The loop of one thread: it runs for a given number of turns, independently of other work. */
const BARE = `
const { workerData, parentPort } = require('node:worker_threads')
const columns = Array.from({ length: 4 }, () => new Float64Array(32768).fill(1.5))
let sum = 0
for (let turn = 0; turn < workerData; turn++)
  for (let row = 0; row < 32768; row++) {
    const event = { a: columns[0][row], b: columns[1][row], c: columns[2][row], d: columns[3][row] }
    if (event.a > 0) sum += event.b + event.c / event.d
  }
parentPort.postMessage(sum)
`
const BARE_TURNS = 16_000

/** dip-buyer over the rows of a tape. Its YAML is in the folder. */
export async function groundIn(folder: string, params = {}): Promise<SweepGround> {
  const strategy = join(folder, 'dip-buyer.ts')
  copyFileSync(fileURLToPath(new URL('../strategies/dip-buyer.ts', import.meta.url)), strategy)
  const config = await configOf(folder, { strategy, params })
  return { config, bot: config.bots[0] as SweepGround['bot'], splitRow: undefined }
}

export function setsOf(ground: SweepGround): SweepSet[] {
  return Array.from({ length: SETS }, (_, index) => ({
    set: index + 1,
    params: paramsOf(ground.bot, { dropPercent: 10 + index / 2 }) as SweepSet['params'],
  }))
}

/** The middle set of each eight, which has about the average number of orders. */
export function someOf(sets: readonly SweepSet[]): SweepSet[] {
  return sets.filter((_set, index) => index % (SETS / SINGLES) === SETS / SINGLES / 2)
}

/** Total processor time, ms, of one backtest for each set. Each backtest reads the tape from disk. */
export function singlesMs({ config, bot }: SweepGround, sets: readonly SweepSet[], tape: string): number {
  const began = threadMs()
  for (const { params } of sets) {
    const reader = openReader(tape)
    runBacktest({ ...config, bots: [{ ...bot, params }] }, reader.market(), { partial: true })
    reader.close()
  }
  return threadMs() - began
}

/** Processor time of the sets, eight per engine. */
export function sweepMs(ground: SweepGround, sets: readonly SweepSet[], tape: string): number {
  const began = threadMs()
  const reader = openReader(tape)
  for (let from = 0; from < sets.length; from += SETS_AN_ENGINE)
    runSets(ground, sets.slice(from, from + SETS_AN_ENGINE), reader.market())
  reader.close()
  return threadMs() - began
}

/** Wall time of the sets in this many threads, as the command runs them (pass after pass, including the start of the
 *  threads); wall time per set of the last pass, when each thread has compiled its code; and processor time of all,
 *  including the compiler. */
export async function threadsMs(
  ground: SweepGround,
  sets: readonly SweepSet[],
  path: string,
  threads: number,
): Promise<{ all: number; warm: number; processor: number }> {
  const reader = openReader(path)
  const began = performance.now()
  const before = process.cpuUsage()
  const all = new SweepThreads(ground, { paths: [path], market: reader.market() }, threads)
  let warm = 0
  for (let from = 0; from < sets.length; from += SETS_AN_ENGINE * threads) {
    const passed = performance.now()
    const some = sets.slice(from, from + SETS_AN_ENGINE * threads)
    const parts = Array.from({ length: threads }, (_, hand) => some.filter((_set, index) => index % threads === hand))
    await all.run(parts, () => {})
    warm = (performance.now() - passed) / some.length
  }
  await all.end()
  reader.close()
  const { user, system } = process.cpuUsage(before)
  return { all: performance.now() - began, warm, processor: (user + system) / 1000 }
}

export async function bareMs(threads: number, turns = BARE_TURNS): Promise<number> {
  const began = performance.now()
  await Promise.all(
    Array.from({ length: threads }, () => {
      const worker = new Worker(BARE, { eval: true, workerData: turns / threads })
      return new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject))
    }),
  )
  return performance.now() - began
}

/** Processor time of the single commands that a user would run instead, including all threads and the start of each. */
async function commandsMs(folder: string, sets: readonly SweepSet[], tape: string): Promise<number> {
  let ms = 0
  for (const { params } of someOf(sets)) {
    await groundIn(folder, params as object)
    ms += costOf('backtest', join(folder, 'bench.yaml'), '--journal', tape).processorMs
  }
  return ms * (SETS / SINGLES)
}

function commandMs(folder: string, tape: string): number {
  const drops = `dropPercent=10:${10 + (SETS - 1) / 2}:0.5`
  const yaml = join(folder, 'bench.yaml')
  return costOf('sweep', yaml, '--journal', tape, '--range', drops, '--jobs', '1').processorMs
}

export async function benchSweep(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const [blocks, runs] = smoke ? [SMOKE_BLOCKS, 1] : [BLOCKS, RUNS]
    const tape = join(folder, 'tape.db')
    await writeTape(tape, blocks)
    const ground = await groundIn(folder)
    const sets = setsOf(ground)
    const cost = await pairs(
      runs,
      () => sweepMs(ground, sets, tape),
      () => singlesMs(ground, someOf(sets), tape) * (SETS / SINGLES),
    )
    const single = join(folder, 'single')
    mkdirSync(single)
    const commands = await pairs(
      runs,
      () => commandMs(folder, tape),
      () => commandsMs(single, sets, tape),
    )
    const turns = smoke ? BARE_TURNS / 8 : BARE_TURNS
    const warm: number[] = []
    const gain = await pairs(
      runs,
      async () => {
        const [one, several] = [await threadsMs(ground, sets, tape, 1), await threadsMs(ground, sets, tape, THREADS)]
        warm.push(one.warm / several.warm)
        return one.all / several.all
      },
      async () => (await bareMs(1, turns)) / (await bareMs(THREADS, turns)),
    )
    return [
      { name: `sweep: ${SETS} single backtests`, unit: 'ms', ...cost.bare },
      { name: `sweep: ${SETS} sets`, unit: 'ms', ...cost.ours },
      { name: `sweep: ${SETS} sets, one core`, unit: 'x singles', goal: 0.5, atMost: true, ...cost.ratio },
      { name: `sweep: ${SETS} commands of a backtest`, unit: 'ms', ...commands.bare },
      { name: `sweep: the command, ${SETS} sets, one thread`, unit: 'ms', ...commands.ours },
      { name: `sweep: the command, ${SETS} sets, one thread`, unit: 'x commands', ...commands.ratio },
      { name: `sweep: bare loop, gain of ${THREADS} threads`, unit: 'x', ...gain.bare },
      { name: `sweep: gain of ${THREADS} threads`, unit: 'x', ...gain.ours },
      { name: `sweep: gain of ${THREADS} threads`, unit: 'x bare', goal: 0.9, ...gain.ratio },
      { name: `sweep: gain of ${THREADS} threads, last pass`, unit: 'x', ...summarize(warm) },
    ]
  })
}

if (isMain(import.meta.url)) printFigures(await benchSweep(process.argv.includes('--smoke')))
