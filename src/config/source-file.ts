import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Millis } from '../base/units.ts'
import { checkSource } from './source-check.ts'
import { parseWith } from './yaml/wording.ts'

/** A value of a source, with the time from which the strategy may know it. */
export interface TimedValue {
  readonly time: Millis
  readonly data: Json
}

const MOST_BYTES = 256 * 1024 * 1024
const line = z.object({
  time: z.union([z.int(), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))]),
  data: z.unknown(),
})

/** Reads the values of a source from a file: on each line an object with `time` (ms since the Unix epoch, or ISO 8601
 *  with a zone) and `data`, in the order of time. Throws SluiceError with the line of the first problem. */
export function readSourceFile(path: string, schema: z.ZodType): readonly TimedValue[] {
  const refuse = (problem: string): SluiceError => new SluiceError(`${path}${problem}`, ExitCode.usage)
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MOST_BYTES) throw refuse(' is larger than 256 MiB')
  const values: TimedValue[] = []
  for (const [index, text] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (text.trim() === '') continue
    const at = `:${index + 1}`
    const parsed = parseWith(line, jsonOf(text))
    if (!parsed.ok) throw refuse(`${at}: expected {"time": ..., "data": ...}: ${parsed.complaints[0]?.message}`)
    const { time, data } = parsed.value
    const last = values.at(-1)
    if (last !== undefined && time < last.time)
      throw refuse(`${at}: the time is earlier than the time of the line above`)
    const checked = checkSource(schema, data)
    if (!checked.ok) throw refuse(`${at}: ${checked.problem}`)
    values.push({ time, data: checked.data })
  }
  return values
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
