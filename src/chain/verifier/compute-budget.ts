import { ByteReader, Malformed } from '../../solana/byte-reader.ts'
import { MOST_COMPUTE_UNITS } from '../../solana/rounding.ts'
import type { Reading, Step } from './reading.ts'

const HEAP = 1
const LIMIT = 2
const PRICE = 3
const LOADED_BYTES = 4
/** What an instruction may use at most where no limit was set. */
const USUAL_UNITS = 200_000n

/** What was asked for so far. */
export type ComputeAsked = Pick<Reading, 'computeLimit' | 'microLamports' | 'refuse'>

/** Limit and price, once each: together they are the priority fee, which is paid even where the transaction fails. */
export function readComputeBudget({ place, data }: Pick<Step, 'place' | 'data'>, reading: ComputeAsked): void {
  const reader = new ByteReader(data)
  const kind = reader.byte()
  if (kind === LIMIT) {
    if (reading.computeLimit !== undefined)
      reading.refuse('COMPUTE_BUDGET', `instruction ${place} sets the limit again`)
    reading.computeLimit = reader.uint32()
  } else if (kind === PRICE) {
    if (reading.microLamports !== undefined)
      reading.refuse('COMPUTE_BUDGET', `instruction ${place} sets the price again`)
    reading.microLamports = reader.uint64()
  } else if (kind === HEAP || kind === LOADED_BYTES) reader.uint32()
  else reading.refuse('COMPUTE_BUDGET', `instruction ${place}, Compute Budget number ${kind}: cannot be read`)
  if (reader.left > 0) throw new Malformed('a compute budget of another shape')
}

type Limited = Pick<ComputeAsked, 'computeLimit'>

/** How many compute units the transaction may use. `steps`: instructions that may use units. */
export function computeUnits({ computeLimit }: Limited, steps: number): bigint {
  const asked = computeLimit === undefined ? USUAL_UNITS * BigInt(steps) : BigInt(computeLimit)
  return asked < MOST_COMPUTE_UNITS ? asked : MOST_COMPUTE_UNITS
}

/** What the priority fee is at most, lamports. */
export function priorityFee(asked: Omit<ComputeAsked, 'refuse'>, steps: number): bigint {
  const { microLamports = 0n } = asked
  return (computeUnits(asked, steps) * microLamports + 999_999n) / 1_000_000n
}
