import type { ExitRules } from '../../src/core/exits.ts'

// What conditional orders and exits of one token should do, written from docs/exits.md and not from the engine: plain numbers, times in ms,
// and every order answered before anything else happens.

export type ReferenceExits = Required<Omit<ExitRules, 'stopPrice' | 'takeProfitPrice' | 'whenStale' | 'windowPrints'>>

/** How exits go out again. */
export interface ReferenceLadder {
  slippageLadder: readonly number[]
  retryMs: number
}

export interface Wish {
  kind: 'limitBuy' | 'limitSell' | 'stopSell'
  atPrice: number
  percent: number
  forSeconds: number | undefined
  group: string
}

type Waiting = Wish & { tries: number; notBefore: number; endsAt: number; isOver: boolean }

/** An order: a buy, or a share of what is held in percent, with the slippage that it allows. */
export type Expected = 'buy' | { share: number; slippage: number }
/** What becomes of an order: how much of it is executed, 0 to 1. Why it was not all does not matter. */
export type Answers = () => number

/** `asked`: of what was bought, by steps and limits so far. `tries`: sales since the last one that sold something. */
interface Held {
  tokens: number
  bought: number
  average: number
  high: number
  steps: number
  asked: number
  endsAt: number
  printedAt: number
  isExiting: boolean
  tries: number
  retryAt: number
}

const NEVER = Number.POSITIVE_INFINITY

export class ConditionalReference {
  readonly #exits: ReferenceExits
  readonly #ladder: ReferenceLadder
  #prints: number[] = []
  #waiting: Waiting[] = []
  #now = 0
  #held: Held | undefined
  /** Sales that are out; all of it goes beside a part, and then the part is called off. */
  #out: Exclude<Expected, 'buy'>[] = []
  #done: Expected[] = []

  constructor(exits: ReferenceExits, ladder: ReferenceLadder) {
    this.#exits = exits
    this.#ladder = ladder
  }

