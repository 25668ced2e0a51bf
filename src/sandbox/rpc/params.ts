import { isPublicKey, isSignature } from '../../solana/base58.ts'
import { COMMITMENTS, type Commitment, type Ledger } from '../chain/ledger.ts'

/** Error of an RPC call, with the number that a Solana node uses. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

const INVALID_PARAMS = -32602
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016

/** An RPC method: returns its result for the params, or throws RpcError. */
export type Method = (params: unknown[]) => unknown

export type Config = Record<string, unknown>

export function config(value: unknown): Config {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('expected a configuration object')
  return value as Config
}

/** Commitment of a request; the default is finalized, as on a node. Throws error -32016 if the node has not reached
 *  `minContextSlot` at that commitment. */
export function commitment(ledger: Ledger, { commitment: value = 'finalized', minContextSlot }: Config): Commitment {
  const known = COMMITMENTS.find((name) => name === value)
  if (!known) throw invalid(`unknown variant \`${String(value)}\`, expected one of processed, confirmed, finalized`)
  const { slot } = ledger.head(known)
  if (typeof minContextSlot === 'number' && minContextSlot > slot) {
    throw new RpcError(MIN_CONTEXT_SLOT_NOT_REACHED, 'Minimum context slot has not been reached', { contextSlot: slot })
  }
  return known
}

/** Commitment of a request for history. Throws for `processed`, which the history does not support. */
export function historyCommitment(ledger: Ledger, options: Config): Commitment {
  const known = commitment(ledger, options)
  if (known === 'processed') throw invalid('Method does not support commitment below `confirmed`')
  return known
}

export function address(value: unknown): string {
  if (isPublicKey(value)) return value
  throw invalid('Invalid param: WrongSize')
}

export function signature(value: unknown): string {
  if (isSignature(value)) return value
  throw invalid('Invalid param: WrongSize')
}

export function integer(value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value)
  throw invalid(`invalid value: expected a whole number from ${min} to ${max}`)
}

export function list(value: unknown, most: number): unknown[] {
  if (Array.isArray(value) && value.length <= most) return value
  throw invalid(`expected a list of at most ${most}`)
}

export function encoding(value: unknown, fallback: string): string {
  if (value === undefined) return fallback
  if (['json', 'jsonParsed', 'base64', 'base58'].includes(String(value))) return String(value)
  throw invalid(`unknown variant \`${String(value)}\`, expected one of json, jsonParsed, base64, base58`)
}

export function invalid(message: string): RpcError {
  return new RpcError(INVALID_PARAMS, message)
}
