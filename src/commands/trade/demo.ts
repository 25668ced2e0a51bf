import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatSol } from '../../base/units.ts'
import type { Counters } from '../../journal/reader/reader.ts'
import type { Options } from '../options.ts'
import { counted } from '../terminal.ts'
import { configOf, runBots } from './run-bots.ts'

/** Of the market, where none is asked for: twice life, so that a newcomer sees bots trade within seconds. */
const SPEED = 2

/** `sluice demo`: the sandbox and the bots of config/demo.yaml on it, through the real executors. */
export async function run(_args: string[], { seconds, speed, journal, isolate, json }: Options): Promise<number> {
  const file = fileURLToPath(new URL('../../../config/demo.yaml', import.meta.url))
  const path = resolve(journal ?? newJournal())
  const config = await configOf([file])
  const { counters, exitCode } = await runBots(
    { ...config, journal: { ...config.journal, path } },
    {
      allow: 'paper',
      title: `demo on an embedded sandbox, journal ${relative('', path)}`,
      seconds,
      json,
      speed: speed ?? SPEED,
      isolate: isolate === true,
    },
  )
  if (json === true) console.log(JSON.stringify({ ...counters, journal: path }))
  else console.log(summary(counters, relative('', path)))
  return exitCode
}

/** A new file in data/ for each demo. */
function newJournal(): string {
  return `data/demo-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.db`
}

function summary({ events, orders, fills, positions, realizedSol, feesSol }: Counters, path: string): string {
  return [
    `${events} market rows, ${counted(orders, 'order')}, ${counted(fills, 'fill')}, ${counted(positions, 'position')} still held`,
    `realised ${formatSol(Math.round(realizedSol * 1e9))} SOL before network fees and rent of ${formatSol(Math.round(feesSol * 1e9))} SOL`,
    '',
    'To see what was bought and sold, to decide all of it again from the record, and to go on from there:',
    `  npx sluice fills --journal ${path}`,
    `  npx sluice replay --verify --journal ${path}`,
    `  npx sluice demo --journal ${path}`,
  ].join('\n')
}
