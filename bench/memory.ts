// The highest resident set of whole backtests by the command line, over tapes of several lengths. Alone: `npx node bench/memory.ts`.
import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROWS, writeTape } from './backtest.ts'
import { type Figure, isMain, printFigures } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const MILLIONS = [1, 4, 16]
const MOST_MB = 250
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** Tells it at the end, to whoever started the process. */
const TELLS = `data:text/javascript,process.on('exit',()=>console.error('kB '+process.resourceUsage().maxRSS))`

function residentMb(args: readonly string[]): number {
  const { status, stderr } = spawnSync(process.execPath, ['--import', TELLS, MAIN, 'backtest', ...args, '--json'], {
    encoding: 'utf8',
  })
  const kilobytes = /^kB (\d+)$/m.exec(stderr)?.[1]
  if (status !== 0 || kilobytes === undefined) throw new Error(`the backtest ended with ${status}: ${stderr}`)
  return Number(kilobytes) / 1024
}

/** With `--out` only over the shortest tape: its further runs take a hundred times as long. */
export async function benchMemory(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const strategy = join(folder, 'dip-buyer.ts')
    const config = join(folder, 'memory.yaml')
    copyFileSync(fileURLToPath(new URL('../strategies/dip-buyer.ts', import.meta.url)), strategy)
    const service = { baseUrl: 'https://service.example/api', wsUrl: 'wss://service.example/api/data' }
    const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 60 }
    writeFileSync(config, JSON.stringify({ service, bots: [{ name: 'bench', strategy, exits }] }))
    const figures: Figure[] = []
    const add = (name: string, megabytes: number): void => {
      const one = { median: megabytes, min: megabytes, max: megabytes }
      figures.push({ name: `memory: backtest, ${name}`, unit: 'MB', goal: MOST_MB, atMost: true, ...one })
    }
    for (const millions of smoke ? [0.1] : MILLIONS) {
      const tape = join(folder, `${millions}.db`)
      await writeTape(tape, Math.ceil((millions * 1e6) / ROWS))
      add(`${millions} M rows`, residentMb([config, '--journal', tape]))
      if (figures.length === 1)
        add(`${millions} M rows with --out`, residentMb([config, '--journal', tape, '--out', join(folder, 'out')]))
    }
    return figures
  })
}

if (isMain(import.meta.url)) printFigures(await benchMemory(process.argv.includes('--smoke')))
