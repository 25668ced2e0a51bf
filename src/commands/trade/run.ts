import { relative } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import type { Config } from '../../config/config.ts'
import { configOf, withJournal } from '../configuration.ts'
import { LOG_LEVEL, levelOf } from '../log-level.ts'
import { defineCommand, flag, ISOLATE, NO_DESK, RUNNING, WRITE_JOURNAL } from '../options.ts'
import { confirm } from '../terminal.ts'
import { checkText } from './check-text.ts'
import { runBots } from './run-bots.ts'

/** Runs the bots of one or several files. Bots with `mode: live` trade only with --live and a confirmation. */
export const command = defineCommand({
  options: {
    live: flag('let bots with `mode: live` trade real money'),
    yes: flag('confirm --live without a prompt'),
    isolate: ISOLATE,
    journal: WRITE_JOURNAL,
    logLevel: LOG_LEVEL,
    noDesk: NO_DESK,
    ...RUNNING,
  },
  async run(files, { live, yes, isolate, journal, logLevel: level, noDesk, seconds, speed, json }) {
    const logLevel = levelOf('--log-level', level)
    const config = withJournal(await configOf(files), journal)
    if (config.bots.length === 0)
      throw new SluiceError(
        'the configuration has no bots; `sluice record` records the feed without bots',
        ExitCode.usage,
      )
    if (live) await confirmLive(config, yes)
    const title = files.map((file) => relative('', file)).join(', ')
    const { counters, exitCode } = await runBots(config, {
      allow: live ? 'live' : 'paper',
      isolate: live || isolate,
      ...{ logLevel, title, seconds, speed, json, desk: !noDesk },
    })
    const { events, orders, fills } = counters
    if (json) console.log(JSON.stringify({ ...counters, journal: config.journal.path }))
    else
      console.log(
        `${counted(events, 'market row')}, ${counted(orders, 'order')}, ${counted(fills, 'fill')}; journal ${config.journal.path}`,
      )
    return exitCode
  },
})

/** Shows the worst case of the live bots, and asks a person to confirm it. */
export async function confirmLive(config: Config, yes: boolean): Promise<void> {
  if (!config.bots.some(({ mode }) => mode === 'live'))
    throw new SluiceError('--live is given, but no bot has mode: live', ExitCode.usage)
  if (config.service.kind === 'sandbox') return
  console.error(checkText(config))
  await confirm({ option: '--live', question: 'Trade with real money?', yes })
}
