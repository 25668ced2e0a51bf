import { deskFrom } from '../../../src/config/defaults.ts'
import { Desk } from '../../../src/desk/host.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { recordedView } from '../../../src/runtime/view/recorded-view.ts'
import type { Change, LogLine, View, ViewSource } from '../../../src/runtime/view/view.ts'

/** The view of a recorded journal, as if bots were running: a test makes its changes. */
class MovingView implements ViewSource {
  view: View
  readonly #listeners = new Set<(change: Change) => void>()
  #count = 0

  constructor(view: View) {
    this.view = { ...view, source: 'running' }
  }

  listen(run: (change: Change) => void): () => void {
    this.#listeners.add(run)
    return () => void this.#listeners.delete(run)
  }

  push(change: Omit<Change, 'id' | 'from'>): void {
    const [segment] = this.view.id.split('-')
    const from = this.view.id
    this.view = { ...this.view, id: `${segment}-speed${++this.#count}` }
    for (const run of this.#listeners) run({ from, id: this.view.id, ...change })
  }
}

/** A journal that the desk serves in its own thread, with its API, its login and its stream. */
export class ServedJournal {
  readonly origin: string
  /** Name and value of the cookie of a session. */
  readonly cookie: readonly [name: string, value: string]
  readonly #desk: Desk
  readonly #view: MovingView

  private constructor(desk: Desk, view: MovingView, origin: string, cookie: readonly [string, string]) {
    this.#desk = desk
    this.#view = view
    this.origin = origin
    this.cookie = cookie
  }

  static async open(journal: string): Promise<ServedJournal> {
    const reader = openReader(journal)
    const view = new MovingView(recordedView(reader, 'desk-speed'))
    reader.close()
    const log = { info: () => {}, warn: console.error, error: console.error }
    const desk = new Desk({ config: deskFrom({ port: 0 }, ''), journal, view, log, alert: console.error })
    const origin = await desk.ready
    if (origin === undefined) throw new Error('the desk is not served')
    const body = `link=${(await desk.link(true)).split('link=')[1]}`
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
    const login = await fetch(`${origin}/login`, { method: 'POST', redirect: 'manual', headers, body })
    const [name = '', value = ''] = (login.headers.getSetCookie()[0]?.split(';')[0] ?? '').split('=')
    return new ServedJournal(desk, view, origin, [name, value])
  }

  get view(): View {
    return this.#view.view
  }

  push(change: Omit<Change, 'id' | 'from'>, log: readonly LogLine[] = []): void {
    this.#view.push({ ...change, ...(log.length > 0 && { log }) })
  }

  /** Milliseconds of a request, with its whole answer. */
  async ask(path: string): Promise<number> {
    const begin = performance.now()
    const answer = await fetch(`${this.origin}${path}`, { headers: { cookie: this.cookie.join('=') } })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`)
    return performance.now() - begin
  }

  close(): Promise<void> {
    return this.#desk.close()
  }
}
