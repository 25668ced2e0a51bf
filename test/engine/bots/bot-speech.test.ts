import { describe, expect, it } from 'vitest'
import { type Bot, defineStrategy, z } from '../../../src/index.ts'
import { testStrategy } from '../../../src/testing.ts'

/** Returns a rig whose strategy runs `act` at the next trade. */
function speaking(warmup = 0) {
  let next: ((bot: Bot) => unknown) | undefined
  let handle: Bot | undefined
  const strategy = defineStrategy({
    ...{ name: 'speaking', about: '', params: z.object({}), keys: ['trades'], warmup },
    start: (_params, bot: Bot) => {
      handle = bot
      return { onTrade: () => void next?.(bot) }
    },
  })
  const rig = testStrategy(strategy)
  const ask = (act: (bot: Bot) => unknown): void => {
    next = act
    rig.trade({ price: 1e-7 })
    next = undefined
  }
  return { rig, ask, handle: () => handle as Bot, setAlways: (act: (bot: Bot) => unknown) => (next = act) }
}

describe('bot.log', () => {
  it('bot.log writes lines with level, text, fields and time', () => {
    const { rig, ask } = speaking()
    ask(({ log }) => {
      log.debug('one')
      log.info('two', { price: 1e-7, mint: 'M', isOld: false, none: null })
      log.warn('three', {})
    })
    const time = rig.now
    expect(rig.logs).toEqual([
      { time, level: 'debug', text: 'one', fields: {} },
      { time, level: 'info', text: 'two', fields: { price: 1e-7, mint: 'M', isOld: false, none: null } },
      { time, level: 'warn', text: 'three', fields: {} },
    ])
  })

  it('bot.log accepts any value, because a log line must not end a strategy', () => {
    const { rig, ask } = speaking()
    const odd = { left: undefined, nan: Number.NaN, big: 7n, list: [1], code: () => {}, long: 'x'.repeat(300) }
    ask(({ log }) => {
      log.info('x'.repeat(600), odd as never)
      log.info(7 as never, 'fields' as never)
      log.info('many', Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`.repeat(40), index])))
    })
    const [first, second, third] = rig.logs
    expect(first?.text).toHaveLength(500)
    expect(first?.fields).toEqual({
      ...{ nan: 'NaN', big: '7', list: '(object)', code: '(function)', long: 'x'.repeat(200) },
    })
    expect(second).toMatchObject({ text: '(number instead of a text)', fields: {} })
    expect(Object.keys(third?.fields ?? {})).toHaveLength(20)
    expect(Object.keys(third?.fields ?? {})[0]).toHaveLength(50)
  })

  it('bot.log writes 200 lines at once and 2 a second, and the next line states how many were dropped', () => {
    const { rig, ask } = speaking()
    ask(({ log }) => {
      for (let line = 0; line < 1_000; line++) log.debug(`line ${line}`)
    })
    expect(rig.logs).toHaveLength(200)
    rig.advance(9)
    ask(({ log }) => {
      for (let line = 0; line < 1_000; line++) log.info(`later ${line}`)
    })
    expect(rig.logs).toHaveLength(220)
  })

  it('bot.log writes 20 warnings at once and one in 10 s, even after many other lines', () => {
    const { rig, ask } = speaking()
    const warnings = (): number => rig.logs.filter(({ level }) => level === 'warn').length
    ask(({ log }) => {
      for (let line = 0; line < 1_000; line++) log.debug('flood')
      for (let line = 0; line < 100; line++) log.warn('trouble')
    })
    expect(warnings()).toBe(20)
    rig.advance(29)
    ask(({ log }) => {
      for (let line = 0; line < 100; line++) log.warn('trouble')
    })
    expect(warnings()).toBe(23)
  })

  it('bot.log writes nothing during the warm-up, and nothing outside of a handler', () => {
    const { rig, handle, setAlways } = speaking(600)
    setAlways(({ log }) => log.info('print'))
    for (let print = 0; print < 3; print++) rig.trade({ price: 1e-7 })
    rig.restart()
    rig.trade({ price: 1e-7 })
    expect(rig.logs).toHaveLength(4)
    expect(() => handle().log.info('late')).toThrow('outside of a handler')
  })
})

describe('bot.message', () => {
  it('bot.message sends 5 messages at once and 5 a minute, and returns whether it sent one', () => {
    const { rig, ask } = speaking()
    const sent: boolean[] = []
    const burst = (bot: Bot): void => {
      for (let message = 0; message < 7; message++) sent.push(bot.message(`message ${message}`))
    }
    ask(burst)
    expect(sent).toEqual([true, true, true, true, true, false, false])
    rig.advance(24)
    ask(burst)
    expect(sent.filter(Boolean)).toHaveLength(7)
    expect(rig.messages.slice(0, 2)).toEqual(['message 0', 'message 1'])
  })

  it('bot.message cuts a text after 500 characters, and throws for a value that is not a string', () => {
    const { rig, ask } = speaking()
    ask((bot) => bot.message('x'.repeat(600)))
    expect(rig.messages[0]).toHaveLength(500)
    expect(() => ask((bot) => bot.message(7 as never))).toThrow('bot.message requires a text')
  })
})
