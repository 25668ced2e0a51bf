import { counted } from '../../base/text.ts'
import { DAY, formatSol } from '../../base/units.ts'
import { durationOf } from '../../runtime/time-text.ts'
import { type Check, fail, ok, warn } from './check.ts'

/** Result of one call of a method that Sluice needs. */
export interface MethodFinding {
  readonly method: string
  /** Problem of the answer; '' if the answer is valid. */
  readonly problem: string
}

export interface RpcFinding {
  /** Name in the list of checks: `rpc 1`, `rpc 2`, ... */
  readonly name: string
  /** Reference to the node's address, such as env:NAME; never the address itself. */
  readonly source: string
  /** Reason why the node does not answer; '' if it does. */
  readonly unreachable: string
  readonly genesis: string
  /** Name of the cluster: mainnet-beta, devnet or testnet; '' for any other chain. */
  readonly cluster: string
  readonly version: string
  /** Duration of one call, ms. */
  readonly ms: number
  readonly methods: readonly MethodFinding[]
  /** Whether the node refused a call with a `minContextSlot` in the far future, as it must; null if the test was not
   *  possible. */
  readonly minContextSlot: boolean | null
  readonly slot: number
  /** Number of Solana slots by which the node is behind the newest slot that another node of the same chain had already
   *  reported. */
  readonly behind: number
  /** Age of the node's newest confirmed block by this machine's clock, ms; null if unknown. */
  readonly ageMs: number | null
  /** Age of the oldest block that the node still has, ms; null if unknown. */
  readonly historyMs: number | null
  readonly requestsPerSecond: number
  readonly isPublic: boolean
  /** Whether the node answered 429 (too many requests) during the checks. */
  readonly throttled: boolean
}

export interface ExpectedCluster {
  /** Value of chain.cluster: a name or a genesis hash; '' if it is not configured. */
  readonly configured: string
  readonly genesis: string
}

/** Returns the checks of one RPC provider: connection, methods, lag, length of its history, and request rate. */
export function rpcVerdicts(rpc: RpcFinding, expected: ExpectedCluster, clockIsRight: boolean): Check[] {
  const { name, source, unreachable } = rpc
  if (unreachable !== '')
    return [fail(name, `${source}: ${unreachable}`, 'check the address and its key, then run doctor again')]
  return [reached(rpc, expected), methods(rpc), lag(rpc, clockIsRight), history(rpc), budget(rpc)]
}

function reached({ name, source, genesis, cluster, version, ms }: RpcFinding, expected: ExpectedCluster): Check {
  const found = `${source}: ${cluster || `chain ${genesis.slice(0, 8)}`}, version ${version || 'unknown'}, ${durationOf(ms)} a call`
  if (genesis === '') return fail(name, `${found}; the node does not report its genesis hash`, 'use another provider')
  if (genesis === expected.genesis) return ok(name, found)
  const wanted = expected.configured === '' ? 'the chain of the first RPC' : expected.configured
  return fail(
    name,
    `${found}; this is not ${wanted}`,
    'use RPC URLs of one cluster, and set chain.cluster to that cluster',
  )
}

function methods({ name, methods: all, minContextSlot }: RpcFinding): Check {
  const bad = all.filter(({ problem }) => problem !== '')
  if (bad.length > 0)
    return fail(
      `${name} methods`,
      bad.map(({ method, problem }) => `${method}: ${problem}`).join('; '),
      'use a provider with these methods: Sluice needs them to prove the outcome of an order',
    )
  if (minContextSlot === false)
    return fail(
      `${name} methods`,
      'the node ignores minContextSlot: it answers for a slot that does not exist yet',
      'use another provider: with a node that lags, a landed order could seem absent',
    )
  if (minContextSlot === null) return warn(`${name} methods`, 'minContextSlot could not be tested', 'run doctor again')
  return ok(`${name} methods`, `all ${all.length} methods answer, and the node respects minContextSlot`)
}

const BEHIND_SLOTS = 30
const OLD_MS = 20_000

