import { SluiceError } from '../../base/errors.ts'
import { type Millis, ZERO } from '../../base/units.ts'
import type { Input } from '../../engine/messages.ts'
import type { Plan } from '../../engine/settings.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import { usageOf } from '../../journal/writer/space.ts'
import type { Budget } from '../../orders/budget-status.ts'
import { readingsOf } from '../liquidation-value.ts'
import { readView, type WatchedWorld } from './read-view.ts'
import { mintsOf, symbolsIn, withSymbols } from './token-symbols.ts'
import type { View } from './view.ts'
import { ONLY_COUNTED, ViewModel } from './view-model.ts'

/** The view of a journal: the state at its end. "Since the start" refers to the start of its last segment. `n`: number
 *  of views of this journal that were read before. Throws SluiceError for a journal without a segment. */
export function recordedView(reader: JournalReader, title: string, n = 0): View {
  return reader.snapshot(() => readRecorded(reader, title, n))
}

/** The view of a folder of results, which has no journal. */
export function resultsView(folder: string, title: string, now: Millis): View {
  const parts = {
    ...{ title, source: 'results' as const, bots: [], model: new ViewModel(), journalPath: folder },
    ...{ world: new RecordedWorld(NO_PLAN), readingOf: () => undefined, startedAt: now },
  }
  return readView(parts, now)
}

const NO_PLAN: Plan = { name: '', requestsPerMinute: 0, connections: 0, messagesPerSecond: 0, maxBuyLamports: ZERO }

function readRecorded(reader: JournalReader, title: string, n: number): View {
  const segment = reader.segments().at(-1)
  if (segment === undefined) throw new SluiceError(`${reader.path} contains no run: record one first`)
  const { number, start, firstSeq, lastSeq, time: startedAt, rows } = segment
  const recovered = reader.recover()
  const { attempts, watches, lastTime } = recovered
  const model = new ViewModel({ now: () => lastTime })
  model.restore(start.money, { attempts, watches, buys: reader.buysOf(start.money.positions) })
  for (const { account } of start.bots) if (account.mode === 'live') model.liveAccounts.add(account.id)
  const world = new RecordedWorld(start.plan)
  for (const message of reader.messagesFrom(firstSeq, ONLY_COUNTED))
    if (message.kind === 'output') model.hearOutput(message.seq, message.time, message.n, message.output)
    else {
      model.hearInput(message.seq, message.time, message.input)
      world.hear(message.input)
    }
  for (const attempt of attempts) model.hearWrite({ kind: 'attempt', attempt })
  // A fill that an earlier process recorded may have become final while the last process ran.
  for (const fill of [...reader.fillsFrom(firstSeq), ...recovered.money.fills]) model.hearWrite({ kind: 'fill', fill })
  model.results.endWith(reader.pastResults(lastTime))
  Object.assign(model, {
    segment: number,
    rows,
    seq: Math.max(lastSeq, model.seq),
    disk: usageOf(reader.path, { freeBytes: 0 }),
  })
  const parts = {
    ...{ title, source: 'recorded' as const, bots: start.bots, model, journalPath: reader.path },
    ...{ world, readingOf: readingsOf(reader), startedAt },
  }
  const view = readView(parts, lastTime, n)
  return withSymbols(view, symbolsIn(reader, mintsOf(view)))
}

/** The state of feed, limiter and lists in a view of a journal whose process no longer runs. */
class RecordedWorld implements WatchedWorld {
  readonly feed = { state: 'recorded', counts: { losses: 0 } }
  readonly planNotice = ''
  readonly decisionTime = { p50: () => 0, p99: () => 0 }
  readonly lists = { broken: new Map<string, string>() }
  readonly sources = { broken: [] }
  readonly limiter = { status: () => this.#budget() }
  #plan: Plan
  #isUp = false

  constructor(plan: Plan) {
    this.#plan = plan
  }

  plan(): Plan {
    return this.#plan
  }

  hear(input: Input): void {
    if (input.kind === 'plan') this.#plan = input.plan
    if (input.kind !== 'feed') return
    if (input.status === 'down' && this.#isUp) this.feed.counts.losses++
    this.#isUp = input.status !== 'down' && (this.#isUp || input.status === 'live')
  }

  #budget(): Budget {
    const { requestsPerMinute } = this.#plan
    return { held: 0, allowed: requestsPerMinute, perMinute: requestsPerMinute, waiting: 0, holds: [] }
  }
}
