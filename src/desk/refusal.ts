/** Reasons why the desk answers a request with an error. docs/desk.md lists them. */
export type RefusalCode =
  | 'REQUEST_INVALID'
  | 'HOST_REFUSED'
  | 'PROXY_REFUSED'
  | 'CROSS_SITE'
  | 'LOGIN_REQUIRED'
  | 'LINK_INVALID'
  | 'TOKEN_REQUIRED'
  | 'TOO_MANY'
  | 'READ_ONLY'
  | 'NO_ACTIONS'
  | 'NONCE_INVALID'
  | 'ACTION_REFUSED'
  | 'NOT_FOUND'
  | 'METHOD_REFUSED'
  | 'TOO_LARGE'
  | 'TOO_SLOW'
  | 'STALLED'
  | 'NOT_RUNNING'
  | 'JOURNAL_UNREADABLE'
  | 'FAILED'

/** An error that a client receives as `{ error, code }`. */
export class Refusal extends Error {
  readonly status: number
  readonly code: RefusalCode

  /** `text`: one sentence, without text from the client. */
  constructor(status: number, code: RefusalCode, text: string) {
    super(text)
    this.status = status
    this.code = code
  }

  toResponse(): Response {
    const headers = this.code === 'TOKEN_REQUIRED' ? { 'www-authenticate': 'Bearer' } : {}
    return Response.json({ error: this.message, code: this.code }, { status: this.status, headers })
  }
}
