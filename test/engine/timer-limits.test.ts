import { describe, expect, it } from 'vitest'
import type { Output } from '../../src/engine/messages.ts'
import { NO_MONEY, type Timer } from '../../src/engine/recovered-money.ts'
import type { Bot } from '../../src/engine/strategy.ts'
import { MINT } from '../support/engine-rig.ts'
import { TalkingBot } from '../support/talking-bot.ts'

const START = 1_780_000_000_000

const alarmsIn = (outputs: readonly Output[]) => outputs.flatMap((one) => (one.kind === 'alarm' ? [one] : []))
const timersIn = (outputs: readonly Output[]) => outputs.flatMap((one) => (one.kind === 'timer' ? [one.timer] : []))
const clearedIn = (outputs: readonly Output[]) =>
  outputs.flatMap((one) => (one.kind === 'timerCleared' ? [one.id] : []))

/** Returns the timers that are still set after these outputs. */
function setAfter(outputs: readonly Output[]): Timer[] {
  const cleared = new Set(clearedIn(outputs))
  return timersIn(outputs).filter(({ id }) => !cleared.has(id))
}

function ready(): TalkingBot {
  const talk = new TalkingBot()
  talk.rig.settle(1e-6)
  return talk
}

describe('a timer that is refused', () => {
  it.each([
    ['every', 0.001],
    ['every', 0.09],
    ['after', 0.05],
  ] as const)('bot.%s with %d s is refused as too short', (kind, seconds) => {
    const talk = ready()
    const answer = talk.ask((bot) => bot[kind]('t', seconds))
    expect(answer).toMatchObject({ ok: false, code: 'TIMER_TOO_SHORT', reason: expect.stringContaining('timer t') })
    expect(timersIn(talk.rig.outputs)).toEqual([])
    expect(talk.ask((bot) => bot[kind]('t', 0.1))).toEqual({ ok: true })
  })

  it('if a bot requests 500 timers of one millisecond, none is set, one alarm is raised, and the bot continues', () => {
    const talk = ready()
    const codes = talk.ask((bot) =>
      Array.from({ length: 500 }, (_, index) => {
        const answer = bot.every(`t${index}`, 0.001)
        return answer.ok ? '' : answer.code
      }),
    )
    expect(new Set(codes)).toEqual(new Set(['TIMER_TOO_SHORT']))
    expect(timersIn(talk.rig.outputs)).toEqual([])
    expect(alarmsIn(talk.rig.outputs)).toMatchObject([{ bot: 'told', code: 'TIMER_TOO_SHORT' }])
    expect(talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'it goes on' }))).toMatchObject({ ok: true })
  })

  it('the 1,001st timer of a bot is refused until another timer ends, but replacing a timer is allowed', () => {
    const talk = ready()
    const ask = (name: string) => talk.ask((bot) => bot.after(name, 60))
    talk.ask((bot) => {
      for (let index = 0; index < 1_000; index++) bot.after(`t${index}`, 60)
    })
    expect(ask('more')).toMatchObject({ ok: false, code: 'TIMERS_FULL' })
    expect(ask('more')).toMatchObject({ ok: false, code: 'TIMERS_FULL' })
    expect(ask('t7')).toEqual({ ok: true })
    talk.ask((bot) => bot.clear('t8'))
    expect(ask('more')).toEqual({ ok: true })
    expect(alarmsIn(talk.rig.outputs)).toMatchObject([{ code: 'TIMERS_FULL' }])
  })
})

/**
 * Fires all timers of the bot as often as the clock allows, until no timer is left or until this many seconds have
 * passed. Returns the number of firings.
 */
function storm(talk: TalkingBot, seconds: number): number {
  const before = talk.fired.length
  const end = talk.rig.now + seconds * 1_000
  while (talk.rig.now < end) {
    talk.rig.now += 100
    for (const { id, everyMs, at } of setAfter(talk.rig.outputs))
      if (everyMs > 0 || at <= talk.rig.now) talk.rig.input({ kind: 'timer', id })
  }
  return talk.fired.length - before
}

