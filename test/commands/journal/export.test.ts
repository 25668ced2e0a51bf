import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { called } from '../../e2e/called.ts'
import { noisyMarket, writeTape } from '../../support/recorded-tape.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = Date.UTC(2026, 4, 28, 9)
const folder = temporaryFolder()
const journal = join(folder.path, 'tape.db')
const rows = noisyMarket(600, 7, T0)
const [first] = rows as [(typeof rows)[number]]

beforeAll(() => writeTape(journal, [{ time: T0, items: rows }]))

interface Exported {
  readonly mint: string
  readonly receivedAt: number
}

async function exported(name: string, ...args: string[]): Promise<Exported[]> {
  const out = join(folder.path, name)
  const ended = await called(['export', '--journal', journal, '--out', out, ...args])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  return readFileSync(out, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

test('`export` selects the rows of a period by --from and --to, and the rows of one token by --mint', async () => {
  const isWithin = ({ time }: { readonly time: number }): boolean => time >= T0 + 10_000 && time <= T0 + 20_000
  const span = ['--from', '2026-05-28T09:00:10', '--to', '2026-05-28T09:00:20']
  const cut = await exported('cut.ndjson', ...span)
  expect(cut.map(({ receivedAt }) => receivedAt)).toEqual(rows.filter(isWithin).map(({ time }) => time))
  expect(cut.length).toBeGreaterThan(50)
  const own = await exported('own.ndjson', ...span, '--mint', first.mint as string)
  expect(own).toEqual(cut.filter(({ mint }) => mint === first.mint))
  expect(own.length).toBeGreaterThan(3)
})

describe('an export with an invalid selection', () => {
  test.each<[string, string[], string]>([
    ['--from with text that is not a time', ['--from', 'noon'], '--from noon: expected a UTC time such as 2026-11-22'],
    ['--to before --from', ['--from', '2026-05-29', '--to', '2026-05-28'], 'is after --to'],
    [
      '--from after the end of the tape',
      ['--from', '2026-06-01'],
      'no market row between --from and --to; it covers 2026-05-28T09:00:00.000Z to 2026-05-28T09:',
    ],
    ['--mint with text that is not a mint', ['--mint', 'pump'], '--mint pump: expected the address of a token'],
    [
      '--mint with a token that is not on the tape',
      ['--mint', 'TestToken2111111111111111111111111111111111'],
      'the tape has no row of TestToken2',
    ],
  ])('`export` exits with 2, names the remedy, and writes no file for %s', async (_what, args, why) => {
    const out = join(folder.path, 'none.ndjson')
    const { code, stderr, stdout } = await called(['export', '--journal', journal, '--out', out, ...args])
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(why) })
    expect(() => readFileSync(out)).toThrow('ENOENT')
  })

  test('`export --tax` exits with 2 if --from selects a part of the sales', async () => {
    const { code, stderr } = await called(['export', '--journal', journal, '--tax', 'a.csv', '--from', '2026-05-28'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('--tax writes all sales'),
    })
  })
})
