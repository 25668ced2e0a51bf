import { expect, test } from 'vitest'
import type { Input, Output } from '../../src/engine/messages.ts'
import type { EnginePort } from '../../src/engine/ports.ts'
import type { Block } from '../../src/market/block.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { Runner } from '../../src/runtime/runner.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { anOrder } from '../support/gateway-world.ts'

const block = (...times: number[]): Block =>
  ({ time: Float64Array.from(times), length: times.length }) as unknown as Block

/** Returns a runner with an engine that emits the outputs of `decide`, and a log with one text for each step. */
function rig(decide: (what: string) => Output[] = () => [], lastTime = 0) {
  const clock = new SimulatedClock(1_000)
  const log: string[] = []
  const outputs: Output[] = []
  const engine: EnginePort = {
    outputs,
    rows: (firstSeq, { time }, from, to) => {
      for (let row = from; row < to; row++) {
        log.push(`row ${row} #${firstSeq + row - from} @${time[row]}`)
        outputs.push(...decide(`row ${row}`))
        if (outputs.length > 0) return row + 1
      }
      return to
    },
    input: (seq, time, input) => {
      log.push(`${input.kind} #${seq} @${time}`)
      outputs.push(...decide(input.kind === 'timer' ? `timer ${input.id}` : input.kind))
    },
    warm: () => {},
  }
  const journal: Journal = {
    rows: (_block, from, to, firstSeq) => log.push(`journal rows ${from}-${to} #${firstSeq}`),
    input: (seq, _time, input) => log.push(`journal ${input.kind} #${seq}`),
    output: (seq, _time, index, output) => log.push(`journal ${output.kind} #${seq}.${index}`),
    write: () => {},
    commit: () => {},
  }
  const gateway = {
    submit: (order: { reason: string }) => log.push(`submit ${order.reason}`),
    cancel: (id: string, code: string) => log.push(`cancel ${id} ${code}`),
    trust: (account: string, isTrusted: boolean) => log.push(`trust ${account} ${isTrusted}`),
    halt: (account: string, isHalted: boolean) => log.push(`halt ${account} ${isHalted}`),
  }
  const runner: Runner = new Runner({
    clock,
    engine,
    journal,
    gateway,
    want: (keys) => log.push(`want ${keys}`),
    alarm: ({ reason }) => log.push(`alarm ${reason}`),
    observe: (_block, from, to) => log.push(`observe ${from}-${to}`),
    firstSeq: 7,
    lastTime,
  })
  return { clock, log, runner, engine, gateway }
}

const order = (reason: string): Output => ({ kind: 'order', order: anOrder({ reason }) })
const feed: Input = { kind: 'feed', status: 'live', confirmed: [] }
const note: Output = { kind: 'note', bot: 'b', mint: 'm', code: '', reason: '' }
const timer = (id: number, at: number, everyMs = 0): Output => ({
  kind: 'timer',
  timer: { id, bot: 'b', name: 't', owner: 'strategy', at, everyMs },
})

test('the runner handles rows without outputs together, and numbers and times them by their arrival', () => {
  const { runner, log } = rig()
  expect(runner.rows(block(5, 5, 6), 0, 3)).toBe(3)
  expect(log).toEqual(['row 0 #7 @5', 'row 1 #8 @5', 'row 2 #9 @6', 'journal rows 0-3 #7', 'observe 0-3'])
  expect(runner.nextSeq).toBe(10)
})

test('a row with outputs ends its group, and all its outputs are written before one is carried out', () => {
  const decided = [note, order('a'), order('b'), { kind: 'cancel', orderId: 'o1', code: 'CHASED' } as const]
  const { runner, log } = rig((what) => (what === 'row 2' ? decided : []))
  expect(runner.rows(block(1, 2, 3, 4), 1, 4)).toBe(3)
  expect(log.slice(2)).toEqual([
    'journal rows 1-3 #7',
    'observe 1-3',
    ...['note #8.0', 'order #8.1', 'order #8.2', 'cancel #8.3'].map((what) => `journal ${what}`),
    ...['submit a', 'submit b', 'cancel o1 CHASED'],
  ])
  expect(runner.rows(block(1, 2, 3, 4), 3, 4)).toBe(4)
})

test('an item that is posted while another item is handled is handled after it', () => {
  const { runner, log, gateway } = rig((what) => (what === 'row 0' || what === 'feed' ? [order(what)] : []))
  let posted = 0
  gateway.submit = ({ reason }) => {
    if (posted++ < 2) runner.post(posted === 1 ? feed : { kind: 'timer', id: 1 })
    return log.push(`submitted ${reason}`)
  }
  runner.rows(block(2_000), 0, 1)
  expect(log.filter((line) => !line.startsWith('journal'))).toEqual([
    ...['row 0 #7 @2000', 'observe 0-1', 'submitted row 0'],
    ...['feed #8 @2000', 'submitted feed', 'timer #9 @2000'], // never before the row, although the clock shows 1000
  ])
})

test('inputs that change an account reach the gateway', () => {
  const money = { account: 'a', lamports: null, slot: 0, halted: true }
  const { runner, log } = rig((what) => (what === 'feed' ? [{ kind: 'account', money }] : []))
  runner.post(feed)
  expect(log.slice(-2)).toEqual(['trust a true', 'halt a true'])
})

