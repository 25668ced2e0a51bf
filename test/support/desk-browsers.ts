import { type IncomingMessage, request } from 'node:http'

export interface BrowsersParts {
  readonly origin: string
  /** The cookie of a session. */
  readonly cookie: string
  /** The number of browsers that read every event. */
  readonly reading: number
  /** The number of browsers that read nothing after the headers. */
  readonly stalled: number
  /** Called with the sequence number of each view and change that a browser reads. */
  readonly saw?: (browser: number, seq: number) => void
}

/** Browsers that keep the stream of a desk open. Each connects again when its stream ends, as a real browser does. */
export class Browsers {
  readonly #parts: BrowsersParts
  readonly #open = new Map<number, IncomingMessage>()
  /** The number of streams that the desk has ended. */
  ended = 0
  #isClosed = false

  constructor(parts: BrowsersParts) {
    this.#parts = parts
  }

  /** The number of streams that are open now. */
  get open(): number {
    return this.#open.size
  }

  /** Resolves once every browser has its stream. */
  async connect(): Promise<void> {
    const { reading, stalled } = this.#parts
    await Promise.all(Array.from({ length: reading + stalled }, (_, browser) => this.#connect(browser)))
  }

  close(): void {
    this.#isClosed = true
    for (const answer of this.#open.values()) answer.destroy()
  }

  #connect(browser: number): Promise<void> {
    const { origin, cookie, reading } = this.#parts
    return new Promise((resolve, reject) => {
      const sent = request(`${origin}/events`, { headers: { cookie }, agent: false }, (answer) => {
        if (answer.statusCode !== 200)
          return reject(new Error(`the desk answered /events with the status ${answer.statusCode}`))
        this.#open.set(browser, answer)
        answer.on('error', () => {}).once('close', () => this.#closed(browser))
        if (browser < reading) this.#read(browser, answer)
        resolve()
      })
      sent.on('error', reject).end()
    })
  }

  #closed(browser: number): void {
    this.#open.delete(browser)
    if (this.#isClosed) return
    this.ended++
    this.#connect(browser).catch(() => {}) // the desk has ended too
  }

  /**
   * Reads the sequence number of each event without its JSON, because parsing would cost more time than the desk needs.
   */
  #read(browser: number, answer: IncomingMessage): void {
    let rest = ''
    answer.setEncoding('utf8').on('data', (part: string) => {
      const events = (rest + part).split('\n\n')
      rest = events.pop() as string
      for (const event of events) {
        const seq = /^event: (?:view|change)$/m.test(event) ? /[{,]"seq":(\d+)/.exec(event)?.[1] : undefined
        if (seq !== undefined) this.#parts.saw?.(browser, Number(seq))
      }
    })
  }
}

/** Logs in with a link of `sluice desk link`. Returns the cookie. */
export function loginOf(link: string): Promise<string> {
  const { origin, searchParams } = new URL(link)
  return new Promise((resolve, reject) => {
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
    const sent = request(`${origin}/login`, { method: 'POST', headers, agent: false }, (answer) => {
      answer.resume()
      const [cookie = ''] = answer.headers['set-cookie']?.[0]?.split(';') ?? []
      if (answer.statusCode === 303) resolve(cookie)
      else reject(new Error(`the desk answered the login with the status ${answer.statusCode}`))
    })
    sent.on('error', reject).end(`link=${searchParams.get('link')}`)
  })
}
