import { assert } from '../base/errors.ts'
import type { Http, Machine } from '../base/machine.ts'
import { MintReader } from '../chain/rpc/mint-reader.ts'
import { curveProgramsOf, PoolReader } from '../chain/rpc/pool-reader.ts'
import type { Rpc, Rpcs } from '../chain/rpc/rpc.ts'
import type { Config } from '../config/config.ts'
import { accountOf } from '../engine/account.ts'
import type { Input } from '../engine/messages.ts'
import type { PoolAnswer } from '../market/pool-price.ts'
import type { Gateway } from '../orders/gateway.ts'
import { proofOf, type ServiceProof } from '../orders/service-facts.ts'
import type { openHttp } from '../venues/http.ts'
import { type ChainParts, LiveAccount } from './live-account.ts'
import { budgetedRpcs, genesisNamed, genesisOf } from './rpc-access.ts'
import type { ServiceAccess } from './service-access.ts'

/** The chain, and the wallets with which live bots trade. */
export class LiveChain {
  readonly genesis: string
  /** Units of this service that a probe has proved; undefined if no probe has run. */
  readonly proof: ServiceProof | undefined
  /** The wallets, by account. */
  readonly wallets: ReadonlyMap<string, LiveAccount>
  readonly rpcs: Pick<Rpcs, 'any' | 'each' | 'use'>
  readonly #stops: (() => void)[] = []
  readonly mints: MintReader
  /** Called when Sluice cannot continue the proof of whether an order without an answer executed. */
  onUndecided: (text: string) => void = () => {}
  readonly #parts: Pick<ChainParts, 'journal' | 'log' | 'machine' | 'past'>
  #gateway: Gateway | undefined

  constructor(parts: ChainParts, rpcs: Pick<Rpcs, 'any' | 'each' | 'use'>, genesis: string) {
    const { machine, post } = parts
    this.genesis = genesis
    this.rpcs = rpcs
    this.#parts = parts
    this.mints = new MintReader({
      ...{ rpc: rpcs.any, clock: machine.clock },
      onFacts: (mint, facts) => post({ kind: 'mint', mint, facts }),
    })
    const accounts = parts.wallets.map(
      (wallet) =>
        new LiveAccount(parts, wallet, {
          ...{ rpcs, genesis },
          orders: () => this.#orders,
          undecided: (text) => this.onUndecided(text),
        }),
    )
    this.wallets = new Map(accounts.map((wallet) => [wallet.account, wallet]))
    this.proof = proofOf(parts.past.learned, [...this.wallets.keys()])
  }

  get #orders(): Gateway {
    assert(this.#gateway !== undefined, 'the chain reported before the gateway was ready')
    return this.#gateway
  }

  /** Answers questions of executors about the gateway's orders in progress. */
  get outgoing(): Gateway['outgoing'] {
    assert(this.#gateway !== undefined, 'the gateway is not ready yet')
    return this.#gateway.outgoing
  }

  /** Logs the text and sends an alert. */
  alarm(text: string): void {
    this.#parts.log.error(`chain: ${text}`)
  }

  /** Registers a function that `stop` calls. */
  onStop(stop: () => void): void {
    this.#stops.push(stop)
  }

  attach(gateway: Gateway): void {
    this.#gateway = gateway
  }

  /** Starts the audit of the wallets. Call it once the open orders of earlier processes are resumed. */
  start(): void {
    for (const wallet of this.wallets.values()) wallet.start()
  }

  /** Withdraws a probe's proof of the unit in which the service reads the number of tokens in a sale, because a sale
   *  has contradicted the proof. */
  disproved(text: string): void {
    const { journal, log, machine, past } = this.#parts
    log.error(`chain: ${text}; from now on, partial sales are sent as a percentage of the position`)
    for (const account of this.wallets.keys()) {
      const proof = proofOf(past.learned, [account])
      if (proof === undefined) continue
      const value = { ...proof, sellNumber: null }
      journal.write({ kind: 'learned', learned: { about: account, name: 'proof', time: machine.clock.now(), value } })
    }
  }

  stop(): void {
    for (const stop of this.#stops) stop()
    for (const wallet of this.wallets.values()) wallet.stop()
    this.mints.stop()
  }
}

/** Connects to the chain. Returns undefined if no bot may trade real money. If no RPC answers, uses the chain's
 *  identity from the journal. Throws SluiceError if the chain is unknown or differs from the configured one. */
export async function reachChain(
  parts: ChainParts,
  http: ReturnType<typeof openHttp>['http'],
): Promise<LiveChain | undefined> {
  const { config, service, wallets, machine, live, past, log } = parts
  if (!live || service.rpc.length === 0) return undefined
  const rpcs = budgetedRpcs(service.rpc, http, machine.clock)
  const known = new Set(
    past.wallets.flatMap(({ cursor: { account, genesis } }) => {
      const isOwn = wallets.some(({ publicKey }) => account === accountOf('live', service.host, genesis, publicKey).id)
      return isOwn ? [genesis] : []
    }),
  )
  const only = known.size === 1 ? [...known][0] : undefined
  const { genesis, answers } = await genesisOf(rpcs, config.chain.cluster, only)
  if (answers === 0) log.error('no RPC answers: entries wait, full exits continue')
  return new LiveChain(parts, rpcs, genesis)
}

export interface PoolParts {
  readonly config: Config
  readonly service: Pick<ServiceAccess, 'rpc' | 'policy' | 'redact'>
  readonly machine: Pick<Machine, 'clock'>
  readonly post: (input: Input) => void
}

/** Creates the reader of the pools that the engine asks for, live and on paper. It posts each answer as an input. */
export function openPools(parts: PoolParts, http: Http, chain: LiveChain | undefined): PoolReader {
  const { service, machine, post } = parts
  const shown = (answer: PoolAnswer): PoolAnswer =>
    'code' in answer ? { ...answer, reason: service.redact(answer.reason) } : answer
  return new PoolReader({
    rpc: chain?.rpcs.any ?? paperRpc(parts, http),
    clock: machine.clock,
    programs: curveProgramsOf(service.policy?.programs ?? []),
    onAnswer: (mint, answer) => post({ kind: 'pool', mint, answer: shown(answer) }),
  })
}

/** RPC client of a run without live bots, which reads only pools. */
function paperRpc({ config, service, machine }: PoolParts, http: Http): Rpc {
  const rpcs = budgetedRpcs(service.rpc, http, machine.clock)
  const { cluster } = config.chain
  if (cluster !== undefined) rpcs.pin(genesisNamed(cluster))
  return rpcs.any
}
