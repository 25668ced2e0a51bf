import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { makeRoomInLog, openForWriting } from '../../src/journal/database.ts'
import { outputWrites } from '../../src/journal/writer/records.ts'
import type { Space } from '../../src/journal/writer/space.ts'
import { Writer } from '../../src/journal/writer/writer.ts'
import { order, timeOf, trades } from '../support/journal-samples.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

// A journal on a full file system. Another program takes every byte that becomes free.

const MEBIBYTE = 2 ** 20
const disk = mountSmallDisk(96)
if (typeof disk === 'string') console.log(`skipped: this machine cannot mount a small file system: ${disk}`)
else afterAll(() => disk.unmount())

describe.runIf(typeof disk !== 'string')('another program fills the disk of a journal', () => {
  if (typeof disk === 'string') return
  const limits = { tapeBytes: 24 * MEBIBYTE, entryBytes: 8 * MEBIBYTE, reserveBytes: 4 * MEBIBYTE }
  test.each<[how: string, steps: readonly number[]]>([
    ['in steps', [20, 7, 3, 1, 0]],
    ['at once, before the journal file has space for the tape rows in the log of SQLite', [0]],
  ])('if another program fills the disk %s, every order is written, and the journal keeps its space', (how, steps) => {
    const path = join(disk.folder, `${how.slice(0, 2)}.db`)
    const told: Space[] = []
    const db = openForWriting(path)
    makeRoomInLog(db)
    const writer = new Writer(db, { space: limits }, { space: ({ state }) => told.push(state) })
    let seq = 1
    const rows = (count: number) => {
      writer.take({
        ...{ segment: 1, time: timeOf(seq), writes: [] },
        slices: [{ block: trades(count, seq), from: 0, to: count, firstSeq: seq }],
      })
      seq += count
    }
    for (let n = 0; n < 40; n++) {
      rows(1000)
      writer.flush()
    }
    let number = 1
    for (const step of steps) {
      disk.fillTo(step * MEBIBYTE)
      writer.tidy(number * 10_000)
      for (let n = 0; n < 100; n++) {
        rows(5)
        const json = JSON.stringify({ filler: 'x'.repeat(1000) })
        const writes = outputWrites(seq, timeOf(seq), 0, { kind: 'order', order: order(number++) }, json)
        writer.take({ segment: 1, time: timeOf(seq), slices: [], writes })
        seq++
        writer.flush()
        disk.fillTo(step * MEBIBYTE)
      }
    }
    // SQLite's log has no space for all of these records, so SQLite must have reused the log while the disk was full.
    expect(disk.freeBytes()).toBe(0)
    expect(told.at(-1)).toBe('full')
    disk.empty()
    writer.tidy(1e9)
    expect([told.at(-1), db.pragma('integrity_check', { simple: true })]).toEqual(['ample', 'ok'])
    writer.close()
    const after = new Database(path, { readonly: true })
    expect(after.prepare('SELECT count(*) FROM "order"').pluck().get()).toBe(number - 1)
    after.close()
  })
})
