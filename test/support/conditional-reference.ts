// What conditional orders and exits of one token should do, written from docs/exits.md and not from the engine: plain numbers, one list of
// what is out at most, every order answered before the next print.

export interface ReferenceExits {
  stopLossPercent: number
  trailingPercent: number
  trailingArmPercent: number
  breakEvenAtPercent: number
  takeProfitPercent: number
  takeProfitSteps: { atPercent: number; sellPercent: number }[]
}

export interface Wish {
  kind: 'limitBuy' | 'limitSell' | 'stopSell'
  atPrice: number
  percent: number
  group: string
}

interface Waiting extends Wish {
  tries: number
  notBefore: number
  isOver: boolean
}

/** An order: a buy, or a share of what is held in percent. */
export type Expected = 'buy' | number

export class ConditionalReference {
  readonly #exits: ReferenceExits
  #prints: number[] = []
  #waiting: Waiting[] = []
  #now = 0
  #held = 0
  #bought = 0
  #average = 0
  #high = 0
  #steps = 0
  /** Of what was bought, asked for by steps and limits so far. */
  #asked = 0

  constructor(exits: ReferenceExits) {
    this.#exits = exits
  }

  restart(): void {
    this.#prints = []
  }

  /** A strategy asks for what only acts from the next print on; of what is not held it is refused. */
  #wish(wish: Wish | undefined): void {
    if (wish === undefined || (wish.kind !== 'limitBuy' && this.#held === 0)) return
    this.#waiting.push({ ...wish, tries: 0, notBefore: 0, isOver: false })
  }

  /** What goes out at a print, in order. `buysFill`: whether the next buy does. The strategy sees the print after what it set off, and before
   *  any of that is filled. */
  print(print: number, ms: number, buysFill: boolean, wish: Wish | undefined): Expected[] {
    this.#now += ms
    this.#prints.push(print)
    const count = this.#prints.length < 5 ? 3 : 5
    if (this.#prints.length < 3) {
      this.#wish(wish)
      return []
    }
    const window = this.#prints.length < 5 ? this.#prints.slice(0, 3) : this.#prints.slice(-count)
    const price = window.sort((one, other) => one - other)[(count - 1) / 2] as number
    let isSold = this.#held > 0 && this.#isExit(price)
    const wasHeld = this.#held > 0
    // What the first sale of this print is: by the exits, else by the first limit that is due.
    const orders: Expected[] = []
    const sell = (share: number): void => {
      orders.push(share * 100)
      this.#held -= this.#held * share
    }
    let first = isSold ? 1 : this.#share()
    let buyer: Waiting | undefined
    for (const one of [...this.#waiting]) {
      if (one.isOver || this.#now < one.notBefore) continue
      if (one.kind === 'limitSell' ? price < one.atPrice : price > one.atPrice) continue
      if (one.group !== '' && buyer?.group === one.group) continue
      if (one.kind === 'limitBuy') {
        if (!wasHeld && buyer === undefined) buyer = one
        continue
      }
      if (!wasHeld) continue
      this.#done(one)
      if (one.percent >= 100) isSold = true
      else if (!isSold)
        this.#asked = Math.max(this.#asked, this.#bought - this.#held) + (this.#held * one.percent) / 100
      if (first === 0 || isSold) first = isSold ? 1 : this.#share()
    }
    this.#wish(wish)
    if (first > 0) {
      // A part that is out already is called off or overtaken where everything is sold behind it, in the same print.
      if (isSold) sell(1)
      else for (let share = first; share > 0; share = this.#share()) sell(share)
      if (this.#held === 0) this.#close()
    }
    if (buyer !== undefined) {
      orders.push('buy')
      this.#answer(buyer, buysFill, price)
    }
    return orders
  }

  #isExit(price: number): boolean {
    const rules = this.#exits
    this.#high = Math.max(this.#high, price)
    const rise = (percent: number): number => this.#average * (1 + percent / 100)
    if (price <= rise(-rules.stopLossPercent)) return true
    if (this.#high >= rise(rules.trailingArmPercent) && price <= this.#high * (1 - rules.trailingPercent / 100))
      return true
    if (this.#high >= rise(rules.breakEvenAtPercent) && price <= this.#average) return true
    if (price >= rise(rules.takeProfitPercent)) return true
    for (let step = rules.takeProfitSteps[this.#steps]; step && price >= rise(step.atPercent); ) {
      this.#asked += (this.#bought * step.sellPercent) / 100
      step = rules.takeProfitSteps[++this.#steps]
    }
    return false
  }

  /** Of what is held, to be sold by what was asked for and not sold yet. */
  #share(): number {
    const due = this.#asked - (this.#bought - this.#held)
    if (this.#held === 0 || due <= this.#bought / 1000) return 0
    // A share goes out with two decimals of a percent.
    const share = Math.round((due / this.#held) * 10_000) / 10_000
    return share >= 0.999 ? 1 : share
  }

  #answer(one: Waiting, isFilled: boolean, price: number): void {
    one.tries++
    if (isFilled) {
      this.#held = this.#bought = 0.1 / price
      this.#average = this.#high = price
      this.#steps = this.#asked = 0
      this.#done(one)
    } else if (one.tries >= 5) one.isOver = true
    else one.notBefore = this.#now + 1_000 * 2 ** (one.tries - 1)
  }

  #done(one: Waiting): void {
    one.isOver = true
    for (const other of this.#waiting) if (one.group !== '' && other.group === one.group) other.isOver = true
  }

  #close(): void {
    this.#held = 0
    for (const one of this.#waiting) if (one.kind !== 'limitBuy') one.isOver = true
  }
}
