import type { HttpRequest, HttpResult, Journal } from '../../core/ports.ts'
import type { SellUnit } from '../../service/sell-amount.ts'

/** Somebody who looks on while orders go out, to learn what the service's document leaves open. */
export interface Onlooker {
  /** The journal with him in front of it: he sees what is decided and what becomes of it, and may write. */
  watch(journal: Journal): Journal
  /** Every answer of the service. */
  answered(request: HttpRequest, result: HttpResult): void
  /** How the next sale's number is written. */
  sellUnit(): SellUnit
}
