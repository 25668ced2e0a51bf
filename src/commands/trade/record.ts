import { relative } from 'node:path'
import { defineCommand, SECONDS } from '../options.ts'
import { configOf, runBots } from './run-bots.ts'

/** Records the whole feed (trades, new tokens and price updates) without trading. */
export const command = defineCommand({
  options: { seconds: SECONDS },
  async run([file = ''], { seconds }) {
    const config = await configOf([file])
    const { counters, exitCode } = await runBots(
      { ...config, bots: [] },
      { allow: 'paper', title: `recording, ${relative('', file)}`, seconds, record: true },
    )
    console.log(`${counters.events} market rows recorded in ${config.journal.path}`)
    return exitCode
  },
})
