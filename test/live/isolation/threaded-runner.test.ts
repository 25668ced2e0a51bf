import { expect, test, vi } from 'vitest'
import { type Random, seededRandom } from '../../../src/base/random.ts'
import type { Input, Output, StartInput } from '../../../src/engine/messages.ts'
import { type EngineLink, ThreadedRunner } from '../../../src/live/isolation/threaded-runner.ts'
import type { LiveBlock } from '../../../src/market/live-block.ts'
import { Mints } from '../../../src/market/mints.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { startInput } from '../../support/engine-rig.ts'
import { anOrder } from '../../support/gateway-world.ts'
import { blockOf } from '../../support/market-rows.ts'

const start = startInput([])
const live: Input = { kind: 'feed', status: 'live', confirmed: [] }

/** An engine that answers on request, one step at a time, and emits an order on every seventh row and on every
 *  signal. */
class SlowEngine implements EngineLink {
  readonly #runner: ThreadedRunner
  readonly #random: Random
  readonly #steps: (() => void)[] = []
  isDead = false

  constructor(runner: ThreadedRunner, random: Random) {
    this.#runner = runner
    this.#random = random
  }

  begin(_seq: number, _time: number, _start: StartInput): void {
    this.#steps.push(() => this.#runner.begun(this, []))
  }

  rows(block: LiveBlock, from: number, to: number): void {
    for (let row = from; row < to; row++) {
      const decides = block.stamp[row] as number
      if (row + 1 < to && decides % 7 !== 0) continue
      this.#steps.push(() => this.#runner.did(row + 1, decides % 7 === 0 ? [orderOn(`row ${decides}`)] : []))
    }
  }

  input(_seq: number, _time: number, input: Input): void {
    const outputs = input.kind === 'command' && input.command.name === 'signal' ? [orderOn(input.command.signal)] : []
    this.#steps.push(() => this.#runner.did(0, outputs))
  }

  answerSome(): void {
    for (let count = this.#random.integer(6); count > 0; count--) this.#steps.shift()?.()
  }

  answerAll(): void {
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift()) step()
  }
}

const orderOn = (reason: string): Output => ({ kind: 'order', order: anOrder({ reason }) })

/** Returns a runner, and the records that it writes to its journal, as texts with sequence numbers and times. */
function rig() {
  const clock = new SimulatedClock(1_000)
  const written: { seq: number; time: number; text: string }[] = []
  const sent: string[] = []
  const shown: string[] = []
  const runner = new ThreadedRunner({
    clock,
    journal: {
      rows: ({ time, stamp }, from, to, firstSeq) => {
        for (let row = from; row < to; row++)
          written.push({ seq: firstSeq + row - from, time: time[row] as number, text: `row ${stamp[row]}` })
      },
      input: (seq, time, input) => written.push({ seq, time, text: wordOf(input) }),
      output: () => {},
      write: () => {},
      commit: () => {},
    },
    gateway: { submit: ({ reason }) => sent.push(reason), cancel: () => {}, trust: () => {}, halt: () => {} },
    observe: ({ stamp }, from, to) => {
      for (let row = from; row < to; row++) shown.push(`row ${stamp[row]}`)
    },
    heard: (input) => shown.push(wordOf(input)),
    ...{ want: () => {}, alarm: () => {}, decided: () => {}, firstSeq: 7, lastTime: 900 },
  })
  return { clock, runner, written, sent, shown }
}

function wordOf(input: Input): string {
  if (input.kind === 'timer') return `timer ${input.id}`
  return input.kind === 'command' && input.command.name === 'signal' ? input.command.signal : input.kind
}

function rowsFrom(first: number, count: number, time: number): LiveBlock {
  const rows = Array.from({ length: count }, (_, at) => ({ time, stamp: first + at, mint: 'm', price: 1 }))
  return blockOf(rows, new Mints()) as LiveBlock
}