function lag({ name, slot, ageMs, behind }: RpcFinding, clockIsRight: boolean): Check {
  const age = ageMs === null ? '' : `, newest block ${durationOf(Math.max(0, ageMs))} old`
  const found = `slot ${slot}${behind > 0 ? `, ${behind} behind the newest` : ''}${age}`
  const isOld = ageMs !== null && ageMs > OLD_MS && clockIsRight
  if (behind <= BEHIND_SLOTS && !isOld) return ok(`${name} lag`, found)
  const fix = 'use another provider: fills would be seen late, and orders would stay undecided longer'
  return behind > 5 * BEHIND_SLOTS || (ageMs ?? 0) > 5 * OLD_MS
    ? fail(`${name} lag`, found, fix)
    : warn(`${name} lag`, found, fix)
}

const LEAST_HISTORY_MS = 600_000
const GOOD_HISTORY_MS = DAY

/** Returns the check of the length of a provider's history. A short history of an unknown chain is not a failure,
 *  because the chain itself may be new. */
function history({ name, historyMs, cluster }: RpcFinding): Check {
  if (historyMs === null) return warn(`${name} history`, 'the length of the history is unknown', 'run doctor again')
  const found = `goes back ${durationOf(historyMs)}`
  if (cluster === '' || historyMs >= GOOD_HISTORY_MS) return ok(`${name} history`, found)
  const fix =
    'use a provider with more history: after a longer stop of Sluice, the outcome of older orders could not be proved'
  return historyMs < LEAST_HISTORY_MS ? fail(`${name} history`, found, fix) : warn(`${name} history`, found, fix)
}

/** Requests per second that Sluice needs while an order is open, to follow the order and to audit the wallet. */
const NEEDED_PER_SECOND = 4

function budget({ name, requestsPerSecond, isPublic, throttled }: RpcFinding): Check {
  const found = `${requestsPerSecond} requests per second`
  if (throttled)
    return warn(
      `${name} budget`,
      `${found}, and the node answered 429`,
      'lower chain.rpc.requestsPerSecond to the limit of the provider',
    )
  if (isPublic)
    return warn(
      `${name} budget`,
      'a public host, with a limit of 4 requests per method in 10 s',
      'good for a first test; trade with a provider of your own',
    )
  if (requestsPerSecond < NEEDED_PER_SECOND)
    return warn(
      `${name} budget`,
      `${found}, so fills are seen late`,
      `set chain.rpc.requestsPerSecond to ${NEEDED_PER_SECOND} or more`,
    )
  return ok(`${name} budget`, found)
}

export interface WalletFinding {
  /** Name of the wallet in the configuration; '' if it has none. */
  readonly name: string
  readonly publicKey: string
  /** Reason why the wallet could not be read; '' if it was read. */
  readonly unread: string
  readonly lamports: number
  /** Number of token accounts with a balance. */
  readonly tokens: number
  /** Largest worst-case cost of one buy among all live bots. */
  readonly perOrderLamports: number
  /** Worst-case cost of all positions that may be open at the same time; null if unlimited. */
  readonly exposureLamports: number | null
  readonly live: number
}

export function walletVerdict(wallet: WalletFinding): Check {
  const check = wallet.name === '' ? 'wallet' : `wallet ${wallet.name}`
  const { publicKey, unread, lamports, tokens, perOrderLamports, exposureLamports, live } = wallet
  if (unread !== '') return fail(check, `${publicKey}: ${unread}`, 'fix the problems of the RPC that doctor reports')
  const found = `${publicKey}: ${formatSol(lamports)} SOL, ${counted(tokens, 'token')}`
  if (live === 0) return ok(check, `${found}; no live bot uses it`)
  if (lamports === 0) return fail(check, `${publicKey} is empty`, 'send SOL to it')
  if (lamports < perOrderLamports)
    return fail(
      check,
      `${found}; one buy needs up to ${formatSol(perOrderLamports)} SOL`,
      'send SOL to it, or lower limits.maxSolPerOrder',
    )
  if (exposureLamports !== null && lamports < exposureLamports)
    return warn(
      check,
      `${found}; all positions together need up to ${formatSol(exposureLamports)} SOL`,
      'send more SOL or lower the limits; otherwise later buys are refused (BALANCE_LOW)',
    )
  return ok(check, found)
}
