import { ByteReader, Malformed } from '../../solana/byte-reader.ts'
import { MOST_COMPUTE_UNITS } from '../../solana/rounding.ts'
import type { Reading, Step } from './reading.ts'

const HEAP = 1
const LIMIT = 2
const PRICE = 3
const LOADED_BYTES = 4
/** Compute units that the chain (Agave) assumes for each instruction if the transaction sets no limit. */
const DEFAULT_UNITS = 200_000n

/** The fields of a `Reading` that compute budget instructions set. */
export type ComputeAsked = Pick<Reading, 'computeLimit' | 'microLamports' | 'refuse'>

/** Reads a compute budget instruction. The compute limit and the compute price may be set at most once each. Together
 *  they give the priority fee, which is paid even if the transaction fails. */
export function readComputeBudget({ place, data }: Pick<Step, 'place' | 'data'>, reading: ComputeAsked): void {
  const reader = new ByteReader(data)
  const kind = reader.byte()
  if (kind === LIMIT) {
    if (reading.computeLimit !== undefined)
      reading.refuse('COMPUTE_BUDGET', `instruction ${place} sets the compute limit a second time`)
    reading.computeLimit = reader.uint32()
  } else if (kind === PRICE) {
    if (reading.microLamports !== undefined)
      reading.refuse('COMPUTE_BUDGET', `instruction ${place} sets the compute unit price a second time`)
    reading.microLamports = reader.uint64()
  } else if (kind === HEAP || kind === LOADED_BYTES) reader.uint32()
  else reading.refuse('COMPUTE_BUDGET', `instruction ${place} (Compute Budget, instruction number ${kind}) is unknown`)
  if (reader.left > 0) throw new Malformed('a compute budget instruction has bytes after its arguments')
}

type Limited = Pick<ComputeAsked, 'computeLimit'>

/** Returns the maximum number of compute units that the transaction may use. `steps`: number of instructions other than
 *  those of the compute budget. */
export function computeUnits({ computeLimit }: Limited, steps: number): bigint {
  const asked = computeLimit === undefined ? DEFAULT_UNITS * BigInt(steps) : BigInt(computeLimit)
  return asked < MOST_COMPUTE_UNITS ? asked : MOST_COMPUTE_UNITS
}

/** Returns the maximum priority fee, lamports. */
export function priorityFee(asked: Omit<ComputeAsked, 'refuse'>, steps: number): bigint {
  const { microLamports = 0n } = asked
  return (computeUnits(asked, steps) * microLamports + 999_999n) / 1_000_000n
}
