import { defineStrategy, type Json, z } from 'sluice'

interface Accomplice {
  every(name: string, seconds: number): unknown
  state: Json
  note(mint: string, why: string): void
  log: Record<'info' | 'warn', (text: string, fields?: Record<string, number>) => void>
  message(text: string): boolean
  buy(mint: string, options: { sol: number; reason: string }): unknown
}

const MINT = 'J5p7z5dZew83HwpFnUqr1HL2S29sn8i7S8eFNwDUpump'
/** Data that the strategy never releases. */
const hoard: unknown[] = []

function forever(): never {
  for (;;) hoard.length = 0
}

function deeper(run: () => void): void {
  run()
  deeper(run)
}

/** The actions that a command can select. Each of them occurred in a real strategy. */
const acts: Readonly<Record<string, (bot: Accomplice) => unknown>> = {
  throw: () => {
    throw new Error('told to')
  },
  loop: forever,
  // sluice: allow process.exit, because this strategy is hostile
  exit: () => process.exit(3),
  blocking: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  recursion: () => deeper(() => {}),
  recursiveOrders: (bot) => {
    const deep = (): void => {
      try {
        deep()
      } catch {}
      bot.buy(MINT, { sol: 0.001, reason: 'at the end of the stack' })
    }
    deep()
  },
  // sluice: allow async, because this strategy is hostile
  promise: async () => {
    await undefined
    throw new Error('nobody hears this')
  },
  microtasks: () => {
    // sluice: allow queueMicrotask, because this strategy is hostile
    const again = (): void => queueMicrotask(again)
    again()
  },
  // sluice: allow Promise.reject, because this strategy is hostile
  rejection: () => void Promise.reject(new Error('nobody hears this')),
  timers: () => {
    // sluice: allow setInterval, because this strategy is hostile
    for (let count = 0; count < 10_000; count++) setInterval(forever, 0)
  },
  // sluice: allow setImmediate, because this strategy is hostile
  uncaughtLater: () => void setImmediate(() => acts.throw?.({} as Accomplice)),
  notes: (bot) => {
    for (let count = 0; count < 1e6; count++) bot.note(MINT, `note ${count}`)
  },
  orders: (bot) => {
    for (let count = 0; count < 1e6; count++) bot.buy(MINT, { sol: 0.001, reason: `order ${count}` })
  },
  caught: (bot) => {
    for (;;)
      try {
        bot.note(MINT, 'again')
      } catch {}
  },
  timerStorm: (bot) => {
    for (let count = 0; count < 500; count++) bot.every(`timer ${count}`, 0.1)
  },
  console: () => {
    for (let count = 0; count < 20_000; count++) console.log(`line ${count}`, hoard)
  },
  speech: (bot) => {
    for (let count = 0; count < 20_000; count++) {
      bot.log.info(`spoken ${count}`, { count })
      bot.log.warn(`warned ${count}`)
      bot.message(`told ${count}`)
    }
  },
  state: (bot) => {
    bot.state = { text: 'x'.repeat(5e6) }
  },
  strings: () => {
    let text = 'x'
    for (;;) text += text
  },
  prototypes: () => {
    Array.prototype.push = () => 0
  },
  globals: () => {
    globalThis.JSON = {} as JSON
  },
  pollution: () => {
    Object.assign(Object.prototype, { mint: 'everywhere' })
  },
  heap: () => {
    for (let count = 0; count < 40_000; count++) hoard.push({ count, list: [count, count + 1, count + 2] })
  },
  heapAtOnce: () => {
    for (;;) hoard.push({ list: new Array(100).fill(hoard.length) })
  },
  buffers: () => {
    hoard.push(new ArrayBuffer(8e6))
  },
  buffersAtOnce: () => {
    for (;;) hoard.push(new Uint8Array(16e6).fill(1))
  },
}

export default defineStrategy({
  name: 'hostile',
  about: 'Does harmful actions that signals select.',
  params: z.object({ atStart: z.string().default('') }),
  keys: ['trades'],
  start: ({ atStart }, bot) => {
    acts[atStart]?.(bot)
    return {
      onSignal(name, data) {
        const { to, rows } = data as { to: string; rows?: boolean }
        if (to !== bot.name) return undefined
        if (rows !== true) return acts[name]?.(bot) as undefined
        bot.state = name // it repeats the action in the next engine
      },
      onTrade() {
        acts[String(bot.state)]?.(bot)
      },
    }
  },
})
