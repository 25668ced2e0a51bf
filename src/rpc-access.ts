import { openRpc } from './chain/rpc.ts'
import { SluiceError } from './core/errors.ts'
import type { Clock, Http, Rpc } from './core/ports.ts'
import { IoPriority, IoQueue } from './runtime/io-queue.ts'
import { RpcPacer } from './runtime/pacing.ts'
import type { ServiceAccess } from './service-access.ts'

/** Calls to the chain that are under way at once. */
const MOST_CALLS = 16
/** Providers count sends apart. */
const SENDS_PER_SECOND = 1

/** The chain, each provider within its own budget; what an exit waits for goes before what only completes the books. */
export function budgetedRpc(providers: ServiceAccess['rpc'], http: Http, clock: Clock): Rpc {
  const io = new IoQueue(MOST_CALLS)
  const pacers = new Map(
    providers.map(({ url, requestsPerSecond }) => [
      url,
      new RpcPacer({ requestsPerSecond, sendsPerSecond: SENDS_PER_SECOND }),
    ]),
  )
  return openRpc({
    http,
    clock,
    urls: providers.map(({ url }) => url),
    pace: (url, method, call) => io.run(priorityOf(method), () => (pacers.get(url) as RpcPacer).run(url, method, call)),
  })
}

/** Which chain it is. Throws a SluiceError where it does not say. */
export async function genesisOf(rpc: Rpc): Promise<string> {
  const genesis = await rpc('getGenesisHash', [])
  if (genesis.ok && typeof genesis.value === 'string') return genesis.value
  throw new SluiceError(`the chain does not answer: ${genesis.ok ? 'no genesis hash' : genesis.message}`)
}

function priorityOf(method: string): IoPriority {
  if (method === 'sendTransaction') return IoPriority.send
  if (method === 'getSignatureStatuses') return IoPriority.status
  return method === 'getTransaction' ? IoPriority.fill : IoPriority.audit
}
