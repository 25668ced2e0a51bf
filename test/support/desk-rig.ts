import { request } from 'node:http'
import { deskFrom } from '../../src/config/convert-sections.ts'
import type { FileInput } from '../../src/config/schema.ts'
import type { DeskStart, FromDesk } from '../../src/desk/messages.ts'
import { type ServedDesk, serveDesk } from '../../src/desk/thread.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | undefined
}

/** A desk that is served in this process in the same way as in its own thread. */
export class DeskRig {
  readonly said: FromDesk[] = []
  now = 1_800_000_000_000
  #desk: ServedDesk | undefined

  static async start(settings: FileInput['desk'] = {}, more: Partial<DeskStart> = {}, now?: number): Promise<DeskRig> {
    const rig = new DeskRig()
    rig.now = now ?? rig.now
    const config = deskFrom({ port: 0, ...settings }, '')
    const start: DeskStart = { config, journal: '', acts: false, sessions: [], isRun: true, ...more }
    rig.#desk = await serveDesk(
      start,
      (message) => rig.said.push(message),
      () => rig.now,
    )
    return rig
  }

  get desk(): ServedDesk {
    return this.#desk as ServedDesk
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get port(): number {
    return this.desk.port
  }

  /** The lines of the log, as text with their fields. */
  get logged(): string[] {
    return this.said.flatMap((one) => (one.kind === 'log' ? [`${one.text} ${JSON.stringify(one.fields)}`] : []))
  }

  /** Returns the secret of a new login link. */
  link(readOnly = false, name = ''): string {
    this.desk.take({ kind: 'link', id: this.said.length, readOnly, name })
    const made = this.said.at(-1)
    if (made?.kind !== 'link') throw new Error('the desk made no login link')
    return made.url.split('link=')[1] as string
  }

  /** Logs in with a new login link. Returns the cookie of the session. */
  async login(readOnly = false, name = ''): Promise<string> {
    const { headers } = await this.postLogin(this.link(readOnly, name))
    return ([headers['set-cookie']].flat()[0] ?? '').split(';')[0] as string
  }

  postLogin(link: string, headers: Asked['headers'] = {}): Promise<Answer> {
    const type = { origin: this.origin, 'content-type': 'application/x-www-form-urlencoded' }
    return this.ask({ method: 'POST', path: '/login', headers: { ...type, ...headers }, body: `link=${link}` })
  }

  /** Sends a request with exactly these headers. `fetch` would refuse or change some headers. */
  ask({ method = 'GET', path = '/', headers = {}, body }: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` }
      const all = { ...length, ...headers }
      const sent = request(
        { host: '127.0.0.1', port: this.port, method, path, headers: all, agent: false },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8')
          answer.on('data', (part: string) => {
            text += part
          })
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }))
          answer.on('error', reject)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }

  close(): Promise<void> {
    return this.desk.close()
  }
}
