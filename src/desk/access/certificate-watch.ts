import { DAY, type Millis } from '../../base/units.ts'
import { type Certificate, dateOf, readCertificate, requireValid, validCertificate } from '../../config/certificate.ts'
import type { DeskConfig } from '../../config/config.ts'

/**
 * The operator receives a notice when the remaining time is below both `mostMs` and this share of the certificate's
 * lifetime. With `mostMs` alone, a certificate with a lifetime of six days would cause a notice from its first day on.
 */
const NOTICES = [
  { mostMs: 14 * DAY, share: 1 / 6 },
  { mostMs: 3 * DAY, share: 1 / 20 },
] as const
/**
 * Time for which a key may not fit its certificate before the operator is notified. A renewal replaces first one file
 * and then the other, so the two do not fit for a moment.
 */
const UNFIT_MS = 60_000

export interface CertificateWatchParts {
  readonly files: NonNullable<DeskConfig['tls']>
  readonly origin: string | undefined
  readonly now: () => Millis
  /** Makes the server use a renewed certificate for new connections. */
  readonly renew: (certificate: Certificate) => void
  /** Writes a notice to the operator's log. `isUrgent`: whether an alert is sent too. */
  readonly tell: (text: string, isUrgent: boolean) => void
}

/**
 * Reads renewed certificate files without a restart, and warns the operator before the certificate expires. If the new
 * files cannot be used, the previous certificate stays in use.
 */
export class CertificateWatch {
  readonly #parts: CertificateWatchParts
  #used: Certificate
  /** Number of notices about the present certificate that were already given. */
  #told = 0
  #unfit: { readonly problem: string; readonly since: Millis; isTold: boolean } | undefined

  /** Throws a CertificateError if the files cannot be used. */
  constructor(parts: CertificateWatchParts) {
    this.#parts = parts
    this.#used = validCertificate(parts.files, parts.origin, parts.now())
  }

  get certificate(): Certificate {
    return this.#used
  }

  /** Tells the operator if the certificate with which the desk started has a problem or expires soon. */
  begin(): void {
    if (this.#used.warning !== undefined) this.#parts.tell(this.#used.warning, true)
    this.#tellExpiry()
  }

  /**
   * Reads the files again if they have changed, and warns the operator if the certificate is about to expire. Must be
   * called at regular intervals.
   */
  look(): void {
    this.#read()
    this.#tellExpiry()
  }

  #read(): void {
    const { files, origin, now, renew, tell } = this.#parts
    try {
      const read = readCertificate(files, origin, now())
      const isSame = read.cert === this.#used.cert && read.key === this.#used.key
      if (!isSame) requireValid(read, files, now())
      this.#unfit = undefined
      if (isSame) return
      renew(read)
      this.#used = read
      this.#told = 0
      tell(`the desk uses the renewed certificate of ${files.certificate}, valid until ${until(read)}`, false)
      if (read.warning !== undefined) tell(read.warning, true)
    } catch (error) {
      this.#failed((error as Error).message)
    }
  }

  #failed(problem: string): void {
    const { now, tell } = this.#parts
    if (this.#unfit?.problem !== problem) this.#unfit = { problem, since: now(), isTold: false }
    if (this.#unfit.isTold || now() - this.#unfit.since < UNFIT_MS) return
    this.#unfit.isTold = true
    tell(`the desk keeps the certificate that it has, valid until ${until(this.#used)}: ${problem}`, true)
  }

  #tellExpiry(): void {
    const { files, now, tell } = this.#parts
    const { validFrom, validTo } = this.#used
    const left = validTo - now()
    const due = NOTICES.filter(({ mostMs, share }) => left <= Math.min(mostMs, (validTo - validFrom) * share)).length
    const stage = left < 0 ? NOTICES.length + 1 : due
    if (stage <= this.#told) return
    this.#told = stage
    const renewal = 'renew it; the desk then reads the new files without a restart, and trading continues'
    const what =
      left < 0 ? `expired at ${until(this.#used)}, and browsers refuse it` : `expires at ${until(this.#used)}`
    tell(`the certificate of the desk ${what}: ${renewal} (${files.certificate})`, true)
  }
}

function until({ validTo }: Certificate): string {
  return dateOf(validTo)
}
