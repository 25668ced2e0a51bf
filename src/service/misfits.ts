/** Of each reason so many are kept, and so much of each. */
const KEPT = 20
const KEPT_BYTES = 2_048

/** Frames that do not fit: counted by reason, the first ones of each kept for a person to look at. */
export class Misfits {
  readonly counts = new Map<string, number>()
  readonly #keep: (why: string, text: string) => void

  constructor(keep: (why: string, text: string) => void) {
    this.#keep = keep
  }

  /** `secret` never gets into what is kept: a service may echo what it was sent. */
  add(why: string, data: Uint8Array, secret: string): void {
    const count = (this.counts.get(why) ?? 0) + 1
    this.counts.set(why, count)
    if (count > KEPT) return
    // Read further than what is kept, so that a secret across the cut is still seen whole.
    const text = Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, KEPT_BYTES + secret.length)).toString()
    this.#keep(why, (secret === '' ? text : text.replaceAll(secret, '[secret]')).slice(0, KEPT_BYTES))
  }
}
