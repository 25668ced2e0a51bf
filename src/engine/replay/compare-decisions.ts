import { encodeJson, jsonDifference } from '../../base/json.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Block } from '../../market/block.ts'
import type { Mints } from '../../market/mints.ts'
import { compared } from '../bots/thrown-value.ts'
import { Engine } from '../engine.ts'
import { type Input, isRecorded, type Output } from '../messages.ts'
import type { Strategy } from '../strategy.ts'

/** An entry of a recorded segment (the record of one process from its start to its end). Entries are ordered by seq;
 *  outputs follow the entry that caused them. */
export type Entry =
  | { readonly kind: 'warm'; readonly block: Block; readonly from: number; readonly to: number }
  | { readonly kind: 'rows'; readonly block: Block; readonly from: number; readonly to: number; readonly firstSeq: Seq }
  | { readonly kind: 'input'; readonly seq: Seq; readonly time: Millis; readonly input: Input }
  | { readonly kind: 'output'; readonly seq: Seq; readonly time: Millis; readonly output: Output }

/** The first difference between a replay and the recording. `expected` and `got` are JSON; one of them is '' if that
 *  side has no output. */
export interface Divergence {
  readonly seq: Seq
  /** Path of the first field that differs; '' if one output is missing, or if the outputs have different kinds. */
  readonly field: string
  readonly expected: string
  readonly got: string
}

export interface Verification {
  readonly rows: number
  readonly decisions: number
  readonly divergence: Divergence | null
}

/** Replays a segment (the record of one process from its start to its end). A new engine gets the same rows and inputs,
 *  reports included, and must make the same outputs, byte for byte. Returns the first difference. */
export function verifySegment(
  entries: Iterable<Entry>,
  mints: Mints,
  strategies: ReadonlyMap<string, Strategy>,
): Verification {
  const engine = new Engine(mints, strategies)
  const decided: Decided[] = []
  let rows = 0
  let decisions = 0
  const drain = (seq: Seq, time: Millis): void => {
    for (const output of engine.outputs)
      if (isRecorded(output)) decided.push({ seq, time, text: encodeJson(compared(output)) })
    engine.outputs.length = 0
  }
  const verification = (divergence: Divergence | null): Verification => ({ rows, decisions, divergence })
  for (const entry of entries) {
    if (entry.kind === 'output') {
      decisions++
      const expected = encodeJson(compared(entry.output))
      const got = decided.shift()
      if (got?.text !== expected || got.seq !== entry.seq || got.time !== entry.time)
        return verification(differ(entry, expected, got))
      continue
    }
    const missing = decided[0]
    if (missing !== undefined) return verification(differ(missing, '', missing))
    if (entry.kind === 'input') {
      engine.input(entry.seq, entry.time, entry.input)
      drain(entry.seq, entry.time)
    } else if (entry.kind === 'warm') {
      for (let row = entry.from; row < entry.to; row++) engine.warm(entry.block, row)
    } else {
      for (let row = entry.from; row < entry.to; ) {
        row = engine.rows(entry.firstSeq + row - entry.from, entry.block, row, entry.to)
        if (engine.outputs.length > 0) drain(entry.firstSeq + row - 1 - entry.from, entry.block.time[row - 1] as Millis)
      }
      rows += entry.to - entry.from
    }
  }
  const left = decided[0]
  return verification(left === undefined ? null : differ(left, '', left))
}

/** An output of the engine that replays the segment. */
interface Decided {
  readonly seq: Seq
  readonly time: Millis
  readonly text: string
}

function differ(at: Pick<Decided, 'seq' | 'time'>, expected: string, got: Decided | undefined): Divergence {
  if (expected === '' || got === undefined) return { seq: at.seq, field: '', expected, got: got?.text ?? '' }
  if (got.seq !== at.seq) return { seq: Math.min(at.seq, got.seq), field: 'seq', expected, got: got.text }
  if (got.text === expected) return { seq: at.seq, field: 'time', expected: `${at.time}`, got: `${got.time}` }
  const { path: field } = jsonDifference(JSON.parse(expected), JSON.parse(got.text))
  return { seq: at.seq, field, expected, got: got.text }
}

/** A decision in a run's journal: an order, a refusal, a cancellation, an alarm or a note. Numbers that differ between
 *  runs, such as sequence numbers, are left out. */
export interface Decision {
  readonly time: Millis
  readonly kind: string
  readonly bot: string
  readonly mint: string
  readonly code: string
  readonly reason: string
}