  /** Prices are forgotten, and nobody has looked at the token before. */
  restart(): void {
    this.#prints = []
    if (this.#held !== undefined) this.#held.printedAt = this.#now
  }

  /** Time passes, then a print comes: what went out, in order. The strategy sees the print after what it set off, and before any of that is
   *  answered. */
  print(print: number, ms: number, answers: Answers, wish: Wish | undefined): Expected[] {
    this.#done = []
    const until = this.#now + ms
    for (let at = this.#nextAt(); at <= until; at = this.#nextAt()) {
      this.#now = at
      this.#timer(at)
      this.#answer(answers)
    }
    this.#now = until
    this.#prints.push(print)
    if (this.#held !== undefined) this.#held.printedAt = until
    const price = this.#robust()
    if (price !== undefined && this.#held !== undefined) this.#priced(this.#held, price)
    const buyer = price === undefined ? undefined : this.#conditionals(price)
    if (wish !== undefined && (wish.kind === 'limitBuy' || this.#held !== undefined)) this.#wait(wish)
    this.#answer(answers)
    if (buyer !== undefined) this.#buy(buyer, answers, price as number)
    return this.#done
  }

  #robust(): number | undefined {
    const count = this.#prints.length < 5 ? 3 : 5
    const window = this.#prints.length < 5 ? this.#prints.slice(0, 3) : this.#prints.slice(-5)
    return window.length < 3 ? undefined : window.sort((one, other) => one - other)[(count - 1) / 2]
  }

  #nextAt(): number {
    const { retryAt = NEVER, endsAt = NEVER } = this.#held ?? {}
    return Math.min(retryAt, endsAt, this.#idleAt(), ...this.#waiting.map((one) => (one.isOver ? NEVER : one.endsAt)))
  }

  #idleAt(): number {
    if (this.#held === undefined || this.#held.isExiting) return NEVER
    return this.#held.printedAt + this.#exits.idleSeconds * 1_000
  }

  #timer(at: number): void {
    for (const one of this.#waiting) if (one.endsAt === at) one.isOver = true
    const held = this.#held
    if (held === undefined) return
    const isIdle = this.#idleAt() === at
    const isRetried = held.retryAt === at
    if (isRetried) held.retryAt = NEVER
    if (held.endsAt === at || isIdle || (isRetried && held.isExiting)) this.#sellAll(held)
    else if (isRetried) this.#sellPart(held)
    if (held.endsAt === at) held.endsAt = NEVER
  }

  #priced(held: Held, price: number): void {
    const rules = this.#exits
    const rise = (percent: number): number => held.average * (1 + percent / 100)
    held.high = Math.max(held.high, price)
    if (held.isExiting) return
    const isTrailed =
      held.high >= rise(rules.trailingArmPercent) && price <= held.high * (1 - rules.trailingPercent / 100)
    const isEven = held.high >= rise(rules.breakEvenAtPercent) && price <= held.average
    if (price <= rise(-rules.stopLossPercent) || isTrailed || isEven || price >= rise(rules.takeProfitPercent)) {
      this.#sellAll(held)
      return
    }
    const before = held.steps
    for (let step = rules.takeProfitSteps[held.steps]; step && price >= rise(step.atPercent); ) {
      held.asked += (held.bought * step.sellPercent) / 100
      step = rules.takeProfitSteps[++held.steps]
    }
    if (held.steps > before) this.#sellPart(held)
  }

  /** The one that buys. */
  #conditionals(price: number): Waiting | undefined {
    let buyer: Waiting | undefined
    for (const one of this.#waiting) {
      const isThere = one.kind === 'limitSell' ? price >= one.atPrice : price <= one.atPrice
      if (one.isOver || this.#now < one.notBefore || !isThere || (one.group !== '' && buyer?.group === one.group))
        continue
      if (one.kind === 'limitBuy') {
        if (this.#held === undefined) buyer ??= one
      } else if (this.#held !== undefined) {
        const held = this.#held
        this.#fulfil(one)
        if (one.percent < 100)
          held.asked = Math.max(held.asked, held.bought - held.tokens) + (held.tokens * one.percent) / 100
        if (one.percent >= 100) this.#sellAll(held)
        else this.#sellPart(held)
      }
    }
    return buyer
  }

  #sellAll(held: Held): void {
    held.isExiting = true
    if (!this.#out.some(({ share }) => share === 100)) this.#send(held, 100)
  }

  /** What steps and limits asked for and nothing sold yet; a share goes out with two decimals of a percent. */
  #sellPart(held: Held): void {
    if (held.isExiting) return
    held.retryAt = NEVER
    const due = held.asked - (held.bought - held.tokens)
    if (this.#out.length > 0 || due <= held.bought / 1_000) return
    const share = Math.round((due / held.tokens) * 10_000) / 100
    if (share >= 99.9) this.#sellAll(held)
    else this.#send(held, share)
  }

  #send(held: Held, share: number): void {
    const { slippageLadder } = this.#ladder
    this.#out.push({ share, slippage: slippageLadder[Math.min(held.tries++, slippageLadder.length - 1)] as number })
  }

  #answer(answers: Answers): void {
    for (let sale = this.#out.shift(); sale !== undefined; sale = this.#out.shift()) {
      const held = this.#held as Held
      if (this.#out.length > 0) continue // overtaken
      this.#done.push(sale)
      const executed = answers()
      held.tokens *= 1 - (sale.share / 100) * executed
      if (executed > 0) held.tries = 0
      if (sale.share === 100 && executed === 1) this.#close()
      else if (held.retryAt === NEVER) this.#goOn(held)
    }
  }

  /** After a sale that left something to sell: at once where it sold what it could and was a part, else later and later. */
  #goOn(held: Held): void {
    const isDue = held.isExiting || held.asked - (held.bought - held.tokens) > held.bought / 1_000
    if (!held.isExiting && held.tries === 0) this.#sellPart(held)
    else if (isDue) held.retryAt = this.#now + this.#ladder.retryMs * 2 ** Math.min(Math.max(held.tries - 1, 0), 6)
  }

  #buy(one: Waiting, answers: Answers, price: number): void {
    this.#done.push('buy')
    one.tries++
    if (answers() > 0) {
      const tokens = 0.1 / price
      const endsAt = this.#now + this.#exits.maxHoldSeconds * 1_000
      const held = { tokens, bought: tokens, average: price, high: price, steps: 0, asked: 0 }
      this.#held = { ...held, endsAt, printedAt: this.#now, isExiting: false, tries: 0, retryAt: NEVER }
      this.#fulfil(one)
    } else if (one.tries >= 5) one.isOver = true
    else one.notBefore = this.#now + 1_000 * 2 ** (one.tries - 1)
  }

  #wait(wish: Wish): void {
    const endsAt = wish.forSeconds === undefined ? NEVER : this.#now + wish.forSeconds * 1_000
    this.#waiting.push({ ...wish, tries: 0, notBefore: 0, endsAt, isOver: false })
  }

  #fulfil(one: Waiting): void {
    one.isOver = true
    for (const other of this.#waiting) if (one.group !== '' && other.group === one.group) other.isOver = true
  }

  #close(): void {
    this.#held = undefined
    for (const one of this.#waiting) if (one.kind !== 'limitBuy') one.isOver = true
  }
}
