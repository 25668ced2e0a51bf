import { afterEach, expect, test, vi } from 'vitest'
import { EventStreams } from '../../src/desk/events.ts'
import { Steps } from '../../src/desk/steps.ts'
import { applyChange } from '../../src/runtime/view/apply-change.ts'
import type { Change, View, ViewSource } from '../../src/runtime/view/view.ts'

/** A view of a run, which the test changes. */
class Changing implements ViewSource {
  view = { id: '1-0', seq: 0, positions: [], openOrders: [], bots: [], title: 'first' } as unknown as View
  readonly #listeners = new Set<(change: Change) => void>()
  #n = 0

  listen(run: (change: Change) => void): () => void {
    this.#listeners.add(run)
    return () => this.#listeners.delete(run)
  }

  change(title: string, log?: Change['log']): void {
    const change: Change = { id: `1-${++this.#n}`, from: this.view.id, set: { title }, ...(log && { log }) }
    this.view = applyChange(this.view, change)
    for (const run of this.#listeners) run(change)
  }
}

const opened: EventStreams[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const streams of opened.splice(0)) streams.close()
})

/** `steps`: by default, a change is sent at once. */
function streams(steps: Pick<Steps, 'add'> = { add: (run) => run() }): { source: Changing; events: EventStreams } {
  const source = new Changing()
  const events = new EventStreams(source, steps)
  opened.push(events)
  return { source, events }
}

interface Seen {
  readonly id?: string
  readonly event?: string
  readonly data?: unknown
}

/** A browser that reads the stream, and keeps the view and the id of the last event. */
class Browser {
  readonly seen: Seen[] = []
  readonly abort = new AbortController()
  readonly response: Response
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  view: View | undefined
  lastId = ''
  comments = 0

  constructor(events: EventStreams, lastId?: string) {
    const headers = new Headers(lastId === undefined ? {} : { 'last-event-id': lastId })
    this.response = events.answer({ headers, signal: this.abort.signal })
    this.#reader = (this.response.body as ReadableStream<Uint8Array>).getReader()
  }

  /** Reads until the stream pauses or ends. Returns whether the stream has ended. */
  async read(): Promise<boolean> {
    for (;;) {
      const waits = new Promise<'waits'>((resolve) => setImmediate(() => resolve('waits')))
      const pending = this.#pending ?? this.#reader.read()
      this.#pending = pending
      const part = await Promise.race([pending, waits])
      if (part === 'waits') return false
      this.#pending = undefined
      if (part.done) return true
      this.#take(new TextDecoder().decode(part.value))
    }
  }

  #pending: ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']> | undefined

  #take(text: string): void {
    for (const block of text.split('\n\n').filter((one) => one !== '')) {
      if (block.startsWith(':')) {
        this.comments++
        continue
      }
      const fields = Object.fromEntries(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      if (fields.retry !== undefined) continue
      const data = JSON.parse(fields.data ?? 'null')
      this.seen.push({ ...fields, data })
      if (fields.id !== undefined) this.lastId = fields.id
      if (fields.event === 'view') this.view = data
      if (fields.event === 'change') this.view = applyChange(this.view as View, data)
    }
  }
}

const kinds = ({ seen }: Browser): string[] => seen.map(({ event }) => event ?? '')

test('a client of the stream receives the view, then each change after the log lines that precede it', async () => {
  const { source, events } = streams()
  const browser = new Browser(events)
  expect(browser.response.headers.get('content-type')).toContain('text/event-stream')
  await browser.read()
  source.change('second')
  const line = { time: 1, seq: 2, n: 0, level: 'error', bot: 'a', mint: '', decision: '', code: 'HELD' } as const
  source.change('third', [{ ...line, text: 'x\ny' }])
  await browser.read()
  expect(kinds(browser)).toEqual(['view', 'change', 'log', 'change'])
  expect(browser.seen[2]).toMatchObject({ data: [{ code: 'HELD', text: 'x\ny' }] })
  expect(browser.view).toEqual(source.view)
  expect(browser.lastId).toBe('1-2')
})

