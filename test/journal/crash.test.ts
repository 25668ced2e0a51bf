import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Mints } from '../../src/core/mints.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { lockName } from '../../src/journal/lock.ts'
import { openReader } from '../../src/journal/reader.ts'
import { journalPath, NO_LIMITS } from '../support/journal-samples.ts'

const program = fileURLToPath(new URL('./process.main.ts', import.meta.url))

function begin(task: string, path: string): { child: ChildProcess; lines: AsyncIterableIterator<string> } {
  const child = spawn(process.execPath, [program, task, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  return { child, lines: createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]() }
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

test('kill -9: what was committed is there, half a batch is not, and the next process takes over', async () => {
  const path = journalPath()
  const { child, lines } = begin('trade', path)
  let said = 0
  while (said < 30) said = Number((await lines.next()).value)
  await kill(child)
  for await (const line of lines) said = Number(line) // said before it died
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

test('a name is held by one process, is not written down, and is free after kill -9', async () => {
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
