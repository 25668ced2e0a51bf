import { assert } from '../base/errors.ts'
import type { Http, Machine } from '../base/machine.ts'
import { lamports } from '../base/units.ts'
import { MintReader } from '../chain/rpc/mint-reader.ts'
import { curveProgramsOf, PoolReader } from '../chain/rpc/pool-reader.ts'
import type { Rpc, Rpcs } from '../chain/rpc/rpc.ts'
import { LiveWallet } from '../chain/wallet/live-wallet.ts'
import { WalletReader } from '../chain/wallet/wallet-reader.ts'
import type { Config } from '../config/config.ts'
import { accountOf } from '../engine/account.ts'
import type { Input } from '../engine/messages.ts'
import type { Recovered } from '../journal/reader/recovery.ts'
import type { PoolAnswer } from '../market/pool-price.ts'
import type { Gateway } from '../orders/gateway.ts'
import type { Journal } from '../orders/ports.ts'
import { proofOf, type ServiceProof } from '../orders/service-facts.ts'
import type { Log } from '../runtime/log.ts'
import type { ViewModel } from '../runtime/view/view-model.ts'
import type { openHttp } from '../venues/http.ts'
import { budgetedRpcs, genesisNamed, genesisOf } from './rpc-access.ts'
import type { ServiceAccess } from './service-access.ts'

export interface ChainParts {
  readonly config: Config
  readonly service: Pick<ServiceAccess, 'host' | 'rpc' | 'wallet'>
  readonly machine: Machine
  readonly journal: Journal
  readonly model: ViewModel
  readonly past: Recovered
  readonly log: Pick<Log, 'info' | 'error'>
  /** Whether at least one bot may trade real money. */
  readonly live: boolean
  readonly post: (input: Input) => void
}

const FIRST_ALONE =
  'audit: the wallet is read; entries may begin, the first one alone until the chain shows that no other process buys with this wallet'

/** The chain, and the one wallet with which live bots trade. */
export class LiveChain {
  /** Id of the account of the wallet with which live bots trade. */
  readonly account: string
  readonly genesis: string
  /** Units of this service that a probe has proved; undefined if no probe has run. */
  readonly proof: ServiceProof | undefined
  readonly wallet: LiveWallet
  readonly rpcs: Pick<Rpcs, 'any' | 'each' | 'use'>
  readonly #stops: (() => void)[] = []
  readonly mints: MintReader
  /** Called when the proof whether a lost order executed cannot continue. */
  onUndecided: (text: string) => void = () => {}
  readonly #balance: WalletReader
  readonly #post: (input: Input) => void
  readonly #parts: Pick<ChainParts, 'journal' | 'log' | 'machine'>
  #gateway: Gateway | undefined

  constructor(parts: ChainParts, rpcs: Pick<Rpcs, 'any' | 'each' | 'use'>, genesis: string) {
    const { config, service, machine, journal, model, past, log, post } = parts
    const { wallet } = service
    const { id } = accountOf('live', service.host, genesis, wallet)
    const known = past.wallets.find(({ cursor }) => cursor.account === id && cursor.genesis === genesis)
    this.account = id
    this.proof = proofOf(past.learned, id)
    this.genesis = genesis
    this.rpcs = rpcs
    this.#post = post
    this.#parts = parts
    this.#balance = new WalletReader({
      ...{ rpc: rpcs.any, clock: machine.clock, wallet },
      read: (balance, slot) => post({ kind: 'wallet', account: id, lamports: lamports(balance), slot }),
    })
    this.mints = new MintReader({
      ...{ rpc: rpcs.any, clock: machine.clock },
      onFacts: (mint, facts) => post({ kind: 'mint', mint, facts }),
    })
    this.wallet = new LiveWallet({
      ...machine,
      ...{ rpcs, account: id, genesis, wallet, lateMs: config.service.lateMs },
      secondOpinionLamports: config.chain.secondOpinionLamports,
      past: {
        cursor: known?.cursor,
        transactions: known?.transactions ?? [],
        watches: past.watches.filter(({ attempt }) => attempt.account === id),
      },
      booked: () => model.booked,
      write: (record) => journal.write(record),
      late: (attempt, fill, code) => this.#orders.lateFill(attempt, fill, code),
      paid: (attempt, signature, feeLamports) => this.#orders.feePaid(attempt, signature, feeLamports),
      standIn: (attempt) => this.#orders.standIn(attempt),
      on: {
        gate: (open, single) => {
          if (open) log.info({ ...this.wallet.baseline() }, single ? FIRST_ALONE : 'audit: entries may continue')
          else
            log.error('audit: wallet state unknown: no RPC answered for 3 minutes; entries wait, full exits continue')
          post({ kind: 'gate', account: id, open, ...(single && { single }) })
        },
        foreign: (found) => post({ kind: 'foreign', account: id, ...found }),
        deficit: (mint, tokens) => post({ kind: 'deficit', account: id, mint, tokens }),
        landed: () => this.#balance.refresh(),
        notice: (text) => log.info(`chain: ${text}`),
        alarm: (text) => this.alarm(text),
        undecided: (text) => {
          this.alarm(text)
          this.onUndecided(text)
        },
      },
    })
  }

  get #orders(): Gateway {
    assert(this.#gateway !== undefined, 'the chain reported before the gateway was ready')
    return this.#gateway
  }

  /** Orders of the gateway whose outcome is still open. */
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

  /** Starts the audit of the wallet. Call it once the open orders of earlier processes are resumed. */
  start(): void {
    this.#balance.start()
    this.wallet.start()
  }

  /** Assigns the wallet's tokens of a mint to this bot. */
  adopt(bot: string, mint: string, holding: { tokens: bigint; decimals: number }): void {
    this.#post({ kind: 'adopt', account: this.account, bot, mint, ...holding })
  }

  /** Withdraws a probe's proof of the unit of a sale's number, because a sale has contradicted it. */
  disproved(text: string): void {
    const { journal, log, machine } = this.#parts
    log.error(`chain: ${text}; from now on a part of a position is sold as a percentage`)
    if (this.proof === undefined) return
    const value = { ...this.proof, sellNumber: null }
    journal.write({
      kind: 'learned',
      learned: { about: this.account, name: 'proof', time: machine.clock.now(), value },
    })
  }

  stop(): void {
    for (const stop of this.#stops) stop()
    this.#balance.stop()
    this.mints.stop()
    this.wallet.stop()
  }
}

/** Connects to the chain. Returns undefined if no bot may trade real money. If no RPC answers, uses the chain in the
 *  journal. Throws SluiceError if the chain is unknown or differs from the configured one. */
export async function reachChain(
  parts: ChainParts,
  http: ReturnType<typeof openHttp>['http'],
): Promise<LiveChain | undefined> {
  const { config, service, machine, live, past, log } = parts
  if (!live || service.rpc.length === 0) return undefined
  const rpcs = budgetedRpcs(service.rpc, http, machine.clock)
  const ownWallets = past.wallets.filter(({ cursor: { account, genesis } }) => {
    return account === accountOf('live', service.host, genesis, service.wallet).id
  })
  const known = ownWallets.length === 1 ? ownWallets[0]?.cursor.genesis : undefined
  const { genesis, answers } = await genesisOf(rpcs, config.chain.cluster, known)
  if (answers === 0) log.error('no RPC answers: entries wait, full exits continue')
  return new LiveChain(parts, rpcs, genesis)
}

export interface PoolParts {
  readonly config: Config
  readonly service: Pick<ServiceAccess, 'rpc' | 'signs' | 'redact'>
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
    programs: curveProgramsOf(service.signs.policy?.programs ?? []),
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