test("rows that arrived before an input and are handled after it get the input's time, also in their block", () => {
  const { runner, log } = rig()
  const late = block(998, 999, 1_001)
  runner.post(feed)
  runner.rows(late, 0, 3)
  expect([...late.time.subarray(0, 3)]).toEqual([1_000, 1_000, 1_001])
  expect(log.filter((line) => line.startsWith('row'))).toEqual(['row 0 #8 @1000', 'row 1 #9 @1000', 'row 2 #10 @1001'])
})

test('inputs have the time of the clock, and never a time before the previous item', () => {
  const { runner, log, clock } = rig(undefined, 1_500)
  runner.post(feed)
  clock.advanceTo(3_000)
  runner.post(feed)
  expect(log).toEqual(['journal feed #7', 'feed #7 @1500', 'journal feed #8', 'feed #8 @3000'])
})

test.each<[string, (rigged: ReturnType<typeof rig>) => void, string]>([
  ['no rows', ({ runner }) => runner.rows(block(1), 1, 1), 'no rows'],
  ['rows that are not in the block', ({ runner }) => runner.rows(block(1), 0, 2), 'does not contain'],
  [
    'new items while outputs are not carried out',
    ({ runner, engine }) => {
      engine.outputs.push(note)
      runner.post(feed)
    },
    'not carried out',
  ],
])('the runner refuses %s with an assertion', (_what, run, message) => {
  expect(() => run(rig())).toThrow(message)
})

test('posting rows from inside a handler is an error', () => {
  const rigged = rig((what) => (what === 'feed' ? [order('')] : []))
  rigged.gateway.submit = () => rigged.runner.rows(block(1), 0, 1)
  expect(() => rigged.runner.post(feed)).toThrow('from inside a handler')
})

test('a timer becomes an input at its time unless it was cleared, and a timer that is set again replaces the first one', () => {
  const { runner, log, clock } = rig((what) => {
    if (what === 'feed') return [timer(1, 2_000), timer(2, 3_000), timer(3, 4_000), timer(4, 500)]
    return what === 'timer 1' ? [{ kind: 'timerCleared', id: 2 }, timer(3, 5_000), { kind: 'timerCleared', id: 9 }] : []
  })
  runner.post(feed)
  clock.advanceTo(10_000)
  expect(log.filter((line) => line.startsWith('timer'))).toEqual([
    'timer #8 @1000',
    'timer #9 @2000',
    'timer #10 @5000',
  ])
})

test('a repeating timer keeps its period until it is cleared', () => {
  let firings = 0
  const { runner, log, clock } = rig((what) => {
    if (what === 'feed') return [timer(1, 2_000, 1_000)]
    return what === 'timer 1' && ++firings === 3 ? [{ kind: 'timerCleared', id: 1 }] : []
  })
  runner.post(feed)
  clock.advanceTo(10_000)
  expect(log.filter((line) => line.startsWith('timer'))).toEqual([
    'timer #8 @2000',
    'timer #9 @3000',
    'timer #10 @4000',
  ])
})

test('if a late event loop missed several periods of a timer, the timer fires once, and then in its original rhythm', () => {
  const { runner, log, clock } = rig((what) => (what === 'feed' ? [timer(1, 2_000, 1_000)] : []))
  const now = clock.now.bind(clock)
  clock.now = () => (now() >= 3_000 && now() < 7_400 ? 7_400 : now()) // the event loop is blocked from 3.0 s to 7.4 s
  runner.post(feed)
  clock.advanceTo(9_000)
  expect(log.filter((line) => line.startsWith('timer'))).toEqual([
    'timer #8 @2000',
    'timer #9 @7400',
    'timer #10 @8000',
    'timer #11 @9000',
  ])
})

test('after the clock was set back, a timer fires at its due time on this clock, although its delay has passed earlier', () => {
  const { runner, log, clock } = rig((what) => (what === 'feed' ? [timer(1, 2_000)] : []))
  let setBack = 0
  const now = clock.now.bind(clock)
  clock.now = () => now() - setBack
  runner.post(feed)
  setBack = 300
  clock.advanceTo(2_299)
  expect(log.some((line) => line.startsWith('timer'))).toBe(false)
  clock.advanceTo(2_300)
  expect(log.some((line) => line.startsWith('timer'))).toBe(true)
})

test('after the stop of a runner, no timer fires', () => {
  const { runner, log, clock } = rig((what) => (what === 'feed' ? [timer(1, 2_000)] : []))
  runner.post(feed)
  runner.stop()
  clock.advanceTo(10_000)
  expect(log.some((line) => line.startsWith('timer'))).toBe(false)
})

test('wanted keys are passed to the source, and alarms to the operator', () => {
  const alarm: Output = { kind: 'alarm', bot: 'b', code: 'STRATEGY_THREW', reason: 'oops' }
  const { runner, log } = rig(() => [{ kind: 'keys', want: ['trades', 'm'] }, alarm])
  runner.post(feed)
  expect(log.slice(-2)).toEqual(['want trades,m', 'alarm oops'])
})
