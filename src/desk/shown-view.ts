import { SluiceError } from '../base/errors.ts'
import type { JournalReader } from '../journal/reader/reader.ts'
import type { PositionNews } from '../runtime/view/position-transfer.ts'
import { symbolsIn } from '../runtime/view/token-symbols.ts'
import type { View, ViewSource } from '../runtime/view/view.ts'
import { ViewMirror } from '../runtime/view/view-mirror.ts'
import type { Update } from '../runtime/view/view-updates.ts'
import { EventStreams } from './events.ts'
import { Refusal } from './refusal.ts'
import { Steps } from './steps.ts'

export interface ShownViewParts {
  /** Reader of the journal that the desk shows. Throws a SluiceError if there is none. */
  readonly reader: () => JournalReader
  /**
   * Opens the view of a desk without running bots. undefined if bots run, because the main thread then sends the view.
   */
  readonly open: (() => OpenedSource) | undefined
  readonly now: () => number
  /** Called when the first browser connects to the view, and when the last one disconnects. */
  readonly watched?: (isWatched: boolean) => void
  /** See `DeskStart`. */
  readonly committing?: Int32Array | undefined
}

export interface OpenedSource extends ViewSource {
  close(): void
}

/** The view that the desk shows, and the streams of its changes. */
export class ShownView {
  readonly #parts: ShownViewParts
  readonly #steps: Steps
  #mirror: ViewMirror | undefined
  #source: ViewSource | undefined
  #opened: OpenedSource | undefined
  #streams: EventStreams | undefined

  constructor(parts: ShownViewParts) {
    this.#parts = parts
    this.#steps = new Steps(parts.committing)
  }

  /** Receives the view of the main thread. */
  begin(view: View, news?: PositionNews): void {
    const symbolsOf = (mints: ReadonlySet<string>): ReadonlyMap<string, string> => this.#symbolsOf(mints)
    this.#streams?.close()
    this.#steps.clear()
    this.#mirror = new ViewMirror(view, { symbolsOf, now: this.#parts.now }, news)
    this.#source = this.#mirror
    this.#streams = new EventStreams(this.#mirror, this.#steps, this.#parts.watched)
  }

  /** Applies the next change to the view, as a step. The step throws RangeError if an earlier change is missing. */
  take(update: Update): void {
    this.#steps.add(() => this.#mirror?.take(update))
  }

  /** The present view. Throws a Refusal if there is none yet. */
  get view(): View {
    return this.#sourceNow().view
  }

  /** Answers a request for the stream of changes. */
  events(request: Request): Response {
    this.#streams ??= new EventStreams(this.#sourceNow(), this.#steps)
    return this.#streams.answer(request)
  }

  close(): void {
    this.#steps.clear()
    this.#streams?.close()
    this.#opened?.close()
  }

  #sourceNow(): ViewSource {
    this.#opened ??= this.#parts.open?.()
    this.#source ??= this.#opened
    if (this.#source === undefined)
      throw new Refusal(503, 'STALLED', 'the process has not sent its state yet: try again')
    return this.#source
  }

  /** If the journal cannot be read at present, the page is shown without the symbols of the tokens. */
  #symbolsOf(mints: ReadonlySet<string>): ReadonlyMap<string, string> {
    try {
      return symbolsIn(this.#parts.reader(), mints)
    } catch (error) {
      if (error instanceof SluiceError) return new Map()
      throw error
    }
  }
}
