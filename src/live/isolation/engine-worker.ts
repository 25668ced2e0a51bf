// Worker thread of an engine. After `begin` it no longer uses its event loop: it sleeps until the main thread
// increments the shared counter `bell`, so that only handlers run in it. Code that a strategy schedules for later (the
// callback of a promise or of a timer of its own) never runs.
import { isDeepStrictEqual } from 'node:util'
import { receiveMessageOnPort, workerData } from 'node:worker_threads'
import { loadStrategy } from '../../config/strategies.ts'
import { stackReader, thrownText } from '../../config/strategy-trace.ts'
import { Engine } from '../../engine/engine.ts'
import type { OwnedReading } from '../../engine/exits/exit-levels.ts'
import type { StartInput } from '../../engine/messages.ts'
import type { Strategy } from '../../engine/strategy.ts'
import { openReader } from '../../journal/reader/reader.ts'
import type { Block } from '../../market/block.ts'
import { LiveBlock, TranslatedBlock } from '../../market/live-block.ts'
import { Mints } from '../../market/mints.ts'
import { hardenGlobals, takeConsole } from '../../runtime/harden.ts'
import {
  type BeginMessage,
  Cell,
  type Death,
  type EngineThreadStart,
  type FromEngine,
  type RowsMessage,
  type ToEngine,
} from './engine-thread.ts'
import { MemoryGuard } from './memory-guard.ts'
import { threadId } from './watchdog.ts'

/** Longest times for loading a module, for the `start` of a strategy, and for a handler. */
const LOAD_DEADLINE_MS = 10_000
const START_DEADLINE_MS = 2_000
const DEADLINE_MS = 500
/** Number of market rows between two updates of the progress counter. */
const ROWS_A_STEP = 32
const MARKS_EVERY_MS = 250
/** An element of `tokens` has this value if its index is not the number of a mint. */
const NO_TOKEN = -1

const { port, bell, cells } = workerData as EngineThreadStart
const mints = new Mints()
/** This thread numbers the mints itself. The array maps the number of a mint in the main thread to its number in this
 *  thread. */
let tokens: number[] = []
let block: TranslatedBlock
let marksAt = 0
/** The prices and values of positions that this thread sent last. */
let sent: readonly OwnedReading[] = []
let memory: MemoryGuard
/** Finds the strategy's code in a stack. `stackReader` raises `Error.stackTraceLimit`, so it is called before the
 *  globals are frozen. */
const thrownAt = stackReader()
cells[Cell.thread] = threadId()
takeConsole((text) => say({ kind: 'log', bot: cells[Cell.active] as number, text }))
hardenGlobals()

function say(message: FromEngine): void {
  port.postMessage(message)
}

function live(): void {
  Atomics.add(cells, Cell.progress, 1)
}

function allow(ms: number): void {
  live()
  Atomics.store(cells, Cell.deadlineMs, ms)
}

function sleep(heard: number): void {
  Atomics.store(cells, Cell.deadlineMs, 0)
  Atomics.wait(bell, 0, heard, MARKS_EVERY_MS)
}

function next(): ToEngine | undefined {
  return receiveMessageOnPort(port)?.message as ToEngine | undefined
}

function first(): BeginMessage {
  for (;;) {
    const heard = Atomics.load(bell, 0)
    const message = next()
    if (message !== undefined) return message as BeginMessage
    sleep(heard)
  }
}

/** Loads the strategies one module at a time, so that a module whose loading never ends can be identified. The file of
 *  a stopped strategy is loaded only if another bot needs it. */
async function strategiesOf({ bots, stopped = [] }: StartInput): Promise<Map<string, Strategy>> {
  const strategies = new Map<string, Strategy>()
  for (const [index, { name, strategy }] of bots.entries()) {
    if (strategies.has(strategy) || stopped.some(({ bot }) => bot === name)) continue
    allow(LOAD_DEADLINE_MS)
    cells[Cell.active] = index
    const loaded = (await loadStrategy(strategy)).strategy
    strategies.set(
      strategy,
      memory.watched(loaded, (bot) => bots.findIndex((one) => one.name === bot)),
    )
    cells[Cell.active] = -1
  }
  return strategies
}

/** Passes the recorded market rows of the warm-up to the strategies. This thread reads the rows from the journal
 *  itself. Returns the number of rows. */
function warm(engine: Engine, journal: string, range: StartInput['warm']): number {
  if (range.from > range.to) return 0
  const reader = openReader(journal)
  try {
    let rows = 0
    for (const past of reader.warmup(mints, range)) {
      for (let row = 0; row < past.length; row++) {
        if (row % ROWS_A_STEP === 0) allow(DEADLINE_MS)
        engine.warm(past, row)
      }
      rows += past.length
    }
    return rows
  } finally {
    reader.close()
  }
}

async function begin({ seq, time, start, journal, ...message }: BeginMessage): Promise<Engine> {
  memory = new MemoryGuard(message.memory, message.inspects)
  const engine = new Engine(mints, await strategiesOf(start), {
    cells: cells.subarray(Cell.active, Cell.progress + 1),
    thrownAt,
  })
  mints.addHolder(engine)
  allow(START_DEADLINE_MS)
  engine.input(seq, time, start)
  const outputs = engine.outputs.splice(0)
  const warmed = warm(engine, journal, start.warm)
  say({ kind: 'begun', outputs, warmed })
  return engine
}

function rowsOf({ memory, news, to }: RowsMessage): Block {
  if (news.isAll) {
    mints.giveBack(() => false)
    tokens = []
  }
  for (const [at, mint] of news.mints.entries()) tokens[news.mintsAt + at] = mint === '' ? NO_TOKEN : mints.intern(mint)
  if (memory !== null) block = new TranslatedBlock(new LiveBlock(mints.list, memory.capacity, memory.buffer), tokens)
  block.translate(to)
  return block
}

function take(engine: Engine, message: ToEngine): void {
  allow(DEADLINE_MS)
  if (message.kind === 'input') {
    engine.input(message.seq, message.time, message.input)
    say({ kind: 'did', next: 0, outputs: engine.outputs })
    engine.outputs.length = 0
  } else if (message.kind === 'rows') {
    const { from, to, firstSeq } = message
    const rows = rowsOf(message)
    for (let row = from; row < to; live()) {
      row = engine.rows(firstSeq + row - from, rows, row, Math.min(to, row + ROWS_A_STEP))
      if (row < to && engine.outputs.length === 0) continue
      say({ kind: 'did', next: row, outputs: engine.outputs })
      engine.outputs.length = 0
    }
  }
}

function tellMarks(engine: Engine): void {
  const now = performance.now()
  if (now - marksAt < MARKS_EVERY_MS) return
  marksAt = now
  const marks = engine.takeMarks()
  if (marks.length > 0) say({ kind: 'marks', marks })
  const readings = engine.readings()
  if (isDeepStrictEqual(readings, sent)) return
  sent = readings
  say({ kind: 'readings', readings })
}

/** Reads messages until the engine cannot continue, and returns the reason. */
function serve(engine: Engine): Death {
  for (;;) {
    const heard = Atomics.load(bell, 0)
    for (let message = next(); message !== undefined; message = next()) {
      take(engine, message)
      allow(START_DEADLINE_MS)
      const breach = memory.look()
      if (breach !== undefined) return { ...breach, isFull: true }
    }
    tellMarks(engine)
    sleep(heard)
  }
}

function deathBy(error: unknown): Death {
  return { bot: cells[Cell.active] as number, reason: thrownText(error) }
}

const death = await begin(first()).then(serve).catch(deathBy)
say({ kind: 'broke', ...death })
