// A second implementation of the fill model, written only from docs/fills.md. It computes each order from the list of
// prints.

/** A trade of another trader, with or without a size. `sol` is positive. */
export interface Trade {
  readonly time: number
  readonly side: 'buy' | 'sell'
  readonly sol: number
  readonly size: number
}

export interface Rules {
  readonly latencyMs: number
  readonly slotMs: number
  /** Fees as shares of the amount: 0.01 is 1 %. */
  readonly venueFee: number
  readonly serviceFee: number
}

export interface SentOrder {
  readonly id: string
  readonly account: string
  readonly mint: string
  readonly side: 'buy' | 'sell'
  /** The SOL of a buy, or the whole tokens of a sale. */
  readonly amount: number
  /** 0.01 is 1 %. */
  readonly slippage: number
  /** The priority fee in lamports; null if the service chooses it. */
  readonly priorityFee: number | null
  /** The random number from 0 to 100 that decides whether the transaction is lost. */
  readonly luck: number
  readonly rules: Rules
}

export type Expected =
  | { readonly kind: 'filled'; readonly sol: number; readonly tokens: number }
  | { readonly kind: 'reverted' | 'refused'; readonly code: string }
  | { readonly kind: 'unpriced' | 'absent' }

interface Print {
  readonly price: number
  /** The change of the wallet in SOL; negative for a sale. */
  readonly net: number
}

/** A change of the pool's price: a print, or a price that was read from the pool. */
type Change = { readonly time: number } & (Print | { readonly read: number })

interface Range {
  readonly low: number
  readonly high: number
}

interface Depth {
  readonly product: number
  readonly isExact: boolean
}

interface Impact {
  readonly bought: number
  readonly sold: number
  readonly volume: number
  readonly depth: number
}

interface Flight {
  readonly order: SentOrder
  readonly sentAt: number
  readonly depth: Depth
  readonly changes: Change[]
  readonly quoted: number
}

const CURVE = 32_190_000_000
const FRESH_POOL = 84.99036 * 206_900_000
const SLIPPED: Expected = { kind: 'reverted', code: 'SLIPPAGE_EXCEEDED' }
const NO_IMPACT: Impact = { bought: 0, sold: 0, volume: 0, depth: 1 }

class Token {
  /** The prints since the last gap. */
  prints: Print[] = []
  /** The prints since the last gap and since the last reading of the pool. */
  #unread: Print[] = []
  #reading: number | undefined
  #isRead = false
  isLaunched = false
  hasLeftCurve = false
  #highInARow = 0
  buys = 0
  sales = 0
  volume = 0
  /** The latest time of a sized print, a pool reading or a launch. */
  lastSign = Number.NEGATIVE_INFINITY
  readonly impacts = new Map<string, Impact>()

