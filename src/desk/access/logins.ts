import type { Millis } from '../../base/units.ts'
import { type Hashed, Secrets } from '../../live/control/secrets.ts'
import { Refusal } from '../refusal.ts'

const LINK_MS = 5 * 60_000
/** A session ends after this time without a request. */
const IDLE_MS = 24 * 3_600_000
/** A session ends after this time, even if it is in use. */
const LONGEST_MS = 7 * 24 * 3_600_000
const MOST_LINKS = 16
const MOST_SESSIONS = 256

interface Link {
  readonly name: string
  readonly readOnly: boolean
  readonly expiresAt: Millis
}

/** Facts about a session. The main thread keeps them, and they contain only the hash of the cookie's secret. */
export interface SessionRecord {
  readonly id: string
  /** Name in the journal for the actions of this session. */
  readonly name: string
  readonly readOnly: boolean
  readonly since: Millis
  /** Address and browser that began the session, as the client reported them. */
  readonly address: string
  readonly browser: string
}

/** A session, with the data that exists only in the memory of the desk's thread. */
export interface Session extends SessionRecord {
  seenAt: Millis
  /** Number of open streams, which keep a session from being idle. */
  streams: number
  /** Aborted when the session ends, so that its streams end too. */
  readonly end: AbortController
}

export interface LoginsOptions {
  readonly now: () => Millis
  /** Called when a session begins or ends. */
  readonly changed?: (sessions: readonly Hashed<SessionRecord>[]) => void
  /** Sessions that an earlier thread of this process began. */
  readonly sessions?: readonly Hashed<SessionRecord>[]
  /** Whether all sessions are read-only. */
  readonly readOnly?: boolean
}

/** One-time links and the sessions that they begin. */
export class Logins {
  readonly #options: LoginsOptions
  readonly #links = new Secrets<Link>(MOST_LINKS)
  readonly #sessions: Secrets<Session>
  #number = 0

  constructor(options: LoginsOptions) {
    this.#options = options
    const restored = (options.sessions ?? []).map(({ hash, value }) => ({ hash, value: this.#opened(value) }))
    this.#sessions = new Secrets(MOST_SESSIONS, restored)
    for (const { value } of restored) this.#number = Math.max(this.#number, Number(value.id.slice(1)))
  }

  /** Makes a link that begins one session. Returns its secret. */
  link({ readOnly, name }: { readonly readOnly: boolean; readonly name?: string | undefined }): string {
    const expiresAt = this.#options.now() + LINK_MS
    return this.#links.add({ name: name ?? '', readOnly: readOnly || this.#options.readOnly === true, expiresAt })
  }

  /** Invalidates a link and begins a session. Returns the session and the secret of its cookie. */
  begin(token: string, address: string, browser: string): { session: Session; cookie: string } {
    const link = this.#links.find(token)
    if (link === undefined || link.expiresAt <= this.#options.now())
      throw new Refusal(403, 'LINK_INVALID', 'the link was used, has expired, or never existed: run `sluice desk link`')
    this.#links.delete(link)
    const id = `s${++this.#number}`
    const { readOnly, name } = link
    const since = this.#options.now()
    const session = this.#opened({ id, name: name || `desk ${id}`, readOnly, since, address, browser })
    const cookie = this.#sessions.add(session)
    this.#changed()
    return { session, cookie }
  }

  /** Returns the session to which a cookie belongs; undefined if there is no such session. Counts the request as use of
   *  the session. */
  find(cookie: string): Session | undefined {
    const session = this.#sessions.find(cookie)
    if (session === undefined) return undefined
    if (this.#isOver(session)) {
      this.end(session)
      return undefined
    }
    session.seenAt = this.#options.now()
    return session
  }

  /** Sessions that have not ended, oldest first. */
  list(): Session[] {
    this.sweep()
    return this.#sessions.values()
  }

  end(session: Session): void {
    this.#sessions.delete(session)
    session.end.abort()
    this.#changed()
  }

  /** Ends the sessions whose time is over, with their streams. */
  sweep(): void {
    for (const session of this.#sessions.values()) if (this.#isOver(session)) this.end(session)
  }

  #isOver({ since, seenAt, streams }: Session): boolean {
    const now = this.#options.now()
    return now - since >= LONGEST_MS || (streams === 0 && now - seenAt >= IDLE_MS)
  }

  #opened(record: SessionRecord): Session {
    return { ...record, seenAt: this.#options.now(), streams: 0, end: new AbortController() }
  }

  #changed(): void {
    this.#options.changed?.(
      this.#sessions.hashed().map(({ hash, value: { seenAt: _, streams: _streams, end: _end, ...value } }) => ({
        hash,
        value,
      })),
    )
  }
}
