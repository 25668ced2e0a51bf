import { formatSol } from '../../base/units.ts'
import { type Check, counted, fail, ok, seconds, warn } from './check.ts'

// What the RPCs and the wallet are found to be, and what is to be said about it.

/** A method that Sluice needs, called once. */
export interface MethodFinding {
  readonly method: string
  /** '' where it answered as it should. */
  readonly problem: string
}

export interface RpcFinding {
  /** `rpc 1`, ... */
  readonly name: string
  /** Where its address comes from; never the address. */
  readonly source: string
  /** '' where it answers. */
  readonly unreachable: string
  readonly genesis: string
  /** Its name where it has one: mainnet-beta, devnet, testnet. */
  readonly cluster: string
  readonly version: string
  /** Of one call. */
  readonly ms: number
  readonly methods: readonly MethodFinding[]
  /** A slot of the far future was refused; null where nobody could tell. */
  readonly minContextSlot: boolean | null
  readonly slot: number
  /** Slots that it had not come to, of those that another node of the same chain had told before it was asked. */
  readonly behind: number
  /** Age of its newest confirmed block by this machine's clock, ms; null where it did not say. */
  readonly ageMs: number | null
  /** How far back it has blocks, ms; null where it did not say. */
  readonly historyMs: number | null
  readonly requestsPerSecond: number
  readonly isPublic: boolean
  /** It answered 429 while it was asked. */
  readonly throttled: boolean
}

export interface ClusterWish {
  /** chain.cluster, a name or a genesis hash; '' where none is configured. */
  readonly configured: string
  readonly genesis: string
}

/** Of one provider. */
export function rpcVerdicts(rpc: RpcFinding, wish: ClusterWish, clockIsRight: boolean): Check[] {
  const { name, source, unreachable } = rpc
  if (unreachable !== '')
    return [fail(name, `${source}: ${unreachable}`, 'check the address and the key in it, then ask again')]
  return [reached(rpc, wish), methods(rpc), lag(rpc, clockIsRight), history(rpc), budget(rpc)]
}

function reached({ name, source, genesis, cluster, version, ms }: RpcFinding, wish: ClusterWish): Check {
  const said = `${source}: ${cluster || `chain ${genesis.slice(0, 8)}`}, version ${version || 'unknown'}, ${seconds(ms)} a call`
  if (genesis === '') return fail(name, `${said}; it does not say which chain it serves`, 'use another provider')
  if (genesis === wish.genesis) return ok(name, said)
  const wanted = wish.configured === '' ? 'what the first RPC serves' : wish.configured
  return fail(name, `${said}; that is not ${wanted}`, 'use one address of the same chain; chain.cluster says which')
}

function methods({ name, methods: all, minContextSlot }: RpcFinding): Check {
  const bad = all.filter(({ problem }) => problem !== '')
  if (bad.length > 0)
    return fail(
      `${name} methods`,
      bad.map(({ method, problem }) => `${method}: ${problem}`).join('; '),
      'use a provider that has them: without them nothing can be proved of an order',
    )
  if (minContextSlot === false)
    return fail(
      `${name} methods`,
      'it ignores minContextSlot: it answers for a slot that does not exist yet',
      'use another provider: one that is behind could prove a landed order dead',
    )
  if (minContextSlot === null) return warn(`${name} methods`, 'minContextSlot could not be tried', 'ask again')
  return ok(`${name} methods`, `all ${all.length} methods answer, minContextSlot is kept`)
}

const BEHIND_SLOTS = 30
const OLD_MS = 20_000

function lag({ name, slot, ageMs, behind }: RpcFinding, clockIsRight: boolean): Check {
  const age = ageMs === null ? '' : `, its newest block is ${seconds(Math.max(0, ageMs))} old`
  const said = `slot ${slot}${behind > 0 ? `, ${behind} behind the newest` : ''}${age}`
  const isOld = ageMs !== null && ageMs > OLD_MS && clockIsRight
  if (behind <= BEHIND_SLOTS && !isOld) return ok(`${name} lag`, said)
  const fix = 'use another provider: fills would be seen late, and nothing proved meanwhile'
  return behind > 5 * BEHIND_SLOTS || (ageMs ?? 0) > 5 * OLD_MS
    ? fail(`${name} lag`, said, fix)
    : warn(`${name} lag`, said, fix)
}

const LEAST_HISTORY_MS = 600_000
const GOOD_HISTORY_MS = 86_400_000

/** A chain that is not one of the known ones may be as young as its history is short. */
function history({ name, historyMs, cluster }: RpcFinding): Check {
  if (historyMs === null) return warn(`${name} history`, 'it does not say how far back it goes', 'ask again')
  const said = `goes back ${seconds(historyMs)}`
  if (cluster === '' || historyMs >= GOOD_HISTORY_MS) return ok(`${name} history`, said)
  const fix = 'use a provider with history: an order of before a longer stop could not be proved'
  return historyMs < LEAST_HISTORY_MS ? fail(`${name} history`, said, fix) : warn(`${name} history`, said, fix)
}

/** What following attempts and the audit take, with something open. */
const NEEDED_PER_SECOND = 4

function budget({ name, requestsPerSecond, isPublic, throttled }: RpcFinding): Check {
  const said = `${requestsPerSecond} requests a second`
  if (throttled)
    return warn(
      `${name} budget`,
      `${said}, and it answered 429`,
      'lower chain.rpc.requestsPerSecond to what the provider gives',
    )
  if (isPublic)
    return warn(
      `${name} budget`,
      'a public host: 4 requests in 10 s a method',
      'good for a look; trade with a provider of your own',
    )
  if (requestsPerSecond < NEEDED_PER_SECOND)
    return warn(
      `${name} budget`,
      `${said}: fills are seen late`,
      `chain.rpc.requestsPerSecond of ${NEEDED_PER_SECOND} or more`,
    )
  return ok(`${name} budget`, said)
}

export interface WalletFinding {
  readonly publicKey: string
  /** '' where it could be read. */
  readonly unread: string
  readonly lamports: number
  /** Token accounts with something in them. */
  readonly tokens: number
  /** What one buy of each live bot costs at worst, together. */
  readonly perOrderLamports: number
  /** What all that they may hold at once costs at worst; null where nothing bounds it. */
  readonly exposureLamports: number | null
  readonly live: number
}

export function walletVerdict(wallet: WalletFinding): Check {
  const { publicKey, unread, lamports, tokens, perOrderLamports, exposureLamports, live } = wallet
  if (unread !== '') return fail('wallet', `${publicKey}: ${unread}`, 'see the checks of the RPC')
  const said = `${publicKey}: ${formatSol(lamports)} SOL, ${counted(tokens, 'token')}`
  if (live === 0) return ok('wallet', `${said}; no live bot spends it`)
  if (lamports === 0) return fail('wallet', `${publicKey}: there is nothing in it`, 'send SOL to it')
  if (lamports < perOrderLamports)
    return fail(
      'wallet',
      `${said}; one buy takes up to ${formatSol(perOrderLamports)}`,
      'send SOL to it, or lower limits.maxSolPerOrder',
    )
  if (exposureLamports !== null && lamports < exposureLamports)
    return warn(
      'wallet',
      `${said}; all that may be held at once takes ${formatSol(exposureLamports)}`,
      'more SOL, or lower limits: later buys are refused (BALANCE_LOW)',
    )
  return ok('wallet', said)
}
