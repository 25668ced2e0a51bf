// Measures a sweep over tapes of several lengths, to find the length from which on the sweep reaches its goals. To run
// it alone: `npx node bench/sweep-lengths.ts [MILLIONS...]`.
import { writeStrategies } from './backtest.ts'
import { type Figure, isMain, printFigures } from './figure.ts'
import { commandFigures } from './sweep.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const MILLIONS = [0.25, 1, 4, 16]
const SMOKE_MILLIONS = [0.03]

/** Measures sweeps over tapes of several lengths. There is only one pair of runs for each length, because the longest
 *  takes minutes. `millions`: the lengths, millions of rows. */
export async function benchSweepLengths(smoke = false, millions = MILLIONS): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    writeStrategies(folder)
    const figures: Figure[] = []
    for (const rows of smoke ? SMOKE_MILLIONS : millions) figures.push(...(await commandFigures(folder, rows * 1e6, 1)))
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
