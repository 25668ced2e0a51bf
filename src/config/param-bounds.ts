import { z } from 'zod'
import type { Strategy } from '../core/strategy.ts'

/** What the schema of a strategy says of one of its numbers. Infinite where there is no bound. */
export interface ParamBounds {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly isInteger: boolean
}

interface NumberSchema {
  readonly type?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
}

/** The numbers among the params of a strategy, in the order of its schema. An exclusive bound counts as one: the schema has the last word on
 *  every value. */
export function paramBounds({ params }: Pick<Strategy, 'params'>): ParamBounds[] {
  const schema = z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' })
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = property as NumberSchema
    if (type !== 'number' && type !== 'integer') return []
    const min = boundOf(minimum ?? exclusiveMinimum, Number.NEGATIVE_INFINITY)
    const max = boundOf(maximum ?? exclusiveMaximum, Number.POSITIVE_INFINITY)
    return [{ name, min, max, isInteger: type === 'integer' }]
  })
}

/** An integer of zod ends where doubles do: nobody chose that. */
function boundOf(bound: number | undefined, none: number): number {
  return bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? none : bound
}
