import { type Block, RowKind } from './block.ts'
import { Desk } from './desk.ts'
import { SluiceError } from './errors.ts'
import { ExitWatch } from './exit-watch.ts'
import type { Command, Input, Output, StartInput } from './messages.ts'
import type { Mints } from './mints.ts'
import type { BotMoney } from './money.ts'
import type { EnginePort } from './ports.ts'
import type { Position } from './position.ts'
import { Exits } from './position-exits.ts'
import { Reports } from './reports.ts'
import { Session } from './session.ts'
import type { BotSettings } from './settings.ts'
import type { Strategy } from './strategy.ts'
import { Trader } from './trader.ts'
import { type Millis, type Seq, ZERO } from './units.ts'

/** All bots and accounts of one process under one seq. The same in live, paper, backtest and replay: what differs is who feeds it.
 *  First comes a `start` input, then rows that strategies are shown without acting (`warm`), then the stream. */
export class Engine implements EnginePort {
  readonly outputs: Output[] = []
  /** Which bot's handler runs now: an index into the bots of the start, -1 for none. A watchdog reads it from another thread. */
  readonly active: Int32Array
  readonly #mints: Mints
  readonly #strategies: ReadonlyMap<string, Strategy>
  #session!: Session
  #watch!: ExitWatch
  #exits!: Exits
  #reports!: Reports
  #traders: Trader[] = []
  /** Who is shown every trade, every new token, every price update. */
  #audience: Record<RowKind, Trader[]> = { 0: [], 1: [], 2: [], 3: [] }
  /** Who watches a token beside that. */
  #watchers: (Trader[] | undefined)[] = []
  #warmed = false

  /** `strategies` by the name that the bots' settings use. */
  constructor(mints: Mints, strategies: ReadonlyMap<string, Strategy>, active = new Int32Array(1)) {
    this.#mints = mints
    this.#strategies = strategies
    this.active = active
  }

  row(seq: Seq, time: Millis, block: Block, row: number): void {
    const session = this.#session
    session.seq = seq
    session.now = time
    if (this.#warmed) this.#settle()
    this.#dispatch(session, block, row)
    session.wants.flush()
  }

  warm(block: Block, row: number): void {
    const session = this.#session
    session.warming = true
    this.#warmed = true
    session.now = block.time[row] as number
    this.#dispatch(session, block, row)
    session.warming = false
  }

  input(seq: Seq, time: Millis, input: Input): void {
    if (input.kind === 'start') this.#begin(input)
    const session = this.#session
    session.seq = seq
    session.now = time
    if (this.#warmed) this.#settle()
    this.#take(session, input)
    session.wants.flush()
  }

  /** Positions whose high-water mark rose since the last call. */
  takeMarks(): Position[] {
    return this.#watch.takeMarks()
  }

  #dispatch(session: Session, block: Block, row: number): void {
    const token = block.token[row] as number
    const kind = block.kind[row] as RowKind
    const lag = session.now - (block.stamp[row] as number)
    if (lag < session.leastLagMs) session.leastLagMs = lag
    session.block = block
    session.row = row
    if (
      kind <= RowKind.sell &&
      session.prices.fold(block, row, token) &&
      this.#watch.concerns(token) &&
      !session.warming
    )
      this.#watch.check(token)
    const audience = this.#audience[kind]
    for (let index = 0; index < audience.length; index++) (audience[index] as Trader).row(block, row, token)
    const watchers = this.#watchers[token]
    if (watchers !== undefined)
      for (const trader of watchers) if (!audience.includes(trader)) trader.row(block, row, token)
    session.block = undefined
  }

  /** Between the warm-up and the first thing that counts: what was printed before the start is no price to act on. */
  #settle(): void {
    this.#warmed = false
    this.#session.prices.forgetAll()
  }

  #begin(start: StartInput): void {
    const session = new Session(this.outputs, this.#mints, start.plan, start.units, this.active)
    this.#session = session
    session.nextOrder = start.money.nextOrder
    session.book.restore(start.money)
    this.#watch = new ExitWatch(session, (position, reason) => this.#exits.sell(position, reason))
    const desk = new Desk(session, this.#watch)
    this.#exits = new Exits(session, desk, (bot) => this.#traders.find((trader) => trader.name === bot)?.settings)
    this.#reports = new Reports(session, this.#watch, this.#exits, (bot) =>
      this.#traders.find((trader) => trader.name === bot),
    )
    this.#watchers = []
    this.#audience = { 0: [], 1: [], 2: [], 3: [] }
    this.#traders = start.bots.map((settings, index) => this.#hire(session, desk, settings, index, start.money.bots))
  }

