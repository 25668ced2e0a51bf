import '../../runtime/failpoint.ts'
import { createHash } from 'node:crypto'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { failpoint } from '../../base/failpoint.ts'
import type { Json } from '../../base/json.ts'
import { codeHash } from '../../config/hashes.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import { TAPE_IDENTITY, tapeHash } from '../tape-identity.ts'
import { paramsOf, runSets, type SweepGround, setsAnEngine, VariedBots } from './run-sets.ts'
import type { Point } from './space.ts'
import type { SweepStore } from './store.ts'
import { ranked, type SetResult, type SweepSet } from './sweep.ts'
import { SweepThreads, type SweptTape } from './threads.ts'

/** Returns the param sets that the strategy's schema and the checks of the configuration accept, and the number of
 *  points (combinations of values) that they refuse. Throws SluiceError if no set is accepted. */
export async function setsOf(
  { config, bot }: Pick<SweepGround, 'config' | 'bot'>,
  points: readonly Point[],
): Promise<{ sets: SweepSet[]; refused: number; varied: VariedBots }> {
  const varied = new VariedBots({ config, bot })
  const accepted: Json[] = []
  let first = `the params of ${bot.strategy.name} accept none of these values`
  for (const params of points.map((point) => paramsOf(bot, point))) {
    if (params === undefined) continue
    const loaded = await varied.load({ params })
    if (!('problem' in loaded)) accepted.push(params)
    else if (accepted.length === 0)
      first = `no combination of these settings is valid; errors of the first one:\n${loaded.problem}`
  }
  if (accepted.length === 0) throw new SluiceError(first, ExitCode.usage)
  const sets = accepted.map((params, index) => ({ set: index + 1, params }))
  return { sets, refused: points.length - accepted.length, varied }
}

/** Returns a hash of everything that the results depend on. Reads the tape once. */
export function sweepIdentity(
  { config, bot, splitRow }: SweepGround,
  sets: readonly SweepSet[],
  market: Market,
): string {
  const tape = [market.rows, market.stretches, TAPE_IDENTITY, tapeHash(market)]
  const parts = [config.hash, codeHash([bot.strategy]), bot.name, splitRow, sets, ...tape]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

export interface RunOptions {
  readonly jobs: number
  readonly varied: VariedBots
  /** Keeps the results of finished sets, so that an interrupted sweep can continue; undefined if they are not kept. */
  readonly store: SweepStore | undefined
  /** Starts a progress display for a total of `rows` market rows. */
  readonly showProgress: (rows: number) => { at(rows: number): void; end(): void }
  /** Starts to listen for Ctrl-C, and returns a promise that Ctrl-C rejects. Called only if the sweep runs in threads.
   *  Otherwise the sweep blocks this thread, and Ctrl-C ends the process. */
  readonly watchInterrupt: () => { readonly promise: Promise<never>; readonly release: () => void }
}

/** Runs the param sets whose results the store does not contain, and stores the results after each pass over the
 *  tape. */
export async function runSweep(
  ground: SweepGround,
  sets: readonly SweepSet[],
  tape: SweptTape,
  { jobs, varied, store, showProgress, watchInterrupt }: RunOptions,
): Promise<SetResult[]> {
  const results = store?.results() ?? []
  const known = new Set(results.map(({ set }) => set))
  const left = sets.filter(({ set }) => !known.has(set))
  const { rows } = tape.market
  const passes = Math.ceil(left.length / (jobs * setsAnEngine(ground.bot, left)))
  const progress = showProgress(rows * passes)
  const threadCount = Math.min(jobs, left.length)
  const threads = threadCount > 1 || passes > 1 ? new SweepThreads(ground, tape, threadCount) : undefined
  const interrupted = threads && watchInterrupt()
  try {
    for (let pass = 0; pass < passes; pass++) {
      const some = left.slice((pass * left.length) / passes, ((pass + 1) * left.length) / passes)
      const at = (done: number): void => progress.at(pass * rows + done)
      const found =
        threads === undefined || interrupted === undefined
          ? runSets(ground, some, tape.market, at, varied)
          : await Promise.race([interrupted.promise, threads.run(dealt(some, Math.min(threadCount, some.length)), at)])
      store?.add(found)
      failpoint('sweep-pass')
      results.push(...found)
    }
  } finally {
    interrupted?.release()
    progress.end()
    await threads?.end()
  }
  return ranked(results)
}

/** Distributes the param sets to the threads one by one, so that neighbouring sets, which trade in a similar way,
 *  run in different threads. Each thread then gets about the same amount of work. */
function dealt<T>(items: readonly T[], hands: number): T[][] {
  return Array.from({ length: hands }, (_, hand) => items.filter((_item, index) => index % hands === hand))
}