describe('timers that fire too often', () => {
  it('timers that fire too often are cleared, the entries of the bot end, and the alarm names the bot and the rate', () => {
    const talk = ready()
    talk.ask((bot) => {
      for (let index = 0; index < 500; index++) bot.every(`t${index}`, 0.1)
    })
    expect(storm(talk, 10)).toBeLessThanOrEqual(2_100)
    expect(alarmsIn(talk.rig.outputs)).toMatchObject([{ bot: 'told', code: 'STRATEGY_STORM' }])
    expect(alarmsIn(talk.rig.outputs)[0]?.reason).toMatch(
      /^the timers of the strategy fired [\d,]+ times within \d+\.\d s, /,
    )
    expect(setAfter(talk.rig.outputs)).toEqual([])
    expect(talk.rig.outputs.findLast((output) => output.kind === 'bot')?.money.status).toBe('exits-only')
  })

  it('a timer that sets the next timer each time it fires can also fire too often', () => {
    const talk = ready()
    talk.ask((bot) => {
      for (let index = 0; index < 50; index++) bot.after(`t${index}`, 0.1)
    })
    talk.atTimer = (bot) => bot.after(talk.fired.at(-1) as string, 0.1)
    expect(storm(talk, 10)).toBeLessThan(2_500)
    expect(alarmsIn(talk.rig.outputs)).toMatchObject([{ bot: 'told', code: expect.stringMatching(/^STRATEGY_/) }])
    expect(setAfter(talk.rig.outputs)).toEqual([])
  })

  it('ten timers that fire ten times a second for an hour do not fire too often', () => {
    const talk = ready()
    talk.ask((bot) => {
      for (let index = 0; index < 10; index++) bot.every(`t${index}`, 0.1)
    })
    expect(storm(talk, 360)).toBe(36_000)
    expect(alarmsIn(talk.rig.outputs)).toEqual([])
  })
})

describe('the timers of a closed position end', () => {
  it('a strategy that throws loses its timers', () => {
    const talk = ready()
    talk.ask((bot) => {
      bot.every('tick', 1)
      bot.after('once', 5)
    })
    const ids = timersIn(talk.rig.outputs).map(({ id }) => id)
    talk.dare(() => {
      throw new Error('told to')
    })
    expect(clearedIn(talk.rig.outputs)).toEqual(ids)
    for (const id of ids) talk.rig.input({ kind: 'timer', id })
    expect(talk.fired).toEqual([])
  })

  /** Returns the names of those timers that continue after a restart. */
  const goesOn = (timers: readonly Partial<Timer>[], start?: (bot: Bot<unknown>) => void): string[] => {
    const whole = timers.map(
      (timer, index): Timer => ({
        ...{ id: index + 1, bot: 'told', owner: 'strategy', name: `t${index + 1}`, at: START + 5_000, everyMs: 10_000 },
        ...timer,
      }),
    )
    const money = { ...NO_MONEY, nextTimer: 2_000, timers: whole }
    const talk = new TalkingBot({ money }, (bot) => {
      start?.(bot)
      return {}
    })
    return setAfter(talk.rig.outputs).map(({ name }) => name)
  }

  it('a restart keeps the timers of a strategy, except those that the earlier `start` set and the new `start` does not', () => {
    const timers = [{ declared: true }, { declared: true }, {}, { everyMs: 0 }, { everyMs: 0, declared: true }]
    expect(goesOn(timers, (bot) => bot.every('t2', 10))).toEqual(['t2', 't3', 't4'])
  })

  it("a restart with another strategy, or without the bot, ends the bot's timers", () => {
    expect(goesOn([{ strategy: 'told' }, { strategy: 'other' }, { bot: 'gone' }])).toEqual(['t1'])
  })

  it('timers that only older versions of Sluice allowed end at the start', () => {
    expect(goesOn([{ everyMs: 1 }, { everyMs: 99 }, { everyMs: 100 }])).toEqual(['t3'])
    expect(goesOn(Array.from({ length: 1_500 }, () => ({ everyMs: 0 })))).toHaveLength(1_000)
  })

  it('timers of exits continue after a restart with another strategy', () => {
    expect(goesOn([{ owner: 'exits', name: `hold:${MINT}`, everyMs: 0 }])).toEqual([`hold:${MINT}`])
  })
})

describe('requests with a higher cost', () => {
  it('the longer a state or a note is, the more requests it costs', () => {
    const count = (act: (bot: Bot<unknown>) => void): number => {
      const talk = ready()
      let times = 0
      talk.dare((bot) => {
        for (; times < 20_000; times++) act(bot)
      })
      return times
    }
    expect(count((bot) => Object.assign(bot, { state: 1 }))).toBeLessThan(10_000)
    expect(count((bot) => Object.assign(bot, { state: 'x'.repeat(9_900) }))).toBeLessThanOrEqual(100)
    expect(count((bot) => bot.note(MINT, 'x'.repeat(400)))).toBe(2_000)
  })
})
