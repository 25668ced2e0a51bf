import type { Clock, Http } from '../../base/machine.ts'
import type { Config } from '../../config/config.ts'
import type { Plan } from '../../engine/settings.ts'
import type { KeyUse, ServiceAccess } from '../service-access.ts'
import type { JournalLook } from './machine.ts'

/** A process that uses the journal or the API key, with its status. */
export interface Running {
  readonly holder: string
  readonly health:
    | {
        readonly feed: string
        readonly positions: number
        readonly plan: Plan
        readonly requests: { readonly held: number; readonly allowed: number; readonly waiting: number }
        readonly brokenLists: readonly string[]
      }
    | undefined
}

/** Configuration, connections and findings that every examination needs. */
export interface DoctorFindings {
  readonly config: Config
  readonly service: ServiceAccess
  readonly clock: Clock
  readonly http: Http
  readonly journal: JournalLook
  /** Another process that uses the API key; undefined if there is none. */
  readonly busy: Running | undefined
  readonly keyUse: KeyUse
}
