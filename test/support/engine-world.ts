import { expect } from 'vitest'
import { z } from 'zod'
import { decodeJson, encodeJson } from '../../src/base/json.ts'
import { lamports } from '../../src/base/units.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { WhenStale } from '../../src/engine/exits/exit-settings.ts'
import type { Input, Output } from '../../src/engine/messages.ts'
import {
  type ExecutionReport,
  type Fill,
  isFullExit,
  isOpen,
  laneOf,
  type Order,
  type OrderState,
} from '../../src/engine/order.ts'
import type { BotSettings } from '../../src/engine/settings.ts'
import { defineStrategy, type Strategy } from '../../src/engine/strategy.ts'
import { dueOf } from '../../src/engine/timers.ts'
import { RowKind } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import { botSettings, fillOf, startInput } from './engine-rig.ts'
import { exitComplaints } from './held-exits.ts'
import { LimitReference } from './limit-reference.ts'
import { RecordedMoney } from './recorded-money.ts'

export const WORLD_MINTS = ['6', '7', '8'].map((first) => `${first}Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump`)

/**
 * A strategy whose requests are written in the market's rows, so that it needs no memory: the `slippage` of a print is
 * the number of the request that the strategy makes.
 */
const puppet = defineStrategy({
  name: 'puppet',
  about: '',
  params: z.object({}),
  keys: ['trades'],
  start: (_params, bot) => ({
    onTrade(trade, token) {
      const reason = 'the print encodes this request'
      const wish = trade.slippage
      if (wish === 1) bot.buy(token, { sol: 0.05 + trade.priorityFee, reason })
      if (wish === 2) bot.buy(token, { sol: 0.05, reason, scaleIn: true, exits: { stopLossPercent: 10 } })
      if (wish === 3) bot.sell(token, { percent: 50, reason })
      if (wish === 4) bot.sell(token, { all: true, reason })
      if (wish === 5) bot.sell(token, { tokens: 1000, reason })
      if (wish === 6)
        bot.setExits(token, {
          ...{ stopLossPercent: 30, maxHoldSeconds: 200, idleSeconds: 100, breakEvenAtPercent: 10, windowPrints: 5 },
          takeProfitSteps: [
            { atPercent: 5, sellPercent: 20 },
            { atPercent: 15, sellPercent: 80 },
          ],
        })
      if (wish === 7) for (const order of bot.orders()) bot.cancel(order.id)
      if (wish === 8) bot.every('tick', 45)
      if (wish === 9) bot.state = { price: token.price ?? null, seen: bot.positions().length }
      if (wish === 10) bot.buy(token, { sol: Number.NaN, reason })
      if (wish === 11) bot.sell(token, { percent: Number.NaN, reason })
    },
  }),
}) as unknown as Strategy

const worldBots = (whenStale: WhenStale): readonly BotSettings[] =>
  ['a', 'b'].map((name) =>
    botSettings('puppet', {
      name,
      paperSol: 3,
      exits: {
        ...{
          stopLossPercent: 20,
          takeProfitPercent: 50,
          trailingPercent: 25,
          trailingArmPercent: 5,
          maxHoldSeconds: 120,
        },
        takeProfitSteps: [{ atPercent: 10, sellPercent: 40 }],
        ...{ windowPrints: 9, breakEvenAtPercent: 30, whenStale },
      },
      limits: {
        maxLamportsPerOrder: lamports(90_000_000),
        maxLamportsPerHour: lamports(400_000_000),
        maxOpenPositions: 2,
        maxLamportsPerMint: lamports(150_000_000),
      },
    }),
  )

export interface Print {
  readonly mint: string
  readonly price: number
  readonly sol: number
  readonly wish: number
  readonly more: number
  readonly ms: number
}

/** An engine with its journal, and a chain that decides the orders. Checks the engine's rules at every step. */
export class EngineWorld {
  readonly recorded = new RecordedMoney()
  readonly outputs: Output[] = []
  /** All decisions, copied at the moment at which the engine emitted them. */
  readonly texts: string[] = []
  readonly mints = new Mints()
  engine: Engine
  seq = 0
  now = 1_780_000_000_000
  #block = new LiveBlock(this.mints.list, 64)
  readonly #bots: readonly BotSettings[]
  readonly #limits: ReadonlyMap<string, LimitReference>
  /** The lamports of each wallet, as the transactions on the chain changed them. */
  readonly #wallets: Map<string, number>
  readonly #executed = new Map<string, Fill>()
  readonly #reopened = new Set<string>()
  #halted = false
  #wanted = new Set<string>()
  #reports = 0