  #hire(session: Session, desk: Desk, settings: BotSettings, index: number, restored: readonly BotMoney[]): Trader {
    const strategy = this.#strategies.get(settings.strategy)
    if (strategy === undefined) throw new SluiceError(`no strategy ${settings.strategy}`)
    const money = restored.find(({ bot, account }) => bot === settings.name && account === settings.account.id)
    const seat = {
      index,
      setExits: (mint: string, exits: Position['exits']) => this.#exits.change(settings, mint, exits),
      watch: (token: number, on: boolean) => this.#setWatcher(index, token, on),
    }
    return new Trader(
      session,
      desk,
      settings,
      money === undefined ? newBotMoney(settings) : { ...money, status: 'active', buys: [...money.buys] },
      strategy,
      seat,
    )
  }

  #take(session: Session, input: Input): void {
    switch (input.kind) {
      case 'start':
        this.#open(session, input)
        break
      case 'feed':
        session.feed = input.status
        break
      case 'gap':
        this.#gap(session, input)
        break
      case 'timer':
        this.#timer(session, input.id)
        break
      case 'report':
        this.#reports.take(input.report)
        break
      case 'wallet': {
        const account = session.book.accounts.get(input.account)
        if (account === undefined || input.slot < account.slot) break
        Object.assign(account, { lamports: input.lamports, slot: input.slot })
        session.emit({ kind: 'account', money: { ...account } })
        break
      }
      case 'plan':
        session.plan = input.plan
        break
      case 'command':
        this.#command(session, input.command)
        break
    }
  }

  /** Second half of a start, at its own time: accounts, what is watched, timers, strategies. */
  #open(session: Session, start: StartInput): void {
    for (const { account, paperLamports } of start.bots) {
      if (session.book.accounts.has(account.id)) continue
      const money = {
        account: account.id,
        lamports: account.mode === 'live' ? null : paperLamports,
        slot: 0,
        halted: false,
      }
      session.book.accounts.set(account.id, money)
      session.emit({ kind: 'account', money: { ...money } })
    }
    session.timers.restore(start.money.timers, start.money.nextTimer)
    for (const position of session.book.positions.values()) this.#watch.watch(position)
    for (const position of session.book.positions.values()) this.#exits.restore(position)
    for (const trader of this.#traders) {
      for (const key of trader.strategy.keys) this.#subscribe(trader, key)
      trader.start()
    }
  }

  #subscribe(trader: Trader, key: string): void {
    this.#session.wants.add(key)
    if (key === 'trades') this.#audience[RowKind.buy].push(trader)
    if (key === 'trades') this.#audience[RowKind.sell].push(trader)
    else if (key === 'newTokens') this.#audience[RowKind.newToken].push(trader)
    else if (key === 'priceUpdates') this.#audience[RowKind.priceUpdate].push(trader)
    else this.#setWatcher(trader.index, this.#mints.intern(key), true)
  }

  #setWatcher(index: number, token: number, on: boolean): void {
    const trader = this.#traders[index] as Trader
    const others = this.#watchers[token]?.filter((other) => other !== trader) ?? []
    const left = on ? [...others, trader] : others
    this.#watchers[token] = left.length === 0 ? undefined : left
  }

  #gap(session: Session, gap: Extract<Input, { kind: 'gap' }>): void {
    if (gap.keys.includes('trades')) session.prices.forgetAll()
    else for (const key of gap.keys) session.prices.forget(this.#mints.intern(key))
    for (const trader of this.#traders) {
      if (gap.keys.some((key) => trader.keys.has(key))) trader.guard(() => trader.handlers.onGap?.(gap))
    }
  }

  #timer(session: Session, id: number): void {
    const timer = session.timers.fire(id)
    if (timer === undefined) return
    const trader = this.#traders.find(({ name }) => name === timer.bot)
    if (timer.owner === 'exits') this.#exits.timer(timer)
    else trader?.guard(() => trader.handlers.onTimer?.(timer.name))
  }

  #command(session: Session, command: Command): void {
    switch (command.name) {
      case 'halt':
      case 'resume':
        this.#halt(session, command.name === 'halt')
        break
      case 'flatten':
        this.#halt(session, true)
        for (const position of session.book.positions.values()) this.#exits.sell(position, 'flatten')
        break
      case 'sell':
        for (const position of session.book.positions.values())
          if (position.mint === command.mint) this.#exits.sell(position, 'sold by hand')
        break
      case 'signal':
        for (const trader of this.#traders) trader.guard(() => trader.handlers.onSignal?.(command.signal, command.data))
        break
      case 'stop':
        for (const trader of this.#traders) trader.guard(() => trader.handlers.onStop?.())
    }
  }

  #halt(session: Session, halted: boolean): void {
    for (const account of session.book.accounts.values()) {
      account.halted = halted
      session.emit({ kind: 'account', money: { ...account } })
    }
  }
}

function newBotMoney(settings: BotSettings): BotMoney {
  return {
    bot: settings.name,
    account: settings.account.id,
    status: 'active',
    state: null,
    buys: [],
    day: -1,
    dayRealizedLamports: ZERO,
    dayStartUnrealizedLamports: ZERO,
  }
}
