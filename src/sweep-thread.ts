// A thread of a sweep: runs its sets over the tape that the main thread reads for all of them. It has no event loop while it does: it sleeps
// on the bell.
import { receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { SetResult, SweepSet } from './backtest/set-result.ts'
import { loadConfig } from './config/load.ts'
import { SluiceError } from './core/errors.ts'
import { SharedMarket, type TapeChunk } from './journal/shared-tape.ts'
import { type OpenTape, openTape } from './journal/tape-files.ts'
import { runSets } from './sweep-run.ts'
import type { FromSweepThread, SweepThreadStart, ToSweepThread } from './sweep-threads.ts'

const { files, hash, bot, sets, splitRow, journals, stretches, rows, port, bell } = workerData as SweepThreadStart

function say(message: FromSweepThread): void {
  port.postMessage(message)
}

/** Waits for what the main thread sends. Each chunk is acknowledged when the one after it is asked for: by then it is done with. */
function next(): TapeChunk | undefined {
  say({ kind: 'ready' })
  for (;;) {
    const heard = Atomics.load(bell, 0)
    const received = receiveMessageOnPort(port)
    if (received !== undefined) return (received.message as ToSweepThread).chunk
    Atomics.wait(bell, 0, heard)
  }
}

async function run(mine: readonly SweepSet[], opened: OpenTape[]): Promise<readonly SetResult[]> {
  const loaded = await loadConfig(files)
  const config = loaded.ok && loaded.config.hash === hash ? loaded.config : undefined
  const base = config?.bots.find(({ name }) => name === bot)
  if (config === undefined || base === undefined) throw new SluiceError('the configuration changed during the sweep')
  const own = () => {
    const tape = openTape(journals)
    opened.push(tape)
    return tape.market
  }
  const market = new SharedMarket({ stretches, rows, next, own })
  try {
    return runSets({ config, bot: base, splitRow }, mine, market)
  } finally {
    market.close()
  }
}

/** The results are told last: what fails while the tapes are closed fails the sweep, every time. */
async function closing(): Promise<readonly SetResult[]> {
  const opened: OpenTape[] = []
  try {
    return await run(sets, opened)
  } finally {
    for (const tape of opened) tape.close()
  }
}

try {
  say({ kind: 'done', results: await closing() })
} catch (error) {
  const { message, stack } = error as Error
  say(
    error instanceof SluiceError
      ? { kind: 'failed', message, exitCode: error.exitCode }
      : { kind: 'failed', message: stack ?? message, exitCode: null },
  )
} finally {
  port.close()
}
