// A sweep over tapes of several lengths: shows from which length on it reaches its goals. Alone: `npx node
// bench/sweep-lengths.ts [MILLIONS...]`.
import { join } from 'node:path'
import { ROWS, writeTape } from './backtest.ts'
import { type Figure, isMain, printFigures } from './figure.ts'
import { bareMs, groundIn, setsOf, singlesMs, someOf, sweepMs, THREADS, threadsMs } from './sweep.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const MILLIONS = [0.25, 1, 4, 16]
const SMOKE_MILLIONS = [0.03]

function figure(name: string, unit: string, value: number, goal?: Pick<Figure, 'goal' | 'atMost'>): Figure {
  return { name: `sweep-lengths: ${name}`, unit, median: value, min: value, max: value, ...goal }
}

/** One run of each, because the longest takes minutes. `millions`: of rows. */
export async function benchSweepLengths(smoke = false, millions = MILLIONS): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const ground = await groundIn(folder)
    const sets = setsOf(ground)
    const some = someOf(sets)
    const figures: Figure[] = []
    for (const rows of smoke ? SMOKE_MILLIONS : millions) {
      const tape = join(folder, `${rows}.db`)
      await writeTape(tape, Math.ceil((rows * 1e6) / ROWS))
      // compiles the hot functions
      if (figures.length === 0) for (const run of [singlesMs, sweepMs]) run(ground, some, tape)
      const ratio = sweepMs(ground, some, tape) / singlesMs(ground, some, tape)
      const bare = (await bareMs(1)) / (await bareMs(THREADS))
      const one = await threadsMs(ground, sets, tape, 1)
      const several = await threadsMs(ground, sets, tape, THREADS)
      const gain = one.all / several.all
      figures.push(
        figure(`${rows} M rows, one core`, 'x singles', ratio, { goal: 0.5, atMost: true }),
        figure(`${rows} M rows, processor time of ${THREADS} threads`, 'x one', several.processor / one.processor),
        figure(`${rows} M rows, gain of ${THREADS} threads`, 'x', gain),
        figure(`${rows} M rows, gain of ${THREADS} threads`, 'x bare', gain / bare, { goal: 0.9 }),
      )
    }
    return figures
  })
}

if (isMain(import.meta.url)) {
  const millions = process.argv
    .slice(2)
    .map(Number)
    .filter((rows) => rows > 0)
  const isSmoke = process.argv.includes('--smoke')
  printFigures(await benchSweepLengths(isSmoke, millions.length === 0 ? MILLIONS : millions))
}