  /** Returns the print of a trade; undefined if the trade has no size. */
  take({ time, side, sol, size }: Trade): Print | undefined {
    const price = sol / size
    if (!(sol >= 0.01 && sol <= 100_000 && price > 0 && price < 1e9)) return undefined
    const print = { price, net: side === 'buy' ? sol : -sol }
    const remembered = { price, net: Math.fround(print.net) }
    this.prints = [...this.prints, remembered].slice(-32)
    this.#unread = [...this.#unread, remembered].slice(-32)
    this.#isRead = false
    this.#highInARow = price >= 4.1088e-7 ? this.#highInARow + 1 : 0
    if (this.#highInARow >= 3) this.hasLeftCurve = true
    if (side === 'buy') this.buys++
    else this.sales++
    this.volume += Math.min(10, sol)
    this.lastSign = time
    return print
  }

  read(price: number, time: number): void {
    this.#reading = price
    this.#isRead = true
    this.#unread = []
    this.lastSign = time
  }

  gap(): void {
    this.prints = []
    this.#unread = []
  }

  get hasPrice(): boolean {
    return this.#isRead || this.prints.length >= 3
  }

  /** Returns the last price that was read from the pool, and the prints since that reading. The price and the prints
   *  all get the time -Infinity, so that they precede every order. */
  changes(): Change[] {
    const time = Number.NEGATIVE_INFINITY
    const reading = this.#reading === undefined ? [] : [{ read: this.#reading, time }]
    return [...reading, ...this.#unread.map((print) => ({ ...print, time }))]
  }

  depth(): Depth {
    if (this.isLaunched && !this.hasLeftCurve) return { product: CURVE, isExact: true }
    const estimates = this.estimates()
    const without = this.hasLeftCurve ? FRESH_POOL : CURVE
    const quarter = estimates.toSorted((a, b) => a - b)[Math.floor((estimates.length - 1) / 4)] as number
    return { product: estimates.length < 3 ? without : Math.min(quarter, FRESH_POOL), isExact: false }
  }

  /** Returns the newest estimates of the pool's depth, at most nine. */
  estimates(): number[] {
    const found: number[] = []
    for (let at = this.prints.length - 1; at > 0 && found.length < 9; at--) {
      const [{ price: p1, net: n1 }, { price: p2, net: n2 }] = this.prints.slice(at - 1, at + 1) as [Print, Print]
      const sol = (n1 + n2) / (p2 / p1 - 1)
      const isOneSided = n1 * n2 > 0 && Math.abs(n1 + n2) >= 0.5
      const isNear = p2 / p1 > 0.5 && p2 / p1 < 2
      if (!isOneSided || !isNear || !(sol > 0 && sol < 1e9 && sol + n1 > 0 && sol + n1 + n2 > 0)) continue
      found.push(((sol + n1) * (sol + n1 + n2)) / p2)
    }
    return found
  }

  isDead(now: number): boolean {
    return now - this.lastSign > 600_000
  }

  isTrap(now: number): boolean {
    if (this.isDead(now)) return false
    return this.buys >= 8 && (this.sales < 2 || this.sales < 0.15 * this.buys)
  }
}

/** Receives the events of a market and the orders, by time, and computes how each order ends. */
export class FillReference {
  readonly ends = new Map<string, Expected>()
  readonly #tokens = new Map<string, Token>()
  #flights: Flight[] = []

  /** Lands the orders that are due now. Rows of the same time come after them. */
  advanceTo(now: number): void {
    const due = this.#flights.filter((flight) => landsAt(flight) <= now)
    this.#flights = this.#flights.filter((flight) => landsAt(flight) > now)
    due.sort((a, b) => landsAt(a) - landsAt(b))
    for (const flight of due) this.ends.set(flight.order.id, this.#land(flight))
  }

  launch(mint: string, time: number): void {
    const token = this.#token(mint)
    token.isLaunched = true
    token.lastSign = time
  }

  trade(mint: string, trade: Trade): void {
    const print = this.#token(mint).take(trade)
    if (print === undefined) return
    this.#change(mint, { ...print, time: trade.time })
  }

  read(mint: string, price: number, time: number): void {
    this.#token(mint).read(price, time)
    this.#change(mint, { read: price, time })
  }

  gap(): void {
    for (const token of this.#tokens.values()) token.gap()
  }

  send(order: SentOrder, now: number): void {
    const token = this.#token(order.mint)
    const refused = refusal(order, token, now)
    if (refused) {
      this.ends.set(order.id, refused)
      return
    }
    const depth = token.depth()
    const changes = token.changes()
    const { low, high } = (settled(changes, depth).at(-1) as Step).range
    this.#flights.push({ order, sentAt: now, depth, changes, quoted: order.side === 'buy' ? high : low })
  }

  #change(mint: string, change: Change): void {
    for (const { order, changes } of this.#flights) if (order.mint === mint) changes.push(change)
  }

  #land(flight: Flight): Expected {
    const { order } = flight
    const { account, amount, slippage, rules } = order
    const token = this.#token(order.mint)
    if (order.luck < lossOf(flight)) return { kind: 'absent' }
    const depth = token.depth()
    if (order.side === 'sell' && token.isDead(landsAt(flight)))
      return { kind: 'filled', sol: 0, tokens: Math.round(amount * 1e6) }
    const worst = worstOf(flight)
    const impact = token.impacts.get(account) ?? NO_IMPACT
    const left = 2 ** -(Math.max(0, token.volume - impact.volume) / impact.depth)
    const [bought, sold] = [left * impact.bought, left * impact.sold]
    const keep = (more: number, less: number): void => {
      const now = { bought: Math.max(0, bought + more), sold: Math.max(0, sold + less) }
      token.impacts.set(account, { ...now, volume: token.volume, depth: Math.sqrt(depth.product * worst) })
    }
    const [there, promised] = [worst, flight.quoted].map((price) => {
      const [sol, tokens] = [Math.sqrt(depth.product * price), depth.product / Math.sqrt(depth.product * price)]
      return order.side === 'buy'
        ? boughtIn(sol + bought, (sol * tokens) / (sol + bought), paidFor(order))
        : boughtIn(tokens + sold, (sol * tokens) / (tokens + sold), amount)
    }) as [number, number]
    if (order.side === 'buy') {
      if (there * (1 + slippage) < promised) return SLIPPED
      const tokens = Math.floor(there * 1e6)
      const fees = Math.round(paidFor(order) * rules.venueFee * 1e9) + Math.round(amount * rules.serviceFee * 1e9)
      keep(amount - fees / 1e9, -tokens / 1e6)
      return { kind: 'filled', sol: Math.round(amount * 1e9), tokens }
    }
    if (there < promised * (1 - slippage)) return SLIPPED
    const sol = Math.floor(there * (1 - rules.venueFee) * (1 - rules.serviceFee) * 1e9)
    const toService = sol / (1 - rules.serviceFee)
    const toVenue = (toService * rules.venueFee) / (1 - rules.venueFee)
    keep(-(sol + Math.round(toService * rules.serviceFee) + Math.round(toVenue)) / 1e9, amount)
    return { kind: 'filled', sol, tokens: Math.round(amount * 1e6) }
  }

  #token(mint: string): Token {
    const token = this.#tokens.get(mint) ?? new Token()
    this.#tokens.set(mint, token)
    return token
  }
}

/** Returns what `paid` buys from a constant-product pool with `own` of the paid asset and `other` of the other one. */
function boughtIn(own: number, other: number, paid: number): number {
  return (paid * other) / (own + paid)
}

/** Returns the SOL of a buy that reach the pool. */
function paidFor({ amount, rules: { serviceFee, venueFee } }: SentOrder): number {
  return (amount * (1 - serviceFee)) / (1 + venueFee)
}

/** Percent. */
function lossOf({ order, changes, sentAt }: Flight): number {
  const { rules, priorityFee } = order
  const prints = changes.filter((change) => change.time >= sentAt && 'price' in change).length
  const crowd = prints / (rules.latencyMs / rules.slotMs + 1)
  const usual = 500_000
  return Math.min(3 * (1 + crowd / 4) * Math.sqrt(usual / Math.max(priorityFee ?? usual, 1)), 60)
}

function landsAt({ sentAt, order: { rules } }: Flight): number {
  return sentAt + rules.latencyMs + rules.slotMs
}

function refusal({ side }: SentOrder, token: Token, now: number): Expected | undefined {
  if (!token.hasPrice) return { kind: 'unpriced' }
  if (side === 'sell') return token.isTrap(now) ? { kind: 'refused', code: 'UNSELLABLE' } : undefined
  const isUnknown = token.hasLeftCurve && token.estimates().length < 3
  return isUnknown ? { kind: 'refused', code: 'DEPTH_UNKNOWN' } : undefined
}

function worstOf(flight: Flight): number {
  const { order, sentAt, depth, changes } = flight
  const steps = settled(changes, depth)
  const slot = sentAt + order.rules.latencyMs
  const first = steps.findLastIndex(({ time }) => time < slot)
  const ranges = steps.slice(Math.max(0, first)).map(({ range }) => range)
  const all = [...ranges, ...(steps.at(-1)?.doubts ?? [])]
  return order.side === 'buy' ? Math.max(...all.map(({ high }) => high)) : Math.min(...all.map(({ low }) => low))
}

interface Step {
  readonly time: number
  /** The range of the pool's possible prices after this change. */
  readonly range: Range
  readonly doubts: readonly Range[]
}

/** Returns, for each change of the pool, the range in which the pool's price then is. */
function settled(changes: readonly Change[], depth: Depth): Step[] {
  const steps: Step[] = []
  for (const change of changes) {
    const last = steps.at(-1)
    const { time } = change
    if ('read' in change) {
      steps.push({ time, range: { low: change.read, high: change.read }, doubts: [] })
      continue
    }
    const { found, left } = rangesOf(change, depth)
    const isUnexplained = last && (found.low > last.range.high * 1.25 || found.high * 1.25 < last.range.low)
    if (!isUnexplained) {
      steps.push({ time, range: left, doubts: [] })
      continue
    }
    const doubts = [...last.doubts, left]
    if (doubts.length < 3) steps.push({ time, range: last.range, doubts })
    else steps.push({ time, range: hull(doubts), doubts: [] })
  }
  return steps
}

function rangesOf({ price, net }: Print, { product, isExact }: Depth): { found: Range; left: Range } {
  const root = Math.sqrt(net * net + 4 * product * price)
  const range = (sol: number): Range => {
    const edge = sol ** 2 / product
    return isExact ? { low: edge, high: edge } : hull([edge, price].map((one) => ({ low: one, high: one })))
  }
  return { found: range((root - net) / 2), left: range((root + net) / 2) }
}

function hull(ranges: readonly Range[]): Range {
  return { low: Math.min(...ranges.map(({ low }) => low)), high: Math.max(...ranges.map(({ high }) => high)) }
}
