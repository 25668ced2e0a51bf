import { applyChange } from '../../runtime/view/apply-change.ts'
import type { Change, LogLine, View } from '../../runtime/view/view.ts'
import type { Desk, Me, Store } from './store.ts'

/** Called with `open` when the stream opens or reopens, and with the kind of each event. */
type Heard = (kind: 'open' | 'view' | 'change' | 'log', data: string) => void

/** The functions of the browser that the connection uses. */
export interface Outside {
  /** Opens the stream of events. `failed`: the stream broke; `isOver`: the browser does not open it again. */
  open(heard: Heard, failed: (isOver: boolean) => void): () => void
  /** Requests the whole view. `ended`: the session has ended; `lost`: no answer, or an error. */
  ask(): Promise<View | 'ended' | 'lost'>
  /** Asks who is logged in. `ended`: the session is over; `lost`: no answer, or an error. */
  me(): Promise<Me | 'ended' | 'lost'>
  now(): number
  every(ms: number, run: () => void): void
}

/**
 * Time without an event after which the page requests the view. It is needed because the browser of a phone does not
 * report to the page that the network is lost.
 */
const SILENT_MS = 20_000
const AGAIN_MS = 3_000
const CHECK_MS = 1_000
const MOST_NEWS = 200

/** Keeps the view of the store equal to that of the running process. */
export class Connection {
  readonly #store: Store<Desk>
  readonly #outside: Outside
  #close = (): void => {}
  #asked = false
  /**
   * Time at which the page next asks who is logged in. Infinity while the page waits for the answer, and after the
   * answer has arrived.
   */
  #askMeAt = Number.POSITIVE_INFINITY
  /** Time at which the page next tries to open the stream; 0 while the browser itself reopens the stream. */
  #openAt = 0

  constructor(store: Store<Desk>, outside: Outside) {
    this.#store = store
    this.#outside = outside
  }

  start(): void {
    this.#open()
    void this.#askMe()
    this.#outside.every(CHECK_MS, () => this.#check())
  }

  #open(): void {
    this.#close()
    this.#openAt = 0
    this.#close = this.#outside.open(
      (kind, data) => (kind === 'open' ? this.#opened() : this.#take(kind, JSON.parse(data))),
      (isOver) => this.#failed(isOver),
    )
  }

  #take(kind: 'view' | 'change' | 'log', data: unknown): void {
    const { view, news } = this.#store.get()
    const link = { state: 'live', heardAt: this.#outside.now() } as const
    if (kind === 'view') this.#store.set({ link, view: data as View })
    else if (kind === 'log')
      this.#store.set({ link, news: [...newest(data as LogLine[]), ...news].slice(0, MOST_NEWS) })
    else if (view !== null) {
      // If a change was missed, the page opens a new stream, which begins with the whole view.
      if ((data as Change).from !== view.id) this.#open()
      else this.#store.set({ link, view: applyChange(view, data as Change) })
    }
  }

  /**
   * Called when a stream has opened. A stream that resumes sends only the changes that the page has missed, so it may
   * at first send nothing.
   */
  #opened(): void {
    const { view, link } = this.#store.get()
    if (view !== null && link.state === 'lost') this.#store.set({ link: { ...link, state: 'live' } })
  }

  #failed(isOver: boolean): void {
    this.#lose()
    if (isOver) void this.#ask()
  }

  #lose(): void {
    const { link } = this.#store.get()
    if (link.state !== 'ended') this.#store.set({ link: { ...link, state: 'lost' } })
  }

  #check(): void {
    const { link } = this.#store.get()
    const now = this.#outside.now()
    if (link.state === 'ended') return
    if (now >= this.#askMeAt) void this.#askMe()
    if (this.#openAt > 0 && now >= this.#openAt) this.#open()
    else if (link.state === 'live' && now - link.heardAt >= SILENT_MS) void this.#ask()
  }

  /** Asks who is logged in, until there is an answer. Until then, the page allows no action. */
  async #askMe(): Promise<void> {
    this.#askMeAt = Number.POSITIVE_INFINITY
    const me = await this.#outside.me()
    if (me === 'ended') this.#end()
    else if (me === 'lost') this.#askMeAt = this.#outside.now() + AGAIN_MS
    else this.#store.set({ me })
  }

  #end(): void {
    this.#close()
    this.#store.set({ link: { ...this.#store.get().link, state: 'ended' } })
  }

  /**
   * Requests the whole view. An answer shows that the process can be reached, and its view is newer than that of the
   * page.
   */
  async #ask(): Promise<void> {
    if (this.#asked) return
    this.#asked = true
    const isStreaming = this.#store.get().link.state === 'live'
    const answer = await this.#outside.ask()
    this.#asked = false
    if (answer === 'ended') {
      this.#end()
      return
    }
    if (answer !== 'lost' && isStreaming) {
      this.#store.set({ link: { state: 'live', heardAt: this.#outside.now() }, view: answer })
      return
    }
    this.#lose()
    this.#openAt = this.#outside.now() + AGAIN_MS
  }
}

function newest(lines: readonly LogLine[]): LogLine[] {
  return [...lines].sort((one, other) => other.seq - one.seq)
}
