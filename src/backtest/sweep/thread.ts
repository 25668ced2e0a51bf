// A thread of a sweep. It runs its param sets over the tape, pass after pass; the main thread reads the tape for
// all threads. A pass is synchronous, so it cannot receive messages through the event loop. When it needs one, it
// blocks until the main thread changes the counter `bell`, and then takes the message. The main thread terminates this
// thread.
import { receiveMessageOnPort, workerData } from 'node:worker_threads'
import { failedOf, SluiceError } from '../../base/errors.ts'
import { loadConfig } from '../../config/load.ts'
import { SharedMarket, type TapeChunk } from '../../journal/tape/shared-tape.ts'
import { type OpenTape, openTape } from '../../journal/tape-files.ts'
import { runSets, type SweepGround, VariedBots } from './run-sets.ts'
import type { SetResult, SweepSet } from './sweep.ts'
import type { FromSweepThread, SweepThreadStart, ToSweepThread } from './threads.ts'

const { files, hash, bot, splitRow, journals, stretches, rows, port, bell } = workerData as SweepThreadStart

function say(message: FromSweepThread): void {
  port.postMessage(message)
}

function wait(): ToSweepThread {
  for (;;) {
    const heard = Atomics.load(bell, 0)
    const received = receiveMessageOnPort(port)
    if (received !== undefined) return received.message as ToSweepThread
    Atomics.wait(bell, 0, heard)
  }
}

/** Requests the next chunk. The request also acknowledges the previous chunk. */
function next(): TapeChunk | undefined {
  say({ kind: 'ready' })
  const message = wait()
  if (message.kind !== 'chunk') throw new Error('received sets during a pass')
  return message.chunk
}

async function ground(): Promise<SweepGround> {
  const loaded = await loadConfig(files)
  const config = loaded.ok && loaded.config.hash === hash ? loaded.config : undefined
  const base = config?.bots.find(({ name }) => name === bot)
  if (config === undefined || base === undefined)
    throw new SluiceError('the configuration changed during the sweep: run the sweep again')
  return { config, bot: base, splitRow }
}

/** Runs a pass, and closes its tape before the results are returned, so that an error while closing also fails the
 *  sweep. */
function pass(on: SweepGround, sets: readonly SweepSet[], varied: VariedBots): readonly SetResult[] {
  let tape: OpenTape | undefined
  const own = (): OpenTape => {
    tape ??= openTape(journals, { mapped: false })
    return tape
  }
  try {
    return runSets(on, sets, new SharedMarket({ stretches, rows, next, own }), undefined, varied)
  } finally {
    tape?.close()
  }
}

try {
  const on = await ground()
  const varied = new VariedBots(on)
  for (;;) {
    const message = wait()
    if (message.kind !== 'sets') throw new Error('received a chunk before its sets')
    for (const set of message.sets) await varied.load(set)
    say({ kind: 'done', results: pass(on, message.sets, varied) })
  }
} catch (error) {
  say(failedOf(error))
} finally {
  port.close()
}
