// Measures the highest resident set of whole `backtest` processes over tapes of several lengths. To run it alone: `npx
// node bench/memory.ts`.
import { join } from 'node:path'
import { writeStrategies } from './backtest.ts'
import { costOf } from './command.ts'
import { type Figure, isMain, printFigures } from './figure.ts'
import { writeConfig, writeTape } from './tape.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const MILLIONS = [1, 4, 16]
const MOST_MB = 250
export async function benchMemory(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    writeStrategies(folder)
    const config = writeConfig(folder, 'memory', { strategy: join(folder, 'dip-buyer.ts') })
    const figures: Figure[] = []
    const add = (name: string, megabytes: number): void => {
      const one = { median: megabytes, min: megabytes, max: megabytes }
      figures.push({ name: `memory: backtest, ${name}`, unit: 'MB', goal: MOST_MB, atMost: true, ...one })
    }
    for (const millions of smoke ? [0.1] : MILLIONS) {
      const tape = join(folder, `${millions}.db`)
      await writeTape(tape, millions * 1e6)
      add(`${millions} M rows`, costOf('backtest', config, '--journal', tape).megabytes)
      if (figures.length === 1) {
        const { megabytes } = costOf('backtest', config, '--journal', tape, '--out', join(folder, 'out'))
        add(`${millions} M rows with --out`, megabytes)
      }
    }
    return figures
  })
}

if (isMain(import.meta.url)) printFigures(await benchMemory(process.argv.includes('--smoke')))
