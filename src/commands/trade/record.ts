import { relative } from 'node:path'
import type { Options } from '../options.ts'
import { configOf, runBots } from './run-bots.ts'

/** `sluice record FILE`: journals the feed, all three firehoses of it, and trades nothing. */
export async function run([file = '']: string[], { seconds }: Options): Promise<number> {
  const config = await configOf([file])
  const { counters, exitCode } = await runBots(
    { ...config, bots: [] },
    { allow: 'paper', title: `recording, ${relative('', file)}`, seconds, record: true },
  )
  console.log(`${counters.events} market rows in ${config.journal.path}`)
  return exitCode
}
