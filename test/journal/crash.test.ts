import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { command as replay } from '../../src/commands/research/replay.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openForWriting } from '../../src/journal/database.ts'
import { lockName } from '../../src/journal/lock.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import { Writer } from '../../src/journal/writer/writer.ts'
import { Mints } from '../../src/market/mints.ts'
import { journalPath, NO_LIMITS } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { noisyMarket } from '../support/recorded-tape.ts'
import { simulateRun } from '../support/simulated-run.ts'

const program = fileURLToPath(new URL('./process.main.ts', import.meta.url))

function begin(task: string, path: string): { child: ChildProcess; lines: AsyncIterableIterator<string> } {
  const child = spawn(process.execPath, [program, task, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  // A child that outlives a failed test would keep the test runner open.
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, lines: createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]() }
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

test('after kill -9, the journal has every committed batch and no incomplete one, and the next process can take the lock', async () => {
  const path = journalPath()
  const { child, lines } = begin('trade', path)
  let said = 0
  while (said < 30) said = Number((await lines.next()).value)
  await kill(child)
  for await (const line of lines) said = Number(line) // printed before it was killed
  const journal = openJournal(path, {
    space: NO_LIMITS,
    onFailure: (error) => {
      throw error
    },
  })
  const reader = openReader(path)
  const { orders, attempts, untaken, nextSeq, clean } = reader.recover()
  expect(orders.length).toBeGreaterThanOrEqual(said)
  const numbers = orders.map(({ order }) => Number(order.id.slice(1)))
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  expect(attempts.map(({ orderId }) => orderId)).toEqual(orders.map(({ order }) => order.id))
  expect(untaken.map(({ id }) => id)).toEqual(numbers)
  expect(clean).toBe(false)
  const rows = [...reader.blocks(new Mints())].reduce((sum, { length }) => sum + length, 0)
  expect(rows).toBe(orders.length * 50)
  expect(nextSeq).toBe(rows + 2)
  expect(reader.segments()).toMatchObject([{ complete: true, ended: null }])
  reader.close()
  await journal.close()
})

test('only one process can lock a name; the file of the lock is named by a hash, and kill -9 frees the lock', async () => {
  const folder = dirname(journalPath())
  mkdirSync(folder, { recursive: true })
  const { child, lines } = begin('hold', folder)
  await lines.next()
  expect(() => lockName(folder, 'wallet', 'secret')).toThrow(
    new RegExp(`^wallet is in use by process ${child.pid}, started \\d{4}-`),
  )
  lockName(folder, 'wallet', 'another').release()
  lockName(folder, 'key', 'secret').release()
  await kill(child)
  const lock = lockName(folder, 'wallet', 'secret')
  expect(() => lockName(folder, 'wallet', 'secret')).toThrow(`in use by process ${process.pid}`)
  lock.release()
  expect(readdirSync(folder).filter((name) => name.includes('secret'))).toEqual([])
})

test('the name of a lock counts as unused until a holder of the lock marks it as used', () => {
  const folder = dirname(journalPath())
  for (const isUnused of [true, true]) {
    const lock = lockName(folder, 'key', 'secret')
    expect(lock.isUnused).toBe(isUnused)
    lock.release()
  }
  const used = lockName(folder, 'key', 'secret')
  used.markUsed()
  expect(() => lockName(folder, 'key', 'secret')).toThrow('in use by')
  used.release()
  const after = lockName(folder, 'key', 'secret')
  expect(after.isUnused).toBe(false)
  after.release()
})

test('a name counts as used if its lock file is empty, as earlier versions of Sluice left it', () => {
  const folder = dirname(journalPath())
  lockName(folder, 'key', 'secret').release()
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.lock'))
  writeFileSync(join(folder, name as string), '')
  const lock = lockName(folder, 'key', 'secret')
  expect(lock.isUnused).toBe(false)
  lock.release()
})

test('after kill -9 during a merge of blocks, and after a second merge, a replay makes every decision again', async () => {
  const path = journalPath()
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'bots.yaml')
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', exits: { stopLossPercent: 20, maxHoldSeconds: 30 } }]
  writeFileSync(file, JSON.stringify({ service, bots }))
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const from = 1_780_000_000_000
  const moving = noisyMarket(1_500, 4, from)
  // These rows have a constant price. The bots make no decision, and the rows are stored in small blocks that the test
  // then merges.
  const quiet = Array.from({ length: 2_500 }, (_, n) => ({
    ...(moving[1_499] as MarketRow),
    time: from + 150_000 + n * 100,
  }))
  const rows = [...moving, ...quiet]
  await simulateRun(path, { time: from, items: rows, config: loaded.config, rowsACommit: 20 })
  const blocks = blocksOf(path)
  const verified = await verifiedIn(path)
  expect(verified).toMatchObject({ segments: 1, rows: 4_000, equal: true, divergence: null })
  expect(verified.decisions).toBeGreaterThan(20)
  expect(blocks).toBeGreaterThan(60)

  const { child } = begin('merge', path)
  const [, signal] = await once(child, 'exit')
  expect(signal).toBe('SIGKILL')
  expect(blocksOf(path)).toBe(blocks)
  expect(await verifiedIn(path)).toEqual(verified)

  const writer = new Writer(openForWriting(path), { space: NO_LIMITS }, {}, () => 1e12)
  for (let step = 0; step < 20; step++) writer.tidy()
  writer.close()
  expect(blocksOf(path)).toBeLessThan(blocks / 2)
  expect(await verifiedIn(path)).toEqual(verified)
})

function blocksOf(path: string): number {
  const db = new Database(path, { readonly: true })
  const count = db.prepare('SELECT count(*) FROM block').pluck().get() as number
  db.close()
  return count
}

/** Output of `sluice replay --verify --json`. */
async function verifiedIn(path: string): Promise<{ decisions: number }> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await replay.run([], { journal: path, verify: true, strict: false, json: true })
  const line = log.mock.lastCall?.[0] as string
  log.mockRestore()
  return JSON.parse(line)
}
