import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { RESULTS, resultFolders } from '../../backtest/results-folder.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { deskFrom } from '../../config/convert-sections.ts'
import { neighbourHint } from '../../journal/database.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { isSessionName, SESSION_NAME } from '../../live/control/command.ts'
import { createLog } from '../../runtime/log.ts'
import { DEFAULT_JOURNAL, defineCommand, flag, number, PROCESS, text } from '../options.ts'
import { control } from '../trade/control.ts'
import { untilInterrupted } from '../trade/run-bots.ts'

/** Serves the desk of a recorded journal until Ctrl-C. With `link`, makes a login link of a running desk. */
export const command = defineCommand({
  options: {
    readOnly: flag('with `link`: make a link to a read-only session'),
    name: text('<name>', 'with `link`: name of the session in the journal and in the list of sessions', ''),
    port: number('<n>', 'serve on this port of loopback (default: the first free one from 7420)', {
      integer: true,
      min: 0,
      max: 65535,
    }),
    printLink: flag('print the login link even if stdout is not a terminal'),
    ...PROCESS,
  },
  async run([what], { readOnly, name, port, printLink, ...process }) {
    if (what !== undefined && what !== 'link')
      throw new SluiceError(`desk ${what}: expected \`desk\` or \`desk link\``, ExitCode.usage)
    if (what === undefined) return serveRecorded(process.journal ?? DEFAULT_JOURNAL, port, printLink)
    if (!isSessionName(name)) throw new SluiceError(`--name: ${SESSION_NAME}`, ExitCode.usage)
    return control({ command: 'desk-link', readOnly, name }, process)
  },
})

/** `given`: a journal, a folder with the results of a backtest (which contains a journal) or of a sweep, or a folder
 *  that contains several such folders. */
async function serveRecorded(given: string, port: number | undefined, printLink: boolean): Promise<number> {
  const isFolder = statSync(given, { throwIfNoEntry: false })?.isDirectory() === true
  const journal = isFolder ? join(given, RESULTS) : given
  const results = isFolder && !existsSync(journal) && resultFolders(given).length > 0 ? resolve(given) : undefined
  if (results === undefined && !existsSync(journal))
    throw new SluiceError(`${journal}: no such journal${neighbourHint(journal)}`)
  // Throws here if the journal cannot be read. Otherwise the desk would start, and its page would wait for data without
  // end.
  if (results === undefined) openReader(journal).close()
  const { Desk } = await import('../../desk/host.ts')
  const log = createLog({ level: 'info', format: process.stderr.isTTY ? 'text' : 'json', redact: (line) => line })
  const config = deskFrom({ readOnly: true, ...(port !== undefined && { port }) }, '')
  const interrupted = untilInterrupted()
  const desk = new Desk({ config, journal: resolve(journal), results, log, alert: () => {} })
  try {
    const origin = await desk.ready
    if (origin === undefined) return ExitCode.failed
    const isShown = printLink || process.stdout.isTTY === true
    console.log(isShown ? await desk.link(true) : `${origin} (--print-link prints a login link)`)
    return (await interrupted.promise).exitCode
  } finally {
    interrupted.release()
    await desk.close()
  }
}
