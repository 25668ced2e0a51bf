import { ExitCode } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import { backUpOnline, type OnlineBackup } from '../../journal/online-backup.ts'
import { stampOf } from '../../runtime/time-text.ts'
import { defineCommand, flag, JSON_LINE } from '../options.ts'
import { withSteps } from '../terminal.ts'

/** Copies a journal, even while a process writes it, and checks the copy. Also restores a backup. Exits 1 if rows of
 *  the journal were changed after they were written; the copy is then kept, but does not replace another backup. */
export const command = defineCommand({
  options: {
    replace: flag('replace an existing backup of the same name after the new one was checked'),
    json: JSON_LINE,
  },
  async run([from = '', to = ''], { replace, json }) {
    const backup = await withSteps((step) =>
      backUpOnline(from, to, {
        replace,
        copied: (bytes, of) => step('copy', 'bytes').at(bytes, of),
        checking: () => step('copy', 'bytes').note('checking the copy'),
      }),
    )
    const findings = backup.state?.findings ?? 0
    if (json) console.log(JSON.stringify({ from, to, ...backup }))
    else console.log(textOf(from, to, backup))
    if (findings > 0)
      console.error(
        `sluice: ${from} does not match its checksums: ${counted(findings, 'row')} changed after the recording, or missing. The copy has the same defects; \`sluice replay --journal ${to}\` lists them`,
      )
    return findings > 0 ? ExitCode.failed : ExitCode.done
  },
})

function textOf(from: string, to: string, { bytes, days, dayBytes, schema, state }: OnlineBackup): string {
  const archived =
    days === 0 ? '' : `, and ${counted(days, 'archived day')} in ${to}.tape (${(dayBytes / 1e6).toFixed(1)} MB)`
  const copy = `${to} is a copy of ${from} (${(bytes / 1e6).toFixed(1)} MB)${archived}`
  if (state === null) return `${copy}, checked for damage; its schema ${schema} is older, so its rows were not checked`
  const { lastSeq, lastTime, positions, openOrders, findings } = state
  const end = lastTime === 0 ? 'without rows' : `up to row ${lastSeq} of ${stampOf(lastTime)}`
  const open = `${counted(positions, 'open position')}, ${counted(openOrders, 'open order')}`
  return `${copy} ${end}, with ${open}; ${findings === 0 ? 'no damage, all checksums match' : 'no damage'}`
}
