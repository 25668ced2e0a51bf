/** Scope of a JSON-RPC error. `call`: the request is at fault, and every node would answer the same. `elsewhere`: this
 *  node lacks the data, and another may have it. `ill`: the node itself is at fault and is not used for a while. */
export type RpcErrorKind = 'call' | 'elsewhere' | 'ill'

/** Code for calls that no node answered or that reached no node. RPC_UNREACHABLE and RPC_OTHER_CLUSTER are codes of
 *  Sluice, outside the range of JSON-RPC. */
export const RPC_UNREACHABLE = 1
/** Code for a provider that serves another cluster and therefore is not used. */
export const RPC_OTHER_CLUSTER = 2
/** Code with which a node reports that it has not reached `minContextSlot`. */
export const RPC_BEHIND = -32_016
/** Code with which a node reports that the version of a transaction is above the version that the caller allows. */
export const RPC_UNSUPPORTED_VERSION = -32_015

/** Kinds of error codes: those that Solana documents (rpc-client-api, custom_error.rs), those of JSON-RPC, and our
 *  own. */
const KINDS: ReadonlyMap<number, RpcErrorKind> = new Map([
  [RPC_UNREACHABLE, 'elsewhere'],
  [RPC_OTHER_CLUSTER, 'elsewhere'],
  [-32_700, 'call'], // parse error
  [-32_600, 'call'], // invalid request
  [-32_601, 'elsewhere'], // method not found: this provider does not offer it
  [-32_602, 'call'], // invalid params
  [-32_603, 'elsewhere'], // internal error
  [-32_001, 'elsewhere'], // block cleaned up
  [-32_002, 'call'], // send transaction preflight failure
  [-32_003, 'call'], // transaction signature verification failure
  [-32_004, 'elsewhere'], // block not available for slot
  [-32_005, 'ill'], // node unhealthy
  [-32_006, 'call'], // transaction precompile verification failure
  [-32_007, 'elsewhere'], // slot skipped, or missing due to a jump to a recent snapshot
  [-32_008, 'elsewhere'], // no snapshot
  [-32_009, 'elsewhere'], // slot skipped, or missing in long-term storage
  [-32_010, 'elsewhere'], // key excluded from a secondary index
  [-32_011, 'elsewhere'], // transaction history not available
  [-32_012, 'call'], // scan error
  [-32_013, 'call'], // transaction signature length mismatch
  [-32_014, 'elsewhere'], // block status not available yet
  [RPC_UNSUPPORTED_VERSION, 'call'],
  [RPC_BEHIND, 'elsewhere'],
  [-32_017, 'call'], // epoch rewards period active
  [-32_018, 'call'], // slot not at an epoch boundary
  [-32_019, 'elsewhere'], // long-term storage unreachable
  [-32_020, 'elsewhere'], // the transaction to page from was not found
  [-32_021, 'elsewhere'], // no slot history
])

/** Returns the kind of an error code. An unknown code counts as `call`; otherwise the call would be repeated at every
 *  provider. */
export function kindOfRpcError(code: number): RpcErrorKind {
  return KINDS.get(code) ?? 'call'
}
