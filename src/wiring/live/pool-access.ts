import { curveProgramsOf } from '../../chain/pool-accounts.ts'
import { PoolReader } from '../../chain/pool-reader.ts'
import type { Config } from '../../config/config.ts'
import type { Input } from '../../core/messages.ts'
import type { PoolAnswer } from '../../core/pool-reading.ts'
import type { Http, Machine, Rpc } from '../../core/ports.ts'
import { budgetedRpcs, genesisNamed } from '../access/rpc-access.ts'
import type { ServiceAccess } from '../access/service-access.ts'
import type { LiveChain } from './live-chain.ts'

export interface PoolParts {
  readonly config: Config
  readonly service: Pick<ServiceAccess, 'rpc' | 'signs' | 'redact'>
  readonly machine: Pick<Machine, 'clock'>
  readonly post: (input: Input) => void
}

/** Reads the pools that the engine asks for, and tells it, where money is traded and on paper alike. */
export function openPools(parts: PoolParts, http: Http, chain: LiveChain | undefined): PoolReader {
  const { service, machine, post } = parts
  const shown = (answer: PoolAnswer): PoolAnswer =>
    'code' in answer ? { ...answer, reason: service.redact(answer.reason) } : answer
  return new PoolReader({
    rpc: chain?.rpcs.any ?? paperRpc(parts, http),
    clock: machine.clock,
    programs: curveProgramsOf(service.signs.policy?.programs ?? []),
    told: (mint, answer) => post({ kind: 'pool', mint, answer: shown(answer) }),
  })
}

/** Where nobody trades nothing else is asked. */
function paperRpc({ config, service, machine }: PoolParts, http: Http): Rpc {
  const rpcs = budgetedRpcs(service.rpc, http, machine.clock)
  const { cluster } = config.chain
  if (cluster !== undefined) rpcs.pin(genesisNamed(cluster))
  return rpcs.any
}
