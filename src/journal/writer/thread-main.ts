// The writer's thread. It does not use an event loop: it sleeps until the bell, a shared number, changes. The change
// wakes the thread in half the time that a message event takes.
import { receiveMessageOnPort, workerData } from 'node:worker_threads'
import { SluiceError } from '../../base/errors.ts'
import { LiveBlock } from '../../market/live-block.ts'
import { makeRoomInLog, openForWriting, refusalOf } from '../database.ts'
import type { BatchMessage, FromThread, SharedSlice, ThreadStart, ToThread } from './journal-thread.ts'
import { isFull } from './transactions.ts'
import { Writer } from './writer.ts'

/** Maximum time in ms for which rows wait in the thread. The main thread passes rows on after at most 5 ms, so rows
 *  become durable after at most 250 ms. */
const FLUSH_MS = 200
/** While orders follow each other without a pause, `Writer.tidy` is still called at least once in this time, ms. */
const TIDY_MS = 1000
/** Maximum time in ms for which the thread waits, without sleeping, for an announced commit. A turn of the event loop
 *  that decides an order takes less. The wait must be short: if the system runs this thread on the processor of the
 *  main thread, the main thread cannot continue before the wait ends. */
const COMING_MS = 0.1

const { path, options, port, bell } = workerData as ThreadStart
let mints: string[] = []
let block: LiveBlock
let tidiedAt = performance.now()

function say(message: FromThread): void {
  port.postMessage(message)
}

function rowsOf({ memory, from, to, firstSeq, news }: SharedSlice) {
  if (news.isAll) mints = []
  for (const [at, mint] of news.mints.entries()) mints[news.mintsAt + at] = mint
  if (memory !== null) block = new LiveBlock(mints, memory.capacity, memory.buffer)
  return { block, from, to, firstSeq }
}

function take(writer: Writer, { segment, time, slices, writes }: BatchMessage): void {
  writer.take({ segment, time, slices: slices.map(rowsOf), writes })
}

/** Time in ms after which a write is tried again on a full disk. */
const AGAIN_MS = 1000
/** Number of commits whose callbacks have not been called yet. On a full disk, these commits may come from several
 *  turns of the main thread. */
let commits = 0
/** Last time at which the disk had no space, not even in the reserve; undefined if this has not happened. */
let stuckAt: number | undefined

/** Reads all messages, then makes them durable if one of them is a commit. All waiting commits share one
 *  transaction. */
function turn(writer: Writer): 'go on' | 'end' {
  let closing = false
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    const message = next.message as ToThread
    if (message.kind === 'batch') take(writer, message)
    if (message.kind === 'commit' || (message.kind === 'batch' && message.commit)) commits++
    if (message.kind === 'close') closing = true
  }
  const isDue = writer.waitingSince !== undefined && performance.now() - writer.waitingSince >= FLUSH_MS
  if (stuckAt !== undefined && !closing && performance.now() - stuckAt < AGAIN_MS) return 'go on'
  if (commits > 0 || isDue || stuckAt !== undefined) flush(writer)
  if (stuckAt === undefined && (isDue || performance.now() - tidiedAt >= TIDY_MS)) tidy(writer)
  if (closing) writer.close()
  return closing ? 'end' : 'go on'
}

/** Makes the batches durable. On a full disk, the process does not end, because the records would be lost: they are
 *  kept, and their callbacks wait. */
function flush(writer: Writer): void {
  try {
    writer.flush()
  } catch (error) {
    if (!isFull(error)) throw error
    stuckAt = performance.now()
    writer.stuck()
    return
  }
  stuckAt = undefined
  if (commits > 0) say({ kind: 'committed', count: commits })
  commits = 0
}

function tidy(writer: Writer): void {
  tidiedAt = performance.now()
  writer.tidy()
}

/** Sleeps until the main thread changes the bell, or until rows must become durable. If a commit was announced, first
 *  waits a short time for the commit without sleeping. */
function sleep(writer: Writer, heard: number): void {
  if (Atomics.exchange(bell, 1, 0) === 1) {
    const began = performance.now()
    while (Atomics.load(bell, 0) === heard && performance.now() - began < COMING_MS);
  }
  const { waitingSince } = writer
  const due =
    stuckAt !== undefined
      ? AGAIN_MS
      : waitingSince === undefined
        ? TIDY_MS
        : Math.max(1, waitingSince + FLUSH_MS - performance.now())
  Atomics.wait(bell, 0, heard, due)
}

function serve(): void {
  const db = openForWriting(path, options)
  if (options.durable !== false) makeRoomInLog(db)
  const writer = new Writer(
    db,
    { packs: true, ...options },
    {
      space: (report) => say({ kind: 'space', report }),
      usage: (usage) => say({ kind: 'usage', usage }),
      remainder: (remainder) => say({ kind: 'remainder', remainder }),
    },
  )
  say({ kind: 'ready' })
  for (;;) {
    const heard = Atomics.load(bell, 0)
    if (turn(writer) === 'end') break
    sleep(writer, heard)
  }
  say({ kind: 'closed' })
}

try {
  serve()
} catch (error) {
  const refusal = refusalOf(path, error)
  say({
    kind: 'failed',
    message: (refusal as Error).message,
    exitCode: refusal instanceof SluiceError ? refusal.exitCode : null,
  })
}