  constructor(whenStale: WhenStale = { policy: 'flatten', afterSeconds: 90 }) {
    this.#bots = worldBots(whenStale)
    this.#limits = new Map(this.#bots.map(({ name, limits }) => [name, new LimitReference(limits)]))
    this.#wallets = new Map(this.#bots.map(({ account, paperLamports }) => [account.id, paperLamports as number]))
    this.engine = new Engine(this.mints, new Map([['puppet', puppet]]))
    this.restart()
  }

  /** Starts a new process on the journal. Prices and the memory of the strategy are lost. */
  restart(): void {
    if (this.seq > 0) for (const position of this.engine.takeMarks()) this.recorded.mark(position)
    this.engine = new Engine(this.mints, new Map([['puppet', puppet]]))
    this.input(startInput(this.#bots, decodeJson(encodeJson(this.recorded.money()))))
    this.input({ kind: 'feed', status: 'live', confirmed: [] })
  }

  print({ mint, price, sol, wish, more, ms }: Print): Output[] {
    this.now += ms
    if (this.#block.length === this.#block.capacity) this.#block = new LiveBlock(this.mints.list, 64)
    const numbers = { price, amount: sol, size: sol / price, marketCap: price * 1e9, extra: wish, extra2: more }
    this.#block.append(this.now, this.now, RowKind.buy, this.mints.intern(mint), numbers, '', '')
    this.engine.rows(++this.seq, this.#block, this.#block.length - 1, this.#block.length)
    return this.#drain()
  }

  input(input: Input): Output[] {
    if (input.kind === 'command' && (input.command.name === 'halt' || input.command.name === 'flatten'))
      this.#halted = true
    if (input.kind === 'command' && input.command.name === 'resume') this.#halted = false
    if (input.kind === 'report') this.#learn(input.report)
    this.recorded.input(input, this.now)
    this.engine.input(++this.seq, this.now, input)
    return this.#drain()
  }

  /** Advances the time to the next timer that is due within `ms`, and returns its input; undefined if there is none. */
  timer(ms: number): Input | undefined {
    const timers = [...this.recorded.timers.values()].map((timer) => ({ id: timer.id, at: dueOf(timer) }))
    const next = timers.sort((one, other) => one.at - other.at || one.id - other.id)[0]
    if (next === undefined || next.at > this.now + ms) return undefined
    this.now = Math.max(this.now, next.at)
    return { kind: 'timer', id: next.id }
  }

  /**
   * Returns a report about the order that `which` (0 to 1) selects. `choice` selects the reported state among those
   * that may follow the order's present state. Returns undefined if no state may follow, or if there is no order.
   */
  report(which: number, choice: number, price: number): Input | undefined {
    const all = [...this.recorded.orders.values()]
    const chosen = all[Math.floor(which * all.length)]
    if (chosen === undefined) return undefined
    const { order, state } = chosen
    const executed = this.#executed.get(order.id)
    const isProved = (to: OrderState, said: Fill | undefined): boolean =>
      said?.final === true || executed?.final === true || (!isOpen(to) && to !== 'filled' && choice > 5)
    const say = (to: OrderState, more: Partial<ExecutionReport> = {}): Input => ({
      kind: 'report',
      id: ++this.#reports,
      report: {
        ...{ orderId: order.id, attemptId: `${order.id}.1`, state: to, code: '', reason: '' },
        ...(isFullExit(order) && { unproved: isProved(to, more.fill) ? 0 : 1 }),
        ...more,
      },
    })
    const fill = (final: boolean): Input => say('filled', { fill: this.#fillOf(order, price, final) })
    const fee = { feeLamports: lamports(7_000) }
    if (state === 'accepted') {
      const next = [say('working'), say('refused'), say('expired'), say('cancelled'), fill(true), say('working')]
      return next[choice % next.length]
    }
    if (isOpen(state)) {
      const next = [fill(true), fill(false), say('failed', fee), say('not_executed'), fill(false), say('accepted')]
      return next[choice % next.length]
    }
    if (state !== 'filled')
      return choice % 3 === 0 && this.recorded.mayExecute(order) ? fill(choice % 2 === 0) : undefined
    if (executed === undefined) return say('working', { reversed: `signature-${order.id}` })
    // An order that executed twice, which is a fault of the service.
    if (choice === 11 && order.side === 'buy')
      return say('filled', { fill: { ...this.#fillOf(order, price, true), signature: `signature-${order.id}-again` } })
    const again = say('filled', { fill: { ...executed, final: choice % 2 === 0 } })
    return executed.final || choice % 3 !== 0 ? again : say('working', { reversed: executed.signature })
  }

  /** Returns a fill whose size is the requested one, or less, or more, as the chain decides. */
  #fillOf(order: Order, price: number, final: boolean): Fill {
    const held = this.recorded.positions.get(`${order.account}|${order.mint}`)?.tokens ?? 0n
    const { size } = order
    const part = size.kind === 'percent' ? (held * BigInt(Math.round(size.percent))) / 100n : held
    const tokens = size.kind === 'sol' ? undefined : size.kind === 'tokens' ? size.tokens : part > 0n ? part : 5n
    const signature = `signature-${order.id}`
    return fillOf(order, price, this.now, { final, signature, ...(tokens !== undefined && { tokens }) })
  }

  /** Updates the state of the chain after a report. The limits must compute the same values from their own data. */
  #learn(report: ExecutionReport): void {
    const { orderId, fill, reversed, feeLamports } = report
    const order = this.recorded.orders.get(orderId)?.order
    const move = (account: string, by: number): Map<string, number> =>
      this.#wallets.set(account, (this.#wallets.get(account) ?? 0) + by)
    if (fill !== undefined && !this.recorded.fills.has(fill.signature)) {
      move(fill.account, fill.walletLamports)
      this.#reopened.delete(orderId)
    }
    if (fill !== undefined)
      this.#executed.set(orderId, { ...fill, final: fill.final || this.#executed.get(orderId)?.final === true })
    if (reversed !== undefined) {
      const undone = this.recorded.fills.get(reversed)
      if (undone !== undefined) {
        move(undone.account, -undone.walletLamports)
        this.recorded.fills.delete(undone.signature)
        this.#executed.delete(undone.orderId)
      }
      this.#reopened.add(orderId)
    }
    if (order !== undefined && feeLamports !== undefined) move(order.account, -feeLamports)
    if (order?.side === 'buy') this.#limits.get(order.bot)?.report(report)
  }

  #drain(): Output[] {
    const drained = this.engine.outputs.splice(0)
    const held = new Map(this.recorded.positions)
    for (const output of drained) {
      const text = encodeJson(output)
      expect(decodeJson(text), 'every output must be plain JSON').toEqual(output)
      this.outputs.push(output)
      this.texts.push(text)
      if (output.kind === 'order') this.#judge(output.order, held)
      if (output.kind === 'keys') this.#wanted = new Set(output.want)
      if (output.kind === 'orderState' && isOpen(output.state) === false) this.#reopened.delete(output.orderId)
      this.recorded.output(output)
    }
    this.#check()
    return drained
  }

  #judge(order: Order, held: RecordedMoney['positions']): void {
    if (order.side === 'sell') return
    expect(this.#halted, 'no buy may be requested after a halt').toBe(false)
    const own = [...held.values()].filter(({ bot, state }) => bot === order.bot && state !== 'closed')
    const positions = own.map(({ mint, costLamports }) => ({ mint, cost: costLamports }))
    expect(this.#limits.get(order.bot)?.objection(order, positions)).toBe('')
  }

  #check(): void {
    const open = [...this.recorded.orders.values()].filter(({ state }) => isOpen(state))
    const lanes = open
      .filter(({ order }) => !this.#reopened.has(order.id))
      .map(({ order }) => `${laneOf(order)} ${isFullExit(order)}`)
    expect(new Set(lanes).size, 'a lane may have one open order, or a partial sale and a full exit').toBe(lanes.length)
    const money = this.recorded.money()
    for (const { account, lamports: balance } of money.accounts)
      expect(balance, `the lamports in the wallet of ${account}`).toBe(this.#wallets.get(account))
    const timers = new Set([...this.recorded.timers.values()].map(({ bot, name }) => `${bot} ${name}`))
    for (const position of this.recorded.positions.values()) {
      const { bot, mint, state, tokens, costLamports, averagePrice, account } = position
      const has = (side: Order['side']): boolean =>
        open.some(({ order }) => order.account === account && order.mint === mint && order.side === side)
      expect(
        tokens >= 0n && costLamports >= 0 && Number.isFinite(averagePrice),
        `the position must have valid amounts: ${encodeJson(position)}`,
      ).toBe(true)
      const follows = tokens > 0n ? (has('sell') ? 'closing' : 'open') : has('buy') ? 'opening' : 'closed'
      if (state !== 'closed') expect(state, `${bot} ${mint}`).toBe(follows)
      if (state === 'closed') expect(tokens).toBe(0n)
      if (state !== 'closed')
        expect(this.#wanted.has(mint), 'the mint of an open position must be subscribed').toBe(true)
      const sent = open.map(({ order }) => order)
      expect(exitComplaints(position, sent, (owner, name) => timers.has(`${owner} ${name}`))).toEqual([])
    }
  }
}
