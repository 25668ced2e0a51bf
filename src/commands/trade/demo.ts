import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { counted } from '../../base/text.ts'
import { formatSol } from '../../base/units.ts'
import type { Counters } from '../../journal/reader/reader.ts'
import { configOf, withJournal } from '../configuration.ts'
import { defineCommand, ISOLATE, NO_DESK, RUNNING, text } from '../options.ts'
import { runBots } from './run-bots.ts'

/** Speed of the sandbox's market: twice real time, so that a new user sees trades within seconds. */
const SPEED = 2

/** Runs the bots of config/demo.yaml on an embedded sandbox, through the real executors. */
export const command = defineCommand({
  options: {
    ...RUNNING,
    journal: text('<db>', 'write this journal (default: a new file in data/)'),
    isolate: ISOLATE,
    noDesk: NO_DESK,
  },
  async run(_args, { seconds, speed = SPEED, journal, isolate, noDesk, json }) {
    const file = fileURLToPath(new URL('../../../config/demo.yaml', import.meta.url))
    const path = resolve(journal ?? newJournal())
    const config = await configOf([file])
    const title = `demo on an embedded sandbox, journal ${relative('', path)}`
    const options = { allow: 'paper', title, seconds, json, speed, isolate, desk: !noDesk } as const
    const { counters, exitCode } = await runBots(withJournal(config, path), options)
    if (json) console.log(JSON.stringify({ ...counters, journal: path }))
    else console.log(summary(counters, relative('', path)))
    return exitCode
  },
})

function newJournal(): string {
  return `data/demo-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.db`
}

function summary({ events, orders, fills, positions, realizedSol, feesSol }: Counters, path: string): string {
  return [
    `${counted(events, 'market row')}, ${counted(orders, 'order')}, ${counted(fills, 'fill')}, ${counted(positions, 'position')} still open`,
    `realised ${formatSol(Math.round(realizedSol * 1e9))} SOL before network fees and rent of ${formatSol(Math.round(feesSol * 1e9))} SOL`,
    '',
    'To list the fills and the closed positions, to verify every decision by a replay, and to continue the demo:',
    `  npx sluice fills --journal ${path}`,
    `  npx sluice round-trips --journal ${path}`,
    `  npx sluice replay --journal ${path}`,
    `  npx sluice demo --journal ${path}`,
  ].join('\n')
}
