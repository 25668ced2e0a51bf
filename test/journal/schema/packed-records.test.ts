import { deflateRawSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { encodeJson } from '../../../src/base/json.ts'
import type { Output } from '../../../src/engine/messages.ts'
import { openForReading } from '../../../src/journal/database.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { outputWrites } from '../../../src/journal/writer/records.ts'
import { fill, JOURNAL_OPTIONS, journalPath, order, position, report } from '../../support/journal-samples.ts'

const SEQ = 7
const filled = { kind: 'report', id: 1, report: report(1, { state: 'filled', fill: fill(1) }) } as const

const money = { account: 'live|s|k|w', lamports: 5, slot: 0, halted: false }
const OUTPUTS = [
  { kind: 'order', order: order(1, { reason: 'fell 3.0 %' }) },
  { kind: 'orderState', orderId: 'o1', state: 'working', code: '', reason: '' },
  { kind: 'position', position: position(1) },
  { kind: 'account', money },
  { kind: 'bot', money: { ...money, bot: 'dips' } },
  { kind: 'timer', timer: { id: 3, bot: 'dips', owner: 'exits', name: 'hold:m', at: 5, everyMs: 0 } },
  { kind: 'timerCleared', id: 3 },
  { kind: 'refused', bot: 'dips', mint: 'm', code: 'POSITIONS_LIMIT', reason: 'größer als 5 \u{1f600} "x"' },
  { kind: 'refused', bot: 'dips', mint: 'm', code: 'POSITIONS_LIMIT', reason: 'a half of a pair: \ud83d' },
  { kind: 'note', bot: 'dips', mint: 'm', code: '', reason: 'seen' },
  { kind: 'log', bot: 'dips', level: 'warn', text: 'slow', fields: { mint: 'm' } },
] as unknown as readonly Output[]

/** Writes all outputs and a report, and returns the path of the journal. */
async function written(packs: boolean): Promise<string> {
  const path = journalPath()
  const journal = openJournal(path, { ...JOURNAL_OPTIONS, packs })
  journal.input(SEQ, 100, filled)
  for (const [index, output] of OUTPUTS.entries()) journal.output(SEQ, 100, index, output)
  await journal.close()
  return path
}

const ROWS = 'SELECT seq, n, time, kind, bot, mint, code, reason, json, checksum FROM output ORDER BY seq, n'

describe('compressed records', () => {
  test('a reader sees the same rows as in a journal without compression', async () => {
    const [plain, packed] = await Promise.all([written(false), written(true)])
    const [one, other] = [plain, packed].map((path) => {
      const db = openForReading(path)
      const rows = [db.prepare(ROWS).all(), db.prepare('SELECT * FROM input').all()]
      db.close()
      return rows
    })
    expect(other).toEqual(one)
  })

  test('a compressed record is shorter than its JSON; a record that a view reads, or whose text SQLite changes, stays JSON', async () => {
    const db = new Database(await written(true), { readonly: true })
    const rows = db.prepare('SELECT n, kind, json FROM output ORDER BY n').all() as {
      n: number
      kind: string
      json: unknown
    }[]
    const json = OUTPUTS.map(encodeJson)
    for (const row of rows)
      if (typeof row.json === 'string') expect(row.json).toBe(json[row.n])
      else expect((row.json as Buffer).length, row.kind).toBeLessThan(0.6 * (json[row.n] as string).length)
    expect(rows.filter((row) => typeof row.json === 'string').map(({ n }) => n)).toEqual([8, 9, 10])
    expect(db.prepare('SELECT text FROM warnings').pluck().all()).toEqual(['slow'])
    db.close()
  })

  test('a record that was compressed with the samples of edition 1 can be read by every later version', async () => {
    const path = await written(false)
    const writer = new Database(path)
    const [row] = outputWrites(SEQ, 100, 0, OUTPUTS[2] as Output, encodeJson(OUTPUTS[2]))
    writer.prepare('UPDATE output SET json = ? WHERE n = 2').run(Buffer.from(POSITION_OF_EDITION_1, 'hex'))
    writer.close()
    const db = openForReading(path)
    expect(db.prepare('SELECT json FROM output WHERE n = 2').pluck().get()).toBe(row?.at(-1))
    db.close()
  })

  test('a blob that decompresses to more than 16 MB is read as an empty text', async () => {
    const path = await written(true)
    const writer = new Database(path)
    const bomb = Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.alloc(2 ** 24 + 1, ' '), { windowBits: 12 })])
    writer.prepare('UPDATE output SET json = ? WHERE n = 0').run(bomb)
    writer.close()
    const db = openForReading(path)
    expect(db.prepare('SELECT json FROM output WHERE n = 0').pluck().get()).toBe('')
    db.close()
  })

  test('a damaged record is read as an empty text', async () => {
    const path = await written(true)
    const writer = new Database(path)
    writer.exec(`UPDATE output SET json = x'01ffffff' WHERE n = 0; UPDATE output SET json = x'7f00' WHERE n = 1`)
    writer.close()
    const db = openForReading(path)
    expect(db.prepare('SELECT json FROM output WHERE n < 2').pluck().all()).toEqual(['', ''])
    db.close()
  })
})

/** The position of OUTPUTS, compressed. */
const POSITION_OF_EDITION_1 =
  '012331bb65e41797d4a4a7e6a5166716d79427e6e4a496c0f31ec80188fc47824b9488ca418690d82390914c71e423033d0363d46c64014b688606880c8596fef50c4c88891c430353bc5580526d2d00'
