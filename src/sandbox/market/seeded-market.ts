import { Curve } from '../../solana/bonding-curve.ts'
import { MONEY_MINTS } from '../keys.ts'
import { Crowd } from './crowd.ts'
import { drawLabel } from './labels.ts'
import { Listing, MarketFloor } from './listing.ts'
import type { CurveTrade, Emit, LaunchEvent, Market, MarketToken } from './market.ts'

export interface SeededMarketOptions {
  seed: number
  emit: Emit
  /** Mean number of launches per second of market time. On pump.fun it is 0.46, and half of the new tokens die
   *  immediately (measured in June 2026). */
  launchesPerSecond?: number
  /** Market time that passes before the opening, so that tokens of all ages trade from the start, ms. */
  pastMs?: number
}

/** Share of launches that announce a currency. Real feeds do so when USDC is the other side of a pool. */
const MONEY_LAUNCH_SHARE = 0.01
/** Time after which a token without trades is removed, unless our wallets have traded it. */
const FORGOTTEN_AFTER_MS = 3_600_000
const SWEEP_EVERY_MS = 60_000

/** Market whose launches and traders come from a seed. The same seed gives the same events in the same order. */
export class SeededMarket implements Market {
  readonly #agenda = new Agenda()
  readonly #floor: MarketFloor
  readonly #tokens = new Map<string, Listing>()
  readonly #kept = new Set<string>()
  readonly #emit: Emit
  readonly #launchesPerSecond: number
  readonly #pastMs: number
  #open = false

  constructor({ seed, emit, launchesPerSecond = 0.3, pastMs = 130_000 }: SeededMarketOptions) {
    this.#emit = (event) => this.#open && emit(event)
    this.#floor = new MarketFloor(seed, this.#emit)
    this.#launchesPerSecond = launchesPerSecond
    this.#pastMs = pastMs
    this.#nextLaunch()
    this.#sweep()
    this.advance(0)
    this.#open = true
  }

  get nextAt(): number | undefined {
    const at = this.#agenda.nextAt
    return at === undefined ? undefined : at - this.#pastMs
  }

  advance(until: number): void {
    const end = until + this.#pastMs
    for (let at = this.#agenda.nextAt; at !== undefined && at <= end; at = this.#agenda.nextAt) {
      this.#floor.now = at
      this.#agenda.take()!.run()
    }
  }

  token(mint: string): MarketToken | undefined {
    return this.#tokens.get(mint)
  }

  adopt(token: MarketToken): void {
    const listing = new Listing(token, this.#floor.now)
    this.#tokens.set(token.mint, listing)
    this.#kept.add(token.mint)
    new Crowd(this.#floor, listing, this.#later).join()
  }

  print(trade: CurveTrade): void {
    const listing = this.#tokens.get(trade.mint)
    if (!listing) return
    this.#kept.add(trade.mint)
    this.#floor.printOwn(listing, trade)
  }

  readonly #later = (ms: number, run: () => void): void => this.#agenda.enter(this.#floor.now + ms, run)

  #nextLaunch(): void {
    this.#later(this.#floor.draws.exponential(1_000 / this.#launchesPerSecond), () => {
      this.#launch()
      this.#nextLaunch()
    })
  }

  #launch(): void {
    const { draws } = this.#floor
    if (draws.chance(MONEY_LAUNCH_SHARE)) {
      this.#emit(moneyLaunch(draws.pick(MONEY_MINTS), draws.publicKey()))
      return
    }
    const token = { mint: draws.publicKey(), creator: draws.publicKey(), curve: new Curve(), ...drawLabel(draws) }
    const listing = new Listing(token, this.#floor.now)
    this.#tokens.set(token.mint, listing)
    this.#emit(launchEvent(listing))
    new Crowd(this.#floor, listing, this.#later).launch()
  }

  #sweep(): void {
    this.#later(SWEEP_EVERY_MS, () => {
      for (const [mint, { tradedAt }] of this.#tokens) {
        if (this.#floor.now - tradedAt > FORGOTTEN_AFTER_MS && !this.#kept.has(mint)) this.#tokens.delete(mint)
      }
      this.#sweep()
    })
  }
}

function launchEvent({ mint, creator, symbol, name, metadata, curve }: Listing): LaunchEvent {
  const liquiditySol = Number(curve.reserves.virtualSol) / 1e9
  return { type: 'newToken', mint, symbol, name, creator, liquiditySol, marketCapSol: curve.marketCapSol, metadata }
}

function moneyLaunch(mint: string, creator: string): LaunchEvent {
  const metadata = { description: '', image: '', website: '', twitter: '' }
  return { type: 'newToken', mint, symbol: '', name: '', creator, liquiditySol: 0, marketCapSol: 0, metadata }
}

interface Entry {
  at: number
  order: number
  run: () => void
}

/** Priority queue (binary heap) of scheduled events. Events of the same time keep the order of their insertion. */
class Agenda {
  readonly #heap: Entry[] = []
  #entered = 0

  get nextAt(): number | undefined {
    return this.#heap[0]?.at
  }

  enter(at: number, run: () => void): void {
    const heap = this.#heap
    const entry = { at, order: this.#entered++, run }
    let index = heap.length
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (isBefore(heap[parent]!, entry)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = entry
  }

  /** Removes and returns the first event. */
  take(): Entry | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (heap.length === 0 || !last) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (isBefore(last, heap[child]!)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
    return first
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
