import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { OwnJournal } from '../../../src/live/telegram/own-journal.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-own-journal-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Returns an `OwnJournal` that runs this program to answer a question about the journal. */
function journalWith(program: string): OwnJournal {
  const path = join(folder, 'program.mjs')
  writeFileSync(path, program)
  return new OwnJournal(join(folder, 'journal.db'), path)
}

test('an answer about the journal that is too long is cut, and its last line names the command', async () => {
  const own = journalWith("process.stdout.write('a line of the answer\\n'.repeat(100_000))")
  const lines = await own.run(['report'])
  expect(lines[0]).toBe('a line of the answer')
  expect(lines.at(-1)).toBe('the answer is longer: run `sluice report` in a terminal')
})

test('the process that answers a question about the journal has a low priority and no environment', async () => {
  vi.stubEnv('SLUICE_SECRET', 'secret')
  const own = journalWith(
    "import os from 'node:os'\nsetTimeout(() => console.log(os.getPriority(), process.env.SLUICE_SECRET, ...process.argv.slice(2)), 500)",
  )
  const answer = `${Math.max(getPriority(), 10)} undefined why o1 --journal ${join(folder, 'journal.db')}`
  expect(await own.run(['why', 'o1'])).toEqual([answer])
})

test('`close` ends the process that answers a question, even if it ignores SIGTERM, and starts no waiting question', async () => {
  const own = journalWith(
    `import { writeFileSync } from 'node:fs'\nprocess.on('SIGTERM', () => {})\nwriteFileSync(${JSON.stringify(join(folder, 'pid'))} + process.argv[3], '')\nsetInterval(() => {}, 1_000)`,
  )
  const answers = Promise.all([own.run(['why', 'o1']), own.run(['why', 'o2'])])
  await vi.waitFor(() => expect(existsSync(join(folder, 'pido1'))).toBe(true), 20_000)
  own.close()
  await answers
  expect(existsSync(join(folder, 'pido2'))).toBe(false)
})
