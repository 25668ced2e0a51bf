import { relative } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import type { Options } from '../options.ts'
import { confirm, counted } from '../terminal.ts'
import { checkText } from './check-text.ts'
import { configOf, runBots } from './run-bots.ts'

/** `sluice run FILE... [--live]`: the bots of one or several files; those with `mode: live` trade only with --live,
 *  confirmed. */
export async function run(files: string[], { live, yes, isolate, seconds, json }: Options): Promise<number> {
  const config = await configOf(files)
  if (config.bots.length === 0)
    throw new SluiceError('there is no bot in it; `sluice record` journals the feed without one', ExitCode.usage)
  if (live === true) await confirmLive(config, yes === true)
  const title = files.map((file) => relative('', file)).join(', ')
  const { counters, exitCode } = await runBots(config, {
    allow: live === true ? 'live' : 'paper',
    isolate: live === true || isolate === true,
    ...{ title, seconds, json },
  })
  if (json === true) console.log(JSON.stringify({ ...counters, journal: config.journal.path }))
  else
    console.log(
      `${counters.events} market rows, ${counted(counters.orders, 'order')}, ${counted(counters.fills, 'fill')}; journal ${config.journal.path}`,
    )
  return exitCode
}

/** Real money only after everything that speaks against it was said. */
async function confirmLive(config: Config, yes: boolean): Promise<void> {
  if (!config.bots.some(({ mode }) => mode === 'live'))
    throw new SluiceError('--live was given, but no bot has mode: live', ExitCode.usage)
  if (config.service.kind === 'sandbox') return
  console.error(checkText(config))
  await confirm('--live', 'Trade with real money?', yes)
}
