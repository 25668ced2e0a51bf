import type { Clock, Dial } from '../../base/machine.ts'
import { seededRandom } from '../../base/random.ts'
import { FIREHOSES } from '../../engine/bots/subscription-router.ts'
import { type Block, RowKind } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import { Prices } from '../../market/price.ts'
import type { VenueFeed } from '../../venues/venue.ts'
import { dialWebSocket } from '../../venues/web-socket.ts'
import { MessagePacer } from '../pacing.ts'
import type { ServiceAccess } from '../service-access.ts'
import type { FeedFinding, SessionFinding } from './service-verdicts.ts'

/** Results of one connection with the API key. */
export interface FeedLook {
  readonly session: SessionFinding
  /** Observations of the feed; undefined if the connection was not authenticated. */
  readonly feed: FeedFinding | undefined
  readonly units: { readonly proved: boolean; readonly quotedRatio: number; readonly prints: number }
  /** Mint with the most trades; '' if there was no trade. */
  readonly mint: string
}

const AUTHENTICATED_WITHIN_MS = 15_000
/** Minimum duration of the observation of the feed, ms. The feed is observed this long even if its units are proved
 *  earlier, because the observation also looks for invalid frames, which are rare. */
const LEAST_LOOK_MS = 2_000
const LOOK_EVERY_MS = 50

/** Observes the feed until the units of its prices and amounts are proved, for at most `mostMs` after the service has
 *  accepted the API key. */
export async function lookAtFeed(service: ServiceAccess, clock: Clock, mostMs: number): Promise<FeedLook> {
  const look = new Look(service, clock)
  await look.until(() => look.isDecided, AUTHENTICATED_WITHIN_MS)
  if (look.isAccepted) {
    const start = performance.now()
    await look.until(() => look.hasEnough && performance.now() - start >= LEAST_LOOK_MS, mostMs)
  }
  return look.end()
}

class Look {
  readonly #mints = new Mints()
  readonly #prices = new Prices({ tradePrice: 'auto', tradeAmount: 'auto' })
  readonly #trades = new Map<string, number>()
  readonly #kinds = { trades: 0, 'new tokens': 0, 'price updates': 0 }
  readonly #notices: string[] = []
  readonly #feed: VenueFeed
  readonly #stop: () => Promise<void>
  readonly #startedAt = performance.now()
  #openedAt: number | undefined
  #acceptedAt: number | undefined
  #plan = ''
  #refusal: string | undefined
  #prints = 0

  constructor(service: ServiceAccess, clock: Clock) {
    const pacer = new MessagePacer(service.venue.plans.first('auto').messagesPerSecond / 2)
    this.#feed = service.venue.openFeed({
      url: service.wsUrl,
      apiKey: service.apiKey,
      dial: (url, on) => this.#dial(url, on),
      clock,
      random: seededRandom(1),
      pace: (job) => void pacer.run(job),
      mints: this.#mints,
      isHeld: () => false,
      load: () => 0,
      on: {
        authenticated: (_userId, plan) => {
          this.#acceptedAt = performance.now()
          this.#plan = plan
        },
        refused: (reason) => {
          this.#refusal = reason
        },
        misfit: () => {},
        notice: (text) => void this.#notices.push(text),
      },
    })
    this.#feed.want(FIREHOSES)
    this.#stop = this.#feed.start({ rows: (block, from, to) => this.#rows(block, from, to), post: () => {} })
  }

  get isAccepted(): boolean {
    return this.#acceptedAt !== undefined
  }

  get isDecided(): boolean {
    return this.isAccepted || this.#refusal !== undefined
  }

  get hasEnough(): boolean {
    return this.#feed.state === 'live' && this.#prices.units.proved
  }

  /** Waits until the condition holds, at most `mostMs`. */
  async until(isSo: () => boolean, mostMs: number): Promise<void> {
    const end = performance.now() + mostMs
    while (!isSo() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }

  async end(): Promise<FeedLook> {
    const { state, counts, misfits } = this.#feed
    await this.#stop()
    const seconds = (performance.now() - (this.#acceptedAt ?? this.#startedAt)) / 1_000
    const kinds = Object.entries(this.#kinds).flatMap(([kind, count]) => (count > 0 ? [`${kind} ${count}`] : []))
    const feed = { state, seconds, rows: counts.rows, kinds: kinds.join(', '), misfits: [...misfits.counts] }
    const { proved, quotedRatio } = this.#prices.units
    const [most] = [...this.#trades].sort(([, a], [, b]) => b - a)
    return {
      session: this.#session(),
      feed: this.isAccepted ? { ...feed, notices: this.#notices } : undefined,
      units: { proved, quotedRatio, prints: this.#prints },
      mint: most?.[0] ?? '',
    }
  }

  #session(): SessionFinding {
    if (this.#refusal !== undefined) return { kind: 'refused', reason: this.#refusal }
    if (this.#acceptedAt === undefined)
      return {
        kind: 'unanswered',
        reason: this.#notices.at(-1) ?? `no answer within ${AUTHENTICATED_WITHIN_MS / 1_000} s`,
      }
    const openedAt = this.#openedAt ?? this.#startedAt
    return {
      kind: 'authenticated',
      plan: this.#plan,
      connectMs: openedAt - this.#startedAt,
      ms: this.#acceptedAt - openedAt,
    }
  }

  readonly #dial: Dial = (url, on) =>
    dialWebSocket(url, {
      ...on,
      open: () => {
        this.#openedAt ??= performance.now()
        on.open()
      },
    })

  #rows(block: Block, from: number, to: number): number {
    for (let row = from; row < to; row++) {
      const kind = block.kind[row] as RowKind
      const token = block.token[row] as number
      if (kind > RowKind.sell) this.#kinds[kind === RowKind.newToken ? 'new tokens' : 'price updates']++
      else {
        const mint = block.mints[token] as string
        this.#kinds.trades++
        this.#trades.set(mint, (this.#trades.get(mint) ?? 0) + 1)
        if (this.#prices.fold(block, row, token)) this.#prints++
      }
    }
    return to
  }
}
