import { deskFrom } from '../../../src/config/convert-sections.ts'
import { Desk } from '../../../src/desk/host.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { recordedView } from '../../../src/runtime/view/recorded-view.ts'
import type { View } from '../../../src/runtime/view/view.ts'
import type { LiveView } from '../../../src/runtime/view/view-updates.ts'

/** A journal that the desk serves in a thread of its own, with API, login and stream. */
export class ServedJournal {
  readonly origin: string
  /** The name and the value of a session's cookie. */
  readonly cookie: readonly [name: string, value: string]
  /** The view, as if bots were running. */
  readonly view: View
  readonly #desk: Desk

  private constructor(desk: Desk, view: View, origin: string, cookie: readonly [string, string]) {
    this.#desk = desk
    this.view = view
    this.origin = origin
    this.cookie = cookie
  }

  static async open(journal: string): Promise<ServedJournal> {
    const reader = openReader(journal)
    const view: View = { ...recordedView(reader, 'desk-speed'), source: 'running' }
    reader.close()
    const log = { info: () => {}, warn: console.error, error: console.error }
    const live: LiveView = {
      committing: new Int32Array(1),
      follow: (follower) => {
        follower.begin(view, undefined)
        return () => {}
      },
      watched: () => {},
    }
    const desk = new Desk({ config: deskFrom({ port: 0 }, ''), journal, view: live, log, alert: console.error })
    const origin = await desk.ready
    if (origin === undefined) throw new Error('the desk is not served')
    const body = `link=${(await desk.link(true)).split('link=')[1]}`
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
    const login = await fetch(`${origin}/login`, { method: 'POST', redirect: 'manual', headers, body })
    const [name = '', value = ''] = (login.headers.getSetCookie()[0]?.split(';')[0] ?? '').split('=')
    return new ServedJournal(desk, view, origin, [name, value])
  }

  /** Sends a request and returns the milliseconds until its answer was complete. */
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
