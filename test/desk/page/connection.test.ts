import { expect, test } from 'vitest'
import { Connection, type Outside } from '../../../src/desk/page/connection.ts'
import { type Desk, type Me, Store } from '../../../src/desk/page/store.ts'
import type { View } from '../../../src/runtime/view/view.ts'
import { recordedView } from './recorded-desk.ts'

const view = recordedView()

/** A simulated browser with simulated time. */
class TestBrowser implements Outside {
  time = 1_000
  opened = 0
  closed = 0
  asked = 0
  answer: View | 'ended' | 'lost' = 'lost'
  asksMe = 0
  who: Me | 'ended' | 'lost' = { name: 'me', readOnly: false }
  heard: Parameters<Outside['open']>[0] = () => {}
  failed: Parameters<Outside['open']>[1] = () => {}
  #tick = (): void => {}

  open(heard: Parameters<Outside['open']>[0], failed: Parameters<Outside['open']>[1]): () => void {
    this.opened++
    this.heard = heard
    this.failed = failed
    return () => {
      this.closed++
    }
  }

  async ask(): Promise<View | 'ended' | 'lost'> {
    this.asked++
    return this.answer
  }

  async me(): Promise<Me | 'ended' | 'lost'> {
    this.asksMe++
    return this.who
  }

  now(): number {
    return this.time
  }

  every(_ms: number, run: () => void): void {
    this.#tick = run
  }

  async wait(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) {
      this.time += 1_000
      this.#tick()
      await Promise.resolve()
      await Promise.resolve()
    }
  }
}

function connected(): { browser: TestBrowser; store: Store<Desk> } {
  const store = new Store<Desk>({ view: null, link: { state: 'connecting', heardAt: 0 }, me: null, news: [] })
  const browser = new TestBrowser()
  new Connection(store, browser).start()
  browser.heard('view', JSON.stringify(view))
  return { browser, store }
}

test('the first view and the changes after it arrive in the store of the page', () => {
  const { browser, store } = connected()
  browser.heard('change', JSON.stringify({ id: '7-1', from: '7-0', set: { fills: 999 } }))
  expect(store.get().view?.fills).toBe(999)
  expect(store.get().link).toEqual({ state: 'live', heardAt: 1_000 })
})

test('if a change does not follow the view of the page, the page opens the stream again, which begins with the whole view', () => {
  const { browser, store } = connected()
  browser.heard('change', JSON.stringify({ id: '7-9', from: '7-8', set: { fills: 999 } }))
  expect([browser.opened, browser.closed, store.get().view?.fills]).toEqual([2, 1, view.fills])
})

test('the page drops a change that arrives before the first view', () => {
  const store = new Store<Desk>({ view: null, link: { state: 'connecting', heardAt: 0 }, me: null, news: [] })
  const browser = new TestBrowser()
  new Connection(store, browser).start()
  browser.heard('change', JSON.stringify({ id: '7-1', from: '7-0', set: { fills: 999 } }))
  expect(store.get().view).toBeNull()
})

test('the page shows a broken stream at once, and still shows the age of the view', () => {
  const { browser, store } = connected()
  browser.failed(false)
  expect(store.get().link).toEqual({ state: 'lost', heardAt: 1_000 })
  expect(store.get().view).not.toBeNull()
  browser.heard('view', JSON.stringify(view))
  expect(store.get().link.state).toBe('live')
})

test('after a stream resumes without a change, the page shows it as live again, and the view keeps its age', () => {
  const { browser, store } = connected()
  browser.failed(false)
  browser.time += 5_000
  browser.heard('open', '')
  expect(store.get().link).toEqual({ state: 'live', heardAt: 1_000 })
})

test('a stream that the browser gives up is opened again every 3 seconds', async () => {
  const { browser, store } = connected()
  browser.failed(true)
  await browser.wait(4_000)
  expect(browser.opened).toBe(2)
  browser.failed(true)
  await browser.wait(4_000)
  expect([browser.opened, store.get().link.state]).toEqual([3, 'lost'])
})

test('the page shows an ended session, and does not open the stream again', async () => {
  const { browser, store } = connected()
  browser.answer = 'ended'
  browser.failed(true)
  await browser.wait(60_000)
  expect([browser.opened, store.get().link.state]).toEqual([1, 'ended'])
})

test('if the stream sends nothing, the page asks for the view, and shows the connection as lost if no answer comes', async () => {
  const { browser, store } = connected()
  browser.answer = { ...view, fills: 1_000 }
  await browser.wait(21_000)
  expect([browser.asked, store.get().view?.fills, store.get().link.state]).toEqual([1, 1_000, 'live'])
  browser.answer = 'lost'
  await browser.wait(24_000)
  expect(store.get().link.state).toBe('lost')
  expect(browser.opened).toBeGreaterThan(1)
})

test('the page shows new log lines first, and keeps at most 200 lines', () => {
  const { browser, store } = connected()
  const line = (seq: number) => ({ seq, time: seq, level: 'info', bot: '', mint: '', code: '', text: '' })
  for (let seq = 0; seq < 300; seq += 2) browser.heard('log', JSON.stringify([line(seq), line(seq + 1)]))
  expect(store.get().news).toHaveLength(200)
  expect(
    store
      .get()
      .news.slice(0, 3)
      .map(({ seq }) => seq),
  ).toEqual([299, 298, 297])
})

test('the page repeats the request for the logged-in session until it is answered, so that no action is missing', async () => {
  const store = new Store<Desk>({ view: null, link: { state: 'connecting', heardAt: 0 }, me: null, news: [] })
  const browser = new TestBrowser()
  browser.who = 'lost'
  new Connection(store, browser).start()
  browser.heard('view', JSON.stringify(view))
  await browser.wait(4_000)
  expect([browser.asksMe, store.get().me]).toEqual([2, null])
  browser.who = { name: 'phone', readOnly: false }
  await browser.wait(4_000)
  await browser.wait(10_000)
  expect([browser.asksMe, store.get().me]).toEqual([3, { name: 'phone', readOnly: false }])
})

test('if the session ended before the first answer, the page shows that it has ended', async () => {
  const store = new Store<Desk>({ view: null, link: { state: 'connecting', heardAt: 0 }, me: null, news: [] })
  const browser = new TestBrowser()
  browser.who = 'ended'
  new Connection(store, browser).start()
  await browser.wait(1_000)
  expect([store.get().link.state, browser.closed]).toEqual(['ended', 1])
})
