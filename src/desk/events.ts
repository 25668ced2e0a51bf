import type { Change, View, ViewSource } from '../runtime/view/view.ts'
import type { Steps } from './steps.ts'

/** Maximum number of clients at the same time. */
const MOST_CLIENTS = 128
/**
 * A client that has not yet read more than this number of bytes is disconnected. When it reconnects, it receives the
 * changes that it missed, or the whole view if it missed too many.
 */
const MOST_WAITING_BYTES = 1 << 20
/**
 * Maximum number and total size (bytes) of the changes that are kept for clients that reconnect. A client that missed
 * more changes receives the whole view.
 */
const MOST_KEPT = 300
const MOST_KEPT_BYTES = 4 << 20
/** Number of clients that receive a change in one step. A write to a socket takes about 30 us of processor time. */
const CLIENTS_A_STEP = 8
/** Time without a message after which a client receives a comment, so that proxies do not close a silent stream. */
const SILENT_MS = 15_000
/** Time after which a browser reconnects when its stream ends. */
const RETRY_MS = 2_000

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

type Client = ReadableStreamDefaultController<Uint8Array>

/** A change as bytes of the stream. */
interface Kept {
  readonly from: string
  readonly id: string
  readonly bytes: Uint8Array
}

/** Sends the view and its changes to browsers as server-sent events. Each change is encoded once for all clients, and
 *  sent to a few of them at a time. */
export class EventStreams {
  readonly #source: ViewSource
  readonly #watched: (isWatched: boolean) => void
  readonly #steps: Pick<Steps, 'add'>
  readonly #clients = new Set<Client>()
  /** The last changes, oldest first. */
  #kept: Kept[] = []
  #keptBytes = 0
  /** The view that was encoded last, with its id. These bytes are sent to every new client until the view changes. */
  #snapshot: { readonly id: string; readonly bytes: Uint8Array } | undefined
  readonly #unlisten: () => void
  readonly #timer: NodeJS.Timeout

  /** `steps`: runs the sending of each change. `watched`: called when the first client connects and when the last one
   *  disconnects. */
  constructor(source: ViewSource, steps: Pick<Steps, 'add'>, watched: (isWatched: boolean) => void = () => {}) {
    this.#source = source
    this.#steps = steps
    this.#watched = watched
    this.#unlisten = source.listen((change) => this.#changed(change))
    this.#timer = setInterval(() => this.#comment(), SILENT_MS).unref()
  }

  get clients(): number {
    return this.#clients.size
  }

  /** Answers GET /events. The stream ends when the signal of the request is aborted. */
  answer({ headers, signal }: Pick<Request, 'headers' | 'signal'>): Response {
    if (this.#clients.size >= MOST_CLIENTS) return tooMany()
    const beginning = this.#beginning(headers.get('last-event-id'))
    const highWaterMark = MOST_WAITING_BYTES + beginning.reduce((sum, { length }) => sum + length, 0)
    let client: Client | undefined
    const leave = (): void => client && this.#end(client)
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          client = controller
          for (const bytes of beginning) controller.enqueue(bytes)
          this.#clients.add(controller)
          if (this.#clients.size === 1) this.#watched(true)
        },
        cancel: leave,
      },
      new ByteLengthQueuingStrategy({ highWaterMark }),
    )
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    return new Response(stream, { headers: HEADERS })
  }

  /** Ends every stream. */
  close(): void {
    clearInterval(this.#timer)
    this.#unlisten()
    for (const client of this.#clients) this.#end(client)
  }

  /** Returns the bytes that a client receives when it connects: the changes that it missed, or the whole view.
   *  `lastId`: id of the last change that the client received; null for a new client. */
  #beginning(lastId: string | null): readonly Uint8Array[] {
    const hello = encoded(`retry: ${RETRY_MS}\n\n`)
    const { view } = this.#source
    if (lastId === view.id) return [hello]
    const at = lastId === null ? -1 : this.#kept.findIndex(({ from }) => from === lastId)
    if (at >= 0) return [hello, ...this.#kept.slice(at).map(({ bytes }) => bytes)]
    return [hello, this.#snapshotOf(view)]
  }

  #snapshotOf(view: View): Uint8Array {
    if (this.#snapshot?.id !== view.id) this.#snapshot = { id: view.id, bytes: encoded(event('view', view, view.id)) }
    return this.#snapshot.bytes
  }

  #changed(change: Change): void {
    const { log, ...rest } = change
    const lines = log === undefined ? '' : event('log', log)
    const bytes = encoded(`${lines}${event('change', rest, change.id)}`)
    this.#keep({ from: change.from, id: change.id, bytes })
    this.#sendAll(bytes)
  }

  /** Sends bytes to the clients of this moment. */
  #sendAll(bytes: Uint8Array): void {
    const clients = [...this.#clients]
    for (let first = 0; first < clients.length; first += CLIENTS_A_STEP)
      this.#steps.add(() => {
        for (const client of clients.slice(first, first + CLIENTS_A_STEP)) this.#send(client, bytes)
      })
  }

  #keep(kept: Kept): void {
    // A client can only apply changes that follow each other. If `kept` does not follow the last kept change, the
    // changes before it are useless and are dropped.
    if (this.#kept.at(-1)?.id !== kept.from) this.#kept = []
    if (this.#kept.length === 0) this.#keptBytes = 0
    this.#kept.push(kept)
    this.#keptBytes += kept.bytes.length
    while (this.#kept.length > MOST_KEPT || this.#keptBytes > MOST_KEPT_BYTES)
      this.#keptBytes -= this.#kept.shift()?.bytes.length ?? 0
  }

  /** Sends bytes to a client, or ends its stream if the client does not read them. */
  #send(client: Client, bytes: Uint8Array): void {
    if (!this.#clients.has(client)) return
    if ((client.desiredSize ?? 0) >= bytes.length) client.enqueue(bytes)
    else this.#end(client)
  }

  #end(client: Client): void {
    if (!this.#clients.delete(client)) return
    if (this.#clients.size === 0) this.#watched(false)
    try {
      client.close()
    } catch {} // the reader has already ended the stream
  }

  #comment(): void {
    this.#sendAll(encoded(':\n\n'))
  }
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** JSON contains no line break, so an event has one line of data. */
function event(kind: 'view' | 'change' | 'log', data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
}

function tooMany(): Response {
  const body = { error: `${MOST_CLIENTS} pages are open already: close one of them`, code: 'TOO_MANY' }
  return Response.json(body, { status: 429, headers: { 'retry-after': '10' } })
}
