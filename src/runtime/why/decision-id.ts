import type { Seq } from '../../base/units.ts'

/** Place of a decision among the engine's outputs: the number of its row or input, and the position of the output among
 *  the outputs of this row or input. */
export interface DecisionPlace {
  readonly seq: Seq
  readonly n: number
}

/** Id of a refusal or a note, which belong to no order: `d1204.2`. Like the id of an order, it never changes, so that
 *  the desk and `sluice why` can refer to a single refusal. */
export function decisionIdOf({ seq, n }: DecisionPlace): string {
  return `d${seq}.${n}`
}

/** Returns the place that an id names; undefined for a text that is not the id of a decision. */
export function decisionPlace(text: string): DecisionPlace | undefined {
  const [, seq, n] = /^d(\d{1,15})\.(\d{1,6})$/.exec(text) ?? []
  return seq === undefined || n === undefined ? undefined : { seq: Number(seq), n: Number(n) }
}
