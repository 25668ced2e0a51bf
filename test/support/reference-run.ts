import { ConditionalReference, type ReferenceExits, type Waiting, type Wish } from './conditional-reference.ts'
import { type Answers, type Sale, type SalesLadder, SalesModel } from './sales-model.ts'

/** An order that the models expect to be sent. */
export type Expected = 'buy' | Sale

const BUY_SOL = 0.1

/**
 * Runs the reference model of conditional orders and the model of sales on the prints of one token. Every order is
 * answered immediately.
 */
export class ReferenceRun {
  readonly #rules: ConditionalReference
  readonly #ladder: SalesLadder
  #prints: number[] = []
  #now = 0

  constructor(exits: ReferenceExits, ladder: SalesLadder) {
    this.#rules = new ConditionalReference(exits)
    this.#ladder = ladder
  }

  /** Forgets the prices and the history of the token. */
  restart(): void {
    this.#prints = []
    this.#rules.seen(this.#now)
  }

  /**
   * Advances the time and adds a print. Returns the sent orders, first to last. At the print, the exits and conditional
   * orders come first. The strategy then receives the print, and after that the sent orders are answered.
   */
  print(print: number, ms: number, answers: Answers, wish: Wish | undefined): Expected[] {
    const until = this.#now + ms
    const done: Expected[] = []
    for (let timer = this.#nextTimer(); timer !== undefined && timer.at <= until; timer = this.#nextTimer()) {
      this.#now = timer.at
      timer.fire()
      done.push(...this.#answered(answers))
    }
    this.#now = until
    this.#prints.push(print)
    this.#rules.seen(until)
    const price = this.#robustPrice()
    const buyer = price === undefined ? undefined : this.#rules.priced(price, until)
    if (wish !== undefined) this.#rules.wait(wish, until)
    done.push(...this.#answered(answers))
    if (buyer === undefined) return done
    this.#buy(buyer, answers, price as number)
    return [...done, 'buy']
  }

  #nextTimer(): ReturnType<ConditionalReference['timers']>[number] | undefined {
    const ahead = this.#rules.timers().filter(({ at }) => at > this.#now)
    return ahead.sort((one, other) => one.at - other.at)[0]
  }

  #robustPrice(): number | undefined {
    const window = this.#prints.length < 5 ? this.#prints.slice(0, 3) : this.#prints.slice(-5)
    return window.length < 3 ? undefined : window.sort((one, other) => one - other)[(window.length - 1) / 2]
  }

  #answered(answers: Answers): Sale[] {
    const { sales = [], isSold } = this.#rules.sales?.answer(this.#now, answers) ?? {}
    if (isSold) this.#rules.sold()
    return sales
  }

  #buy(one: Waiting, answers: Answers, price: number): void {
    if (answers() > 0) this.#rules.bought(one, new SalesModel(this.#ladder, BUY_SOL / price), price, this.#now)
    else this.#rules.notBought(one, this.#now)
  }
}