test('a client that reconnects to the stream receives the changes that it missed, and nothing else', async () => {
  const { source, events } = streams()
  const first = new Browser(events)
  await first.read()
  source.change('second')
  await first.read()
  first.abort.abort()
  expect(events.clients).toBe(0)
  for (const title of ['third', 'fourth']) source.change(title)
  const again = new Browser(events, first.lastId)
  again.view = first.view
  await again.read()
  expect(kinds(again)).toEqual(['change', 'change'])
  expect(again.view).toEqual(source.view)
  const current = new Browser(events, again.lastId)
  await current.read()
  expect(current.seen).toEqual([])
})

test.each(['1-9999', 'garbage', '', '2-1', '\u0001'.repeat(3)])(
  'a client that reconnects to the stream with the unknown id %j receives the whole view',
  async (id) => {
    const { source, events } = streams()
    source.change('second')
    const browser = new Browser(events, id.replaceAll('\u0001', '?'))
    await browser.read()
    expect(kinds(browser)).toEqual(['view'])
  },
)

test('a client of the stream that missed too many changes receives the whole view', async () => {
  const { source, events } = streams()
  const first = new Browser(events)
  await first.read()
  for (let n = 0; n < 400; n++) source.change(`title ${n}`)
  const again = new Browser(events, first.lastId)
  await again.read()
  expect(kinds(again)).toEqual(['view'])
  expect(again.view).toEqual(source.view)
})

test('a change reaches 8 clients at a time, with pauses in between, and each client receives all changes in order', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { source, events } = streams(new Steps())
  const browsers = Array.from({ length: 20 }, () => new Browser(events))
  const received = async (): Promise<number[]> => {
    await Promise.all(browsers.map((one) => one.read()))
    return [1, 2].map((n) => browsers.filter(({ seen }) => seen.length > n).length)
  }
  await received()
  source.change('second')
  expect(await received()).toEqual([0, 0])
  vi.advanceTimersByTime(1)
  expect(await received()).toEqual([8, 0])
  source.change('third')
  const [gone] = browsers.splice(19) as [Browser]
  gone.abort.abort()
  const late = new Browser(events)
  vi.advanceTimersByTime(1)
  expect(await received()).toEqual([16, 0])
  vi.advanceTimersByTime(1)
  expect(await received()).toEqual([19, 0])
  vi.advanceTimersByTime(1)
  expect(await received()).toEqual([19, 8])
  vi.advanceTimersByTime(10)
  expect(await received()).toEqual([19, 19])
  for (const browser of browsers) expect(browser.seen.map(({ id }) => id)).toEqual(['1-0', '1-1', '1-2'])
  await late.read()
  expect(late.seen.map(({ id }) => id)).toEqual(['1-2'])
  expect(vi.getTimerCount()).toBe(0)
})

test('only a client that does not read the stream is disconnected, and it can connect again', async () => {
  const { source, events } = streams()
  const stalled = Array.from({ length: 90 }, () => new Browser(events))
  const reading = new Browser(events)
  const long = 'x'.repeat(100_000)
  for (let n = 0; n < 15; n++) {
    source.change(`${long}${n}`)
    await reading.read()
  }
  expect(events.clients).toBe(1)
  expect(reading.view).toEqual(source.view)
  const [one] = stalled as [Browser]
  expect(await one.read()).toBe(true)
  const again = new Browser(events, one.lastId)
  again.view = one.view
  await again.read()
  expect(again.view).toEqual(source.view)
})

test('a silent stream has a comment every 15 s', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const { events } = streams()
  const browser = new Browser(events)
  vi.advanceTimersByTime(31_000)
  vi.useRealTimers()
  await browser.read()
  expect(browser.comments).toBe(2)
})

test('the number of stream clients is limited, and a client that leaves makes room for another', async () => {
  const { events } = streams()
  const browsers = Array.from({ length: 128 }, () => new Browser(events))
  const signal = new AbortController().signal
  const refused = events.answer({ headers: new Headers(), signal })
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ code: 'TOO_MANY', error: expect.stringContaining('128') })
  browsers[0]?.abort.abort()
  expect(events.answer({ headers: new Headers(), signal }).status).toBe(200)
})
