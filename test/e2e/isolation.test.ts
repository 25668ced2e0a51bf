import { expect, test } from 'vitest'
import { MINT } from '../sandbox/still-market.ts'
import { discrepancies } from './books.ts'
import { called } from './called.ts'
import { openStage, orderIn, type Stage, tell } from './stage.ts'
import { until } from './until.ts'

const MEMORY = { heapMb: 96, buffersMb: 64 }

/**
 * Actions of a strategy that must not affect other strategies. `end`: the strategy throws, has to be stopped, or
 * continues because its action has no effect. `rows`: the strategy repeats the action at every row.
 */
const ACTS: readonly (readonly [act: string, end: 'THREW' | 'STOPPED' | 'STORM' | '', why: RegExp, rows?: boolean])[] =
  [
    ['throw', 'THREW', /^Error: told to$/],
    ['loop', 'STOPPED', /^a handler did not return within \d+ ms$/],
    ['exit', 'STOPPED', /^its thread ended \(exit code 3\)$/],
    ['promise', 'THREW', /^TypeError: a handler returned a promise/],
    ['microtasks', '', /^$/],
    ['rejection', '', /^$/],
    ['timers', '', /^$/],
    ['uncaughtLater', '', /^$/],
    ['timerStorm', 'STORM', /^the timers of the strategy fired [\d,]+ times within/],
    ['console', '', /^$/],
    ['speech', '', /^$/],
    ['notes', 'THREW', /^RangeError: the bot exceeds its limit of 10000 requests/],
    ['orders', 'THREW', /^RangeError: the bot exceeds its limit of 10000 requests/],
    ['state', 'THREW', /^TypeError: bot.state is too large/],
    ['strings', 'THREW', /^RangeError: Invalid string length/],
    ['prototypes', 'THREW', /^TypeError: Cannot assign to read only property 'push'/],
    ['globals', 'THREW', /^TypeError: Cannot assign to read only property 'JSON'/],
    ['pollution', 'THREW', /^TypeError: Cannot add property mint/],
    ['recursion', 'THREW', /^RangeError: Maximum call stack/],
    ['buffers', 'STOPPED', /^the strategies hold \d+ MB of buffers$/, true],
    ['heap', 'STOPPED', /^the strategies hold \d+ MB of memory$/, true],
  ]
/** Actions that take seconds or much memory. */
const LONG_ACTS: typeof ACTS = [
  ['blocking', 'STOPPED', /^a handler did not come back/],
  ['caught', 'STOPPED', /^a handler did not come back/],
  ['recursiveOrders', 'STOPPED', /stack/],
  ['heapAtOnce', 'STOPPED', /memory|did not come back/i],
  ['buffersAtOnce', 'STOPPED', /did not come back|memory|allocation/],
]

/** Replays the run with the command `replay`. The command runs the hostile strategies in a separate thread, so they
 *  cannot harm this process. */
async function expectReplayed(stage: Stage): Promise<void> {
  const books = stage.books()
  expect(discrepancies(books, stage.chain())).toEqual([])
  const { code, stdout } = await called(['replay', '--journal', stage.journal, '--verify', '--json'])
  expect(code, stdout).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ segments: books.segments.length, equal: true, divergence: null })
}

test('a strategy that misbehaves stops no other strategy, and every decision can be replayed', async ({
  onTestFinished,
}) => {
  const acts = process.env.SLUICE_HOSTILE === 'all' ? [...ACTS, ...LONG_ACTS] : ACTS
  const bots = [
    { name: 'calm', strategy: 'puppet' } as const,
    ...acts.map(([name]) => ({ name, strategy: 'hostile' }) as const),
  ]
  const stage = await openStage({ bots, isolation: MEMORY }, onTestFinished)
  const running = await stage.go()
  const calm = async (signal: string): Promise<string> => (await tell(running.handle, stage, signal, 'calm')).answer
  expect(await calm('buy')).toBe('o1')
  await orderIn(stage, 'o1', ({ state }) => state === 'filled')
  const alarmOf = (name: string) => stage.books().outputs.find(({ kind, bot }) => kind === 'alarm' && bot === name)
  for (const [act, end, why, rows = false] of acts) {
    await running.handle({ command: 'signal', signal: act, data: { to: act, mint: MINT, rows } })
    if (end !== '') {
      const alarm = await until(`the end of ${act}`, () => {
        if (rows) stage.prints(4)
        return alarmOf(act)
      })
      const { reason, code } = alarm
      expect({ code, reason: reason.replace(/^\/.*?hostile\.ts:\d+:\d+: /, '') }).toEqual({
        code: `STRATEGY_${end}`,
        reason: expect.stringMatching(why),
      })
      if (act === 'throw') expect(reason).toMatch(/hostile\.ts:\d+:11: /)
    }
    expect(await calm('buy')).toMatch(/POSITION_OPEN|PRICE_UNKNOWN/)
  }
  const alarmed = stage
    .books()
    .outputs.filter(({ kind }) => kind === 'alarm')
    .map(({ bot }) => bot)
  expect(alarmed.sort()).toEqual(
    acts
      .filter(([, end]) => end !== '')
      .map(([act]) => act)
      .sort(),
  )
  stage.prints(5)
  const sale = await calm('sell')
  await orderIn(stage, sale, ({ state }) => state === 'filled')
  await stage.settled()
  await running.stop()
  expect(stage.log.filter((line) => line.includes('INFO line ')).length).toBeLessThan(60)
  const spoken = stage.log.filter((line) => line.includes(' spoken '))
  expect([spoken.length >= 200, spoken.length < 300]).toEqual([true, true])
  expect(spoken[0]).toMatch(/INFO spoken 0 bot=speech seq=\d+ count=0/)
  await expectReplayed(stage)
})

test('if the engine hangs during a buy and the operator sells everything, the bought tokens are sold and nothing else is bought', async ({
  onTestFinished,
}) => {
  const bots = [
    { name: 'calm', strategy: 'puppet' },
    { name: 'loop', strategy: 'hostile' },
  ] as const
  const stage = await openStage({ bots, isolation: MEMORY }, onTestFinished)
  const running = await stage.go()
  stage.sandbox.faults.set({ kind: 'delay', ms: 200 })
  expect(await tell(running.handle, stage, 'buy', 'calm')).toMatchObject({ answer: 'o1' })
  await running.handle({ command: 'signal', signal: 'loop', data: { to: 'loop', mint: MINT } })
  await running.handle({ command: 'flatten' })
  stage.prints(5)
  await until('the fill of the buy while the engine hangs', () => stage.books().fills.length > 0)
  await until('the next engine', () => stage.log.some((line) => line.includes('the engine runs again')))
  const { orders } = await stage.settled()
  expect(orders).toMatchObject([
    { id: 'o1', side: 'buy', state: 'filled' },
    { id: 'o2', side: 'sell', state: 'filled' },
  ])
  expect(await tell(running.handle, stage, 'buy', 'calm')).toMatchObject({ answer: 'HALTED' })
  await running.stop()
  await expectReplayed(stage)
})

test('a start whose engine does not work ends and reports the reason', async ({ onTestFinished }) => {
  const stage = await openStage({ isolation: { heapMb: 2, buffersMb: 64 } }, onTestFinished)
  await expect(stage.start()).rejects.toThrow('the engine failed again although no strategy was running')
})
