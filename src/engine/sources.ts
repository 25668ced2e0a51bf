import type { z } from 'zod'
import type { Json } from '../base/json.ts'
import type { Millis } from '../base/units.ts'

/** External data that a strategy declares, by name. The YAML gives the address of each source. */
export type Sources = Readonly<Record<string, { readonly schema: z.ZodType }>>

/** The data sources of a strategy that declares none. */
export type NoSources = Readonly<Record<never, never>>

/** Arguments of `onSource`: the name of a source, and the data and the time of its answer. */
export type SourceEvent<X extends Sources> = {
  [K in keyof X]: [name: K, data: z.output<X[K]['schema']>, time: Millis]
}[keyof X]

/** The last answer of a strategy's data source before a start. */
export interface SourceValue {
  readonly bot: string
  readonly name: string
  readonly data: Json
  readonly time: Millis
}
