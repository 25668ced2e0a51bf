import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { type Json, plainJson } from '../base/json.ts'
import { formatPath, type Path } from './yaml/errors.ts'
import { parseWith } from './yaml/wording.ts'

/** A value that fits the schema of a source, as plain JSON; or the problem. */
export type SourceCheck = { readonly ok: true; readonly data: Json } | { readonly ok: false; readonly problem: string }

/** Checks an answer by the schema of its source. The result is checked a second time, because a replay applies the
 *  schema to the recorded result. A schema that changes its own result would fail then. */
export function checkSource(schema: z.ZodType, value: unknown): SourceCheck {
  try {
    const first = parseWith(schema, value)
    if (!first.ok) return { ok: false, problem: textOf(first.complaints) }
    const data = plainJson(first.value, 'data')
    const again = parseWith(schema, data)
    if (again.ok && isDeepStrictEqual(plainJson(again.value, 'data'), data)) return { ok: true, data }
    return {
      ok: false,
      problem:
        'the schema does not accept its own result; let the schema only check the answer, and convert the data in onSource',
    }
  } catch (error) {
    return { ok: false, problem: `the schema threw: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** Maximum number of complaints that a message about an answer of a source contains. If the answer is a long list, each
 *  entry may cause a complaint. */
const MOST_COMPLAINTS = 5

function textOf(complaints: readonly { readonly path: Path; readonly message: string }[]): string {
  const shown = complaints
    .slice(0, MOST_COMPLAINTS)
    .map(({ path, message }) => `${formatPath(path)}: ${message}`.replace(/^: /, ''))
  const more = complaints.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
