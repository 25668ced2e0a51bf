import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Clock, Http } from '../base/machine.ts'
import { openRpcs, type RpcCall, type Rpcs } from '../chain/rpc/rpc.ts'
import { CLOCK_SYSVAR } from '../solana/programs.ts'
import { IoQueue, Pace, RpcPacer } from './pacing.ts'
import type { ServiceAccess } from './service-access.ts'

/** Maximum number of concurrent calls to the chain. */
const MOST_CALLS = 16

/** Returns RPC clients of the providers, each within its own rate limit. Calls for which an exit waits come before
 *  calls that only the accounting needs. */
export function budgetedRpcs(providers: ServiceAccess['rpc'], http: Http, clock: Clock): Rpcs {
  const io = new IoQueue(MOST_CALLS)
  const pacers = new Map(providers.map(({ url, ...rates }) => [url, new RpcPacer(rates)]))
  return openRpcs({
    http,
    clock,
    urls: providers.map(({ url }) => url),
    pace: (url, call, run) => {
      const pace = paceOf(call)
      return (pacers.get(url) as RpcPacer).run(url, call.method, () => io.run(pace, run), pace)
    },
  })
}

/** Genesis hashes of the clusters by name. */
const CLUSTERS: Readonly<Record<string, string>> = {
  'mainnet-beta': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY',
}

/** Name of the cluster with this genesis hash; '' for a chain without a name. */
export function clusterName(genesis: string): string {
  return Object.entries(CLUSTERS).find(([, hash]) => hash === genesis)?.[0] ?? ''
}

/** Genesis hash of a cluster name. A hash is returned unchanged. */
export function genesisNamed(cluster: string): string {
  return CLUSTERS[cluster] ?? cluster
}

/** Returns the genesis hash that all answering providers report, or `known` if none answers. Throws SluiceError if two
 *  providers report different hashes, if the hash is not that of the configured chain, or if no hash is known. */
export async function genesisOf(
  rpcs: Rpcs,
  cluster: string | undefined,
  known: string | undefined,
): Promise<{ genesis: string; answers: number }> {
  const answers = await Promise.all(rpcs.each.map((rpc) => rpc('getGenesisHash', [])))
  const found = answers.flatMap((answer) => (answer.ok && typeof answer.value === 'string' ? [answer.value] : []))
  const wanted = cluster === undefined ? undefined : genesisNamed(cluster)
  const genesis = wanted ?? found[0] ?? known
  if (genesis === undefined) {
    const [first] = answers
    throw new SluiceError(`no RPC answers: ${first === undefined || first.ok ? 'no genesis hash' : first.message}`)
  }
  const other = answers.findIndex((answer) => answer.ok && answer.value !== genesis)
  if (other >= 0)
    throw new SluiceError(
      `chain.rpc: RPC number ${other + 1} serves another chain than chain.cluster, or than the first RPC that answers`,
      ExitCode.unsafe,
    )
  rpcs.pin(genesis)
  return { genesis, answers: found.length }
}

/** RPC methods whose answers a buy, or a transaction under construction, waits for. */
const BEFORE_SENDING = new Set([
  ...['getMultipleAccounts', 'isBlockhashValid', 'simulateTransaction', 'sendTransaction'],
  ...['getMinimumBalanceForRentExemption', 'getAccountInfo'],
])

/** Priority of a call. Reads at `confirmed` come first, because they change positions and exits and show foreign
 *  transactions. Reads at `finalized` are needed only for the accounting. The read of the chain's clock before a read
 *  of pools has normal priority, because no order waits for these reads. */
function paceOf({ method, params }: RpcCall): Pace {
  if (method === 'getMultipleAccounts' && (params[0] as readonly unknown[])[0] === CLOCK_SYSVAR) return Pace.normal
  if (BEFORE_SENDING.has(method)) return Pace.first
  if (method === 'getSignatureStatuses') return Pace.status
  const isSearch = method === 'getTransaction' || method === 'getSignaturesForAddress'
  const isConfirmed = (params[1] as { commitment?: string } | undefined)?.commitment === 'confirmed'
  if (isSearch && isConfirmed) return Pace.fill
  return method === 'getTransaction' ? Pace.history : Pace.audit
}
