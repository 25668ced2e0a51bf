import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { lamports } from '../../src/base/units.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { OpenJournal } from '../../src/journal/writer/gathering-journal.ts'
import type { JournalOptions } from '../../src/journal/writer/journal.ts'
import { RowKind } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import {
  attempt,
  contentOf,
  fill,
  journalPath,
  NO_LIMITS,
  order,
  position,
  report,
  start,
  timeOf,
  trades,
} from '../support/journal-samples.ts'
import { blockOf } from '../support/market-rows.ts'

/** Tests that every writer of the port `Journal` (orders/ports.ts) has to pass. */
export function journalContract(
  name: string,
  open: (path: string, options: JournalOptions) => OpenJournal | Promise<OpenJournal>,
): void {
  let opened: OpenJournal[] = []
  afterEach(async () => {
    await Promise.all(opened.map((journal) => journal.close()))
    opened = []
  })

  const onFailure = (error: Error) => {
    throw error
  }
  const openAt = async (path: string, more: Partial<JournalOptions> = {}) => {
    const journal = await open(path, { onFailure, space: NO_LIMITS, ...more })
    opened.push(journal)
    return journal
  }
  const committed = (journal: OpenJournal) => new Promise<void>((resolve) => journal.commit(resolve))

  describe(name, () => {
    test('other processes can read committed records while the journal is open', async () => {
      const path = journalPath()
      const journal = await openAt(path)
      const block = trades(300)
      journal.input(1, timeOf(0), start(1))
      journal.rows(block, 0, 100, 2)
      journal.rows(block, 100, 300, 102)
      journal.output(301, timeOf(299), 0, { kind: 'order', order: order(1) })
      journal.write({ kind: 'attempt', attempt: attempt(1) })
      await committed(journal)
      const reader = openReader(path)
      expect(contentOf(reader.blocks(new Mints()))).toEqual(contentOf([block]))
      expect(reader.orders()).toMatchObject([{ id: 'o1', bot: 'dips', state: 'accepted', reason: 'fell 15 %' }])
      expect(reader.recover()).toMatchObject({ nextSeq: 302, lastSegment: 1, lastTime: timeOf(299), clean: false })
      reader.close()
    })

    test('rows, inputs and outputs are read in the order of their sequence numbers, and outputs of one row by their index', async () => {
      const path = journalPath()
      const journal = await openAt(path)
      const block = trades(10)
      journal.input(1, timeOf(0), start(1))
      journal.rows(block, 0, 4, 2)
      const note = (why: string) => ({ kind: 'note', bot: 'dips', mint: 'm', code: '', reason: why }) as const
      journal.output(5, timeOf(3), 0, note('first'))
      journal.output(5, timeOf(3), 1, note('second'))
      journal.input(6, timeOf(3), { kind: 'feed', status: 'live', confirmed: ['trades'] })
      journal.output(6, timeOf(3), 0, note('third'))
      journal.rows(block, 4, 10, 7)
      await committed(journal)
      const reader = openReader(path)
      const [segment] = reader.segments()
      expect(segment).toMatchObject({ number: 1, firstSeq: 1, lastSeq: 12, rows: 10, complete: true, ended: null })
      const items = [...reader.replay(segment as NonNullable<typeof segment>, new Mints())]
      const seen = items.map((item) => {
        if (item.kind === 'rows') return `rows ${item.firstSeq} to ${item.firstSeq + item.to - item.from - 1}`
        return `${item.kind} ${item.seq} ${item.kind === 'output' ? item.index : item.input.kind}`
      })
      expect(seen).toEqual([
        'input 1 start',
        'rows 2 to 5',
        'output 5 0',
        'output 5 1',
        'input 6 feed',
        'output 6 0',
        'rows 7 to 12',
      ])
      reader.close()
    })

    test('a record keeps its values if the written object changes later', async () => {
      const path = journalPath()
      const journal = await openAt(path)
      const changing = position(1)
      journal.output(1, timeOf(1), 0, { kind: 'position', position: changing })
      changing.tokens = 0n
      await committed(journal)
      const reader = openReader(path)
      expect(reader.recover().money.positions).toEqual([position(1)])
      reader.close()
    })

    test('commits complete in the order of their requests, each after the writes before it', async () => {
      const path = journalPath()
      const journal = await openAt(path)
      const ended: string[] = []
      for (let number = 1; number <= 20; number++) {
        journal.output(number, timeOf(number), 0, { kind: 'order', order: order(number) })
        journal.commit(() => {
          const reader = openReader(path)
          ended.push(`${number} of ${Math.min(number, reader.counters().orders)}`)
          reader.close()
        })
      }
      await committed(journal)
      expect(ended).toEqual(Array.from({ length: 20 }, (_, index) => `${index + 1} of ${index + 1}`))
    })

    test('an input, its report and the fill in the report are stored together', async () => {
      const path = journalPath()
      const journal = await openAt(path)
      journal.output(1, timeOf(1), 0, { kind: 'order', order: order(1) })
      journal.write({ kind: 'attempt', attempt: attempt(1, { state: 'filled' }) })
      journal.write({ kind: 'fill', fill: fill(1) })
      journal.write({ kind: 'report', id: 1, report: report(1) })
      journal.write({ kind: 'report', id: 2, report: report(1, { state: 'filled', fill: fill(1) }) })
      await committed(journal)
      const reader = openReader(path)
      expect(reader.recover()).toMatchObject({ nextReport: 3, untaken: [{ id: 1 }, { id: 2 }], money: { fills: [] } })
      journal.input(2, timeOf(2), { kind: 'report', id: 1, report: report(1) })
      journal.input(3, timeOf(3), { kind: 'report', id: 2, report: report(1, { state: 'filled', fill: fill(1) }) })
      await committed(journal)
      expect(reader.recover()).toMatchObject({ nextReport: 3, untaken: [], money: { fills: [fill(1)] } })
      reader.close()
    })

    test('rows of many blocks are complete, even if sequence numbers are skipped', async () => {
      const path = journalPath()
      const journal = await openAt(path)
      const mints = new Mints()
      const blocks = [trades(700, 0, mints), trades(5000, 700, mints), trades(1, 5700, mints)]
      let seq = 1
      for (const block of blocks)
        for (let row = 0; row < block.length; row++) {
          journal.rows(block, row, row + 1, seq)
          seq += row % 1000 === 999 ? 3 : 1
        }
      await committed(journal)
      const reader = openReader(path)
      expect(contentOf(reader.blocks(new Mints()))).toEqual(contentOf(blocks))
      const between = (from: number, to: number) => contentOf(reader.blocks(new Mints(), { from, to }))
      expect(between(700, 1702)).toEqual(contentOf(blocks).slice(699, 1700))
      expect(between(1701, 1702)).toEqual([])
      expect(between(1701, 1704)).toEqual(contentOf(blocks).slice(1700, 1702))
      expect(reader.recover().nextSeq).toBe(seq)
      reader.close()
    })

    test('rows keep their mints when the numbers of mints are reused', async () => {
      const path = journalPath()
      const journal = await openAt(path)
      const mints = new Mints()
      const said = ['a', 'b', 'c', 'd', 'e'].map((name, at) => {
        if (at % 2 === 1) mints.giveBack(() => false)
        return blockOf(
          ['x', name, 'y'].map((mint) => ({ time: at + 1, mint, price: 1 })),
          mints,
        )
      })
      said.forEach((block, at) => {
        journal.rows(block, 0, 2, 1 + 3 * at)
        journal.rows(block, 2, 3, 3 + 3 * at)
      })
      await committed(journal)
      const reader = openReader(path)
      const read = [...reader.blocks(new Mints())].flatMap((block) =>
        [...block.token].map((token) => block.mints[token]),
      )
      reader.close()
      expect(read.join('')).toBe('xayxbyxcyxdyxey')
    })

    test('after a mint number was reused, it stands for the new mint, even in the same block', async () => {
      const path = journalPath()
      const journal = await openAt(path)
      const mints = new Mints()
      for (const mint of ['a', 'b', 'c', 'd']) mints.intern(mint)
      mints.giveBack((token) => token === 1)
      const block = new LiveBlock(mints.list)
      const said = ['b', 'e', 'f', 'b', 'g', 'h', 'e']
      for (const [at, mint] of said.entries()) {
        const numbers = { price: 1, amount: 1, size: 1, marketCap: 0, extra: 0, extra2: 0 }
        block.append(at, at, RowKind.buy, mints.intern(mint), numbers, '', '')
        journal.rows(block, at, at + 1, 1 + at)
        await committed(journal)
      }
      const reader = openReader(path)
      const read = [...reader.blocks(new Mints())].flatMap((one) => [...one.token].map((token) => one.mints[token]))
      reader.close()
      expect(read).toEqual(said)
    })

    test('a closed journal is marked as closed, and the next segment continues it', async () => {
      const path = journalPath()
      const first = await openAt(path)
      first.input(1, timeOf(1), start(1))
      first.rows(trades(5), 0, 5, 2)
      await first.close()
      opened = []
      const second = await openAt(path)
      const reader = openReader(path)
      expect(reader.recover()).toMatchObject({ nextSeq: 7, lastSegment: 1, lastTime: timeOf(4), clean: true })
      second.input(7, timeOf(9), start(2))
      await committed(second)
      expect(reader.recover()).toMatchObject({ nextSeq: 8, lastSegment: 2, clean: false })
      expect(reader.segments().map(({ number, ended }) => [number, ended])).toEqual([
        [1, timeOf(4)],
        [2, null],
      ])
      reader.close()
    })

    test('the journal file is private, and a second writer is refused with the process id of the first', async () => {
      const path = journalPath()
      await openAt(path)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
      await expect(async () => open(path, { onFailure })).rejects.toMatchObject({
        exitCode: 4,
        message: expect.stringContaining(`in use by process ${process.pid}, started 20`),
      })
    })

    test('without disk space the tape stops with a report, and orders are still written', async () => {
      const path = journalPath()
      const told: string[] = []
      const space = { tapeBytes: Number.MAX_VALUE, entryBytes: 0, reserveBytes: 0 }
      const journal = await openAt(path, { space, onSpace: ({ state }) => told.push(state) })
      journal.input(1, timeOf(0), start(1))
      const block = trades(100)
      journal.rows(block, 0, 50, 2)
      journal.rows(block, 50, 100, 52)
      journal.output(101, timeOf(99), 0, { kind: 'order', order: order(1) })
      await committed(journal)
      const reader = openReader(path)
      expect(told).toEqual(['noTape'])
      expect(reader.orders()).toHaveLength(1)
      expect(reader.counters().events).toBe(0)
      expect(reader.recover().nextSeq).toBe(102)
      reader.close()
    })

    test('the callback of a commit that fails is never called, and the failure is reported once', async () => {
      const path = journalPath()
      const failures: Error[] = []
      const journal = await open(path, { space: NO_LIMITS, onFailure: (error) => failures.push(error) })
      let ended = 0
      journal.input(1, timeOf(1), { kind: 'timer', id: 1 })
      journal.input(1, timeOf(1), { kind: 'timer', id: 1 }) // the database refuses a duplicate seq
      journal.commit(() => ended++)
      journal.output(2, timeOf(2), 0, { kind: 'account', money: ACCOUNT_MONEY })
      journal.commit(() => ended++)
      await journal.close()
      expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining('UNIQUE constraint')])
      expect(ended).toBe(0)
      const reader = openReader(path)
      expect(reader.recover().nextSeq).toBe(1)
      reader.close()
    })
  })
}

const ACCOUNT_MONEY = { account: 'a', lamports: lamports(5), slot: 0, halted: false }
