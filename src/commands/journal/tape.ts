import { ExitCode, SluiceError } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import { type Archived, archiveTape } from '../../journal/archive/archive-tape.ts'
import {
  forgetTape,
  type ListedDay,
  type ListedTape,
  listTape,
  restoreTape,
  verifyTape,
} from '../../journal/archive/recorded-days.ts'
import { DEFAULT_JOURNAL, defineCommand, flag, JSON_LINE, text } from '../options.ts'
import { table, withProgress } from '../terminal.ts'

const USAGE = '`sluice tape list`, `tape verify [DAY...]`, `tape archive`, `tape restore DAY...` or `tape forget DAY`'
const DAY = /^\d{4}-\d\d-\d\d$/

interface Values {
  readonly journal: string
  readonly until: string | undefined
  readonly held: boolean
  readonly shrink: boolean
  readonly json: boolean
}

/** Moves closed days of the tape to files next to the journal, lists and checks these files, and moves days back into
 *  the journal. Exits 1 if a file is missing or was changed. */
export const command = defineCommand({
  options: {
    journal: text('<db>', 'the journal of the tape', DEFAULT_JOURNAL),
    until: text('<day>', 'archive: move this day and all earlier days (default: every closed day)'),
    held: flag('archive: also move the days from the start of the oldest open position or order on'),
    shrink: flag('archive: remove the unused space from the journal file; no process may be running'),
    json: JSON_LINE,
  },
  async run([what = '', ...days], values: Values) {
    const wrong = [...days, ...(values.until === undefined ? [] : [values.until])].find((day) => !DAY.test(day))
    if (wrong !== undefined) throw usage(`${wrong}: expected a UTC day such as 2026-11-22`)
    if (what === 'list' && days.length === 0) return list(values)
    if (what === 'verify') return verify(days, values)
    if (what === 'archive' && days.length === 0) return archive(values)
    if (what === 'restore' && days.length > 0) return restore(days, values)
    if (what === 'forget' && days.length === 1) return forget(days[0] as string, values)
    throw usage(`tape ${[what, ...days].join(' ')}: expected ${USAGE}`)
  },
})

function usage(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}

function list({ journal, json }: Values): number {
  const tape = listTape(journal)
  const { folder, strange, journal: inJournal } = tape
  if (json) console.log(JSON.stringify({ journal, folder, days: tape.days.map(dayRow), strange, inJournal }))
  else console.log(listText(journal, tape))
  return tape.days.some(({ problem }) => problem !== '') ? ExitCode.failed : ExitCode.done
}

/** An archived day as --json prints it. */
function dayRow({ day, file, moved, problem, ...more }: ListedDay): object {
  const { first_seq, last_seq, first_time, last_time, blocks, rows, bytes, sha256 } = more
  return {
    ...{ day, file, rows, bytes, blocks, blocksInJournal: blocks - moved, firstSeq: first_seq, lastSeq: last_seq },
    ...{ from: first_time, to: last_time, sha256, problem: problem === '' ? null : problem },
  }
}

function listText(journal: string, { folder, days, strange, journal: here }: ListedTape): string {
  const lines =
    days.length === 0
      ? [`no day of ${journal} is archived`]
      : [
          `${counted(days.length, 'archived day')} in ${folder}`,
          ...table(
            [
              ['day', 'rows', 'MB', 'file'],
              ...days.map((day) => [day.day, String(day.rows), (day.bytes / 1e6).toFixed(1), stateOf(day)]),
            ],
            (column) => column === 1 || column === 2,
          ),
        ]
  const span = here.from === null ? '' : `, ${[here.from, here.to].map(utcOf).join(' to ')}`
  lines.push(`in the journal: ${here.rows} rows${span}`)
  for (const file of strange)
    lines.push(`${file} is not recorded in the journal: it belongs to another journal, or is left over`)
  return lines.join('\n')
}

function stateOf({ problem, whole, moved, blocks }: ListedDay): string {
  if (problem !== '') return `the file ${problem}`
  return whole === 1 ? 'present' : `${moved} of ${blocks} blocks moved; \`sluice tape archive\` moves the rest`
}

function utcOf(time: number | null): string {
  return time === null ? '' : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

function verify(wanted: readonly string[], { journal, json }: Values): number {
  const days = withProgress(0, (line) => [
    ...verifyTape(journal, wanted, (day, at, of) => line.note(`reading ${day}, ${at + 1} of ${of}`)),
  ])
  const bad = days.filter(({ problem }) => problem !== '')
  if (json) console.log(JSON.stringify({ journal, days: days.map(dayRow), equal: bad.length === 0 }))
  else for (const { file, problem } of days) console.log(`${file} ${problem === '' ? 'is unchanged' : problem}`)
  if (!json && days.length === 0) console.log(`no day of ${journal} is archived`)
  if (bad.length > 0)
    console.error(
      `sluice: ${counted(bad.length, 'archived day')} cannot be read: put the files back from a backup. If a file is lost, \`sluice tape forget DAY --journal ${journal}\` gives up the tape up to the end of that day`,
    )
  return bad.length > 0 ? ExitCode.failed : ExitCode.done
}

async function archive({ journal, until, held, shrink, json }: Values): Promise<number> {
  const archived = await withProgress(0, (line) =>
    archiveTape(journal, {
      ...{ until, held, shrink },
      step: (what, day, done, of) => {
        const doing = what === 'write' ? 'writing and checking the archive file' : 'deleting the rows from the journal'
        line.note(`${day}: ${doing}, ${Math.floor((100 * done) / of)} %`)
      },
    }),
  )
  if (json) {
    const days = archived.days.map((day) => ({ day: day.day, rows: day.rows, bytes: day.bytes, sha256: day.sha256 }))
    console.log(JSON.stringify({ journal, days, kept: archived.kept, byProcess: archived.byProcess }))
  } else console.log(archiveText(journal, archived))
  return ExitCode.done
}

function archiveText(journal: string, { days, kept, byProcess }: Archived): string {
  const lines = days.map(({ day, rows, bytes }) => `${day}: ${rows} rows, ${(bytes / 1e6).toFixed(1)} MB`)
  for (const { day, why } of kept) lines.push(`${day} stays in the journal: ${why}`)
  const by = byProcess ? ' The process that writes the journal moved the rows of these days between its commits.' : ''
  lines.push(
    days.length === 0
      ? `no day of ${journal} was archived; the last day of a tape always stays`
      : `${counted(days.length, 'day')} archived.${by} \`sluice tape list --journal ${journal}\` lists the files`,
  )
  return lines.join('\n')
}

function restore(wanted: readonly string[], { journal, json }: Values): number {
  const days = withProgress(0, (line) =>
    restoreTape(journal, wanted, (day, done, of) => line.note(`${day}: ${done} of ${of} blocks are restored`)),
  )
  if (json) console.log(JSON.stringify({ journal, days: days.map(({ day, rows }) => ({ day, rows })) }))
  else for (const { day, rows } of days) console.log(`${day} is in the journal again: ${rows} rows`)
  return ExitCode.done
}

function forget(day: string, { journal, json }: Values): number {
  const days = forgetTape(journal, day)
  if (json) console.log(JSON.stringify({ journal, days: days.map((one) => one.day) }))
  else console.log(`the tape of ${journal} now begins after ${day}; no file of a day was deleted`)
  return ExitCode.done
}
