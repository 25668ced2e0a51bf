import { relative } from 'node:path'
import { configOf, withJournal } from '../configuration.ts'
import { defineCommand, RUNNING, WRITE_JOURNAL } from '../options.ts'
import { runBots } from './run-bots.ts'

/** Records the whole feed (trades, new tokens and price updates) without trading. */
export const command = defineCommand({
  options: { journal: WRITE_JOURNAL, ...RUNNING },
  async run([file = ''], { journal, seconds, speed, json }) {
    const config = withJournal(await configOf([file]), journal)
    const title = `recording, ${relative('', file)}`
    const { counters, exitCode } = await runBots(
      { ...config, bots: [] },
      { allow: 'paper', title, record: true, seconds, speed, json },
    )
    if (json) console.log(JSON.stringify({ ...counters, journal: config.journal.path }))
    else console.log(`${counters.events} market rows recorded in ${config.journal.path}`)
    return exitCode
  },
})