test.each(Array.from({ length: 200 }, (_, seed) => [seed + 1]))(
  'if engines end at random moments, no item is lost and none is handled twice (seed %i)',
  (seed) => {
    const random = seededRandom(seed)
    const { clock, runner, written, sent, shown } = rig()
    let engine = new SlowEngine(runner, random)
    const given: string[] = []
    let rows = 0
    runner.begin(engine, start)
    for (let step = 0; step < 60; step++) {
      const what = random.integer(5)
      if (what === 0) clock.advanceTo(clock.now() + random.integer(50))
      else if (what === 1) {
        runner.post({ kind: 'command', command: { name: 'signal', signal: `signal ${step}`, data: null } })
        given.push(`signal ${step}`)
      } else if (what === 2) {
        runner.post({ kind: 'timer', id: step })
        given.push(`timer ${step}`)
      } else {
        const count = 1 + random.integer(12)
        runner.rows(rowsFrom(rows, count, clock.now()), 0, count)
        for (let row = rows; row < rows + count; row++) given.push(`row ${row}`)
        rows += count
      }
      engine.answerSome()
      if (random.integer(8) > 0) continue
      runner.lost()
      engine = new SlowEngine(runner, random)
      if (random.integer(2) === 0) clock.advanceTo(clock.now() + 500)
      runner.begin(engine, start)
    }
    engine.answerAll()
    expect(runner.isIdle).toBe(true)
    expect(written.map(({ seq }) => seq)).toEqual(written.map((_, at) => 7 + at))
    for (const [at, { time }] of written.entries()) expect(time).toBeGreaterThanOrEqual(written[at - 1]?.time ?? 900)
    const happened = written.map(({ text }) => text).filter((text) => text !== 'start')
    expect([...happened].sort()).toEqual([...given].sort())
    expect(shown).toEqual(happened)
    const isSignal = (text: string): boolean => text.startsWith('signal')
    expect(happened.filter((text) => !isSignal(text))).toEqual(given.filter((text) => !isSignal(text)))
    const decided = happened.filter((text) => isSignal(text) || (text.startsWith('row') && +text.slice(4) % 7 === 0))
    expect(sent).toEqual(decided)
  },
)

test('a new engine receives the state of the feed and of accounts, then the waiting commands, then the other waiting items', () => {
  const { clock, runner, written } = rig()
  const random = seededRandom(1)
  const first = new SlowEngine(runner, random)
  runner.begin(first, start)
  for (const input of [live, { kind: 'gate', account: 'a', open: true } as const]) runner.post(input)
  first.answerAll()
  runner.rows(rowsFrom(0, 2, 1_000), 0, 2)
  runner.lost()
  clock.advanceTo(1_600)
  runner.post({ kind: 'timer', id: 1 })
  runner.post({ kind: 'command', command: { name: 'flatten' } })
  expect(runner.isIdle).toBe(false)
  const second = new SlowEngine(runner, random)
  runner.begin(second, start)
  second.answerAll()
  expect(written.map(({ time, text }) => `${text} @${time}`)).toEqual([
    ...['start @1000', 'feed @1000', 'gate @1000'],
    ...['start @1600', 'feed @1600', 'gate @1600', 'command @1600', 'row 0 @1600', 'row 1 @1600', 'timer 1 @1600'],
  ])
})

test('the lag of an engine is the time for which its oldest unanswered item has waited', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  const { runner } = rig()
  const engine = new SlowEngine(runner, seededRandom(1))
  runner.begin(engine, start)
  engine.answerAll()
  now.mockReturnValue(1_000)
  expect(runner.lagMs).toBe(0)
  runner.post({ kind: 'timer', id: 1 })
  now.mockReturnValue(1_400)
  runner.rows(rowsFrom(0, 2, 1_000), 0, 2)
  now.mockReturnValue(3_000)
  expect(runner.lagMs).toBe(2_000)
  runner.lost()
  expect(runner.lagMs).toBe(2_000)
  const second = new SlowEngine(runner, seededRandom(1))
  runner.begin(second, start)
  second.answerAll()
  expect(runner.lagMs).toBe(0)
  now.mockRestore()
})

test('a command of the operator is handled before waiting rows of the feed', () => {
  const { clock, runner, written } = rig()
  const engine = new SlowEngine(runner, seededRandom(1))
  runner.begin(engine, start)
  engine.answerAll()
  for (let row = 0; row < 1_000; row++) runner.rows(rowsFrom(row, 1, 1_000), 0, 1)
  runner.post(live)
  clock.advanceTo(1_600)
  runner.post({ kind: 'command', command: { name: 'flatten' } })
  expect(runner.isIdle).toBe(false)
  engine.answerAll()
  expect(runner.isIdle).toBe(true)
  const at = (text: string): number => written.findIndex((one) => one.text === text)
  expect(at('command')).toBeLessThan(100)
  expect([at('feed'), written.length]).toEqual([1_002, 1_003])
  expect(written.at(at('row 500'))?.time).toBe(1_600)
})
