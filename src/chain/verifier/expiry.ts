import type { Refusal } from '../../core/errors.ts'
import type { Rpc } from '../../core/ports.ts'
import { readHead } from '../read.ts'

/** How long what is built on a blockhash may land, in blocks (MAX_PROCESSING_AGE), and how far a node's word may be off. */
const BLOCKHASH_BLOCKS = 150
const SLACK_BLOCKS = 8
/** So far above our own the builder's number may be: its node may be ahead of ours. */
const AHEAD_BLOCKS = 32

export interface Expiry {
  /** The last height at which the transaction may land. */
  readonly height: number
  readonly refusals: readonly Refusal[]
}

/** When a transaction expires whose blockhash our own node knew at `slot`: by our own node's height, never by the builder's number. That is
 *  only compared: one that cannot be means another chain, or somebody who wants us to wait for ever. Unread where no node says. */
export async function readExpiry(rpc: Rpc, slot: number, told: number | undefined): Promise<Expiry> {
  const head = await readHead(rpc, 'processed', slot)
  const height = head.height + BLOCKHASH_BLOCKS + SLACK_BLOCKS
  // A blockhash is at most 150 blocks old, so that it may end anywhere between now and then.
  const isPlausible = told === undefined || (told >= head.height && told <= height + AHEAD_BLOCKS)
  const reason = `the builder says height ${told}, our node is at ${head.height}`
  return { height, refusals: isPlausible ? [] : [{ code: 'EXPIRY_IMPLAUSIBLE', reason }] }
}
