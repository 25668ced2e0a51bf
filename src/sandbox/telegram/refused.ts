/** A refusal of the Bot API. */
export class Refused extends Error {
  readonly status: number
  readonly retryAfter: number | undefined

  constructor(status: number, text: string, retryAfter?: number) {
    super(text)
    this.status = status
    this.retryAfter = retryAfter
  }
}

export function badRequest(text: string): Refused {
  return new Refused(400, `Bad Request: ${text}`)
}

export function tooMany(seconds: number): Refused {
  return new Refused(429, `Too Many Requests: retry after ${seconds}`, seconds)
}
