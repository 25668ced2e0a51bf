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
import { proofOf, type ServiceProof } from '../orders/learned.ts'
import type { Journal } from '../orders/ports.ts'
import type { Log } from '../runtime/log.ts'
import type { openHttp } from '../venues/http.ts'
import type { LiveStats } from './live-stats.ts'
import { budgetedRpcs, genesisNamed, genesisOf } from './rpc-access.ts'
import type { ServiceAccess } from './service-access.ts'

export interface ChainParts {
  readonly config: Config
  readonly service: Pick<ServiceAccess, 'host' | 'rpc' | 'wallet'>
  readonly machine: Machine
  readonly journal: Journal
  readonly tally: LiveStats
  readonly past: Recovered
  readonly log: Pick<Log, 'info' | 'error'>
  /** Somebody may trade. */
  readonly live: boolean
  readonly post: (input: Input) => void
}

const FIRST_ALONE =
  'audit: the wallet is read; the gate is open, entries may go, the first alone until it shows that no other process buys beside it'

/** The chain, and the one wallet that live bots trade with. */
export class LiveChain {
  /** Of that wallet. */
  readonly account: string
  readonly genesis: string
  /** What a probe has proved of its service. */
  readonly proof: ServiceProof | undefined
  readonly wallet: LiveWallet
  readonly rpcs: Pick<Rpcs, 'any' | 'each'>
  readonly #stops: (() => void)[] = []
  readonly mints: MintReader
  /** Told when the proof of lost orders cannot go on. */
  onUndecided: (text: string) => void = () => {}
  readonly #balance: WalletReader
  readonly #post: (input: Input) => void
  readonly #parts: Pick<ChainParts, 'journal' | 'log' | 'machine'>
  #gateway: Gateway | undefined

  constructor(parts: ChainParts, rpcs: Pick<Rpcs, 'any' | 'each'>, genesis: string) {
    const { config, service, machine, journal, tally, past, log, post } = parts
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
      told: (mint, facts) => post({ kind: 'mint', mint, facts }),
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
      booked: () => tally.booked,
      write: (record) => journal.write(record),
      late: (attempt, fill, code) => this.#findings.late(attempt, fill, code),
      paid: (attempt, signature, feeLamports) => this.#findings.paid(attempt, signature, feeLamports),
      standIn: (attempt) => this.#findings.standIn(attempt),
      on: {
        gate: (open, single) => {
          if (open) log.info({ ...this.wallet.baseline() }, single ? FIRST_ALONE : 'audit: entries may go')
          else log.error('audit: no RPC has told the state of the wallet for 3 minutes; entries wait, full exits go')
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

  get #findings(): Gateway['findings'] {
    assert(this.#gateway !== undefined, 'the chain speaks before anybody listens')
    return this.#gateway.findings
  }

  /** What is known of the orders that are out. */
  get outgoing(): Gateway['outgoing'] {
    assert(this.#gateway !== undefined, 'nobody has ordered anything yet')
    return this.#gateway.outgoing
  }

  /** A person should see it. */
  alarm(text: string): void {
    this.#parts.log.error(`chain: ${text}`)
  }

  /** What else ends with the chain. */
  onStop(stop: () => void): void {
    this.#stops.push(stop)
  }

  attach(gateway: Gateway): void {
    this.#gateway = gateway
  }

  /** Once what earlier processes left has been taken up. */
  start(): void {
    this.#balance.start()
    this.wallet.start()
  }

  /** The tokens that the wallet holds of a mint become this bot's. */
  adopt(bot: string, mint: string, holding: { tokens: bigint; decimals: number }): void {
    this.#post({ kind: 'adopt', account: this.account, bot, mint, ...holding })
  }

  /** What a probe proved of a sale's number is not so, or not any more. */
  disproved(text: string): void {
    const { journal, log, machine } = this.#parts
    log.error(`chain: ${text}; parts are sold by percent from now on`)
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

/** Reaches the chain; undefined where nobody is to trade. Without an answer it goes on where the journal knows the
 *  chain. Throws a SluiceError where it is not known which chain it is, or it is another one than configured. */
export async function reachChain(
  parts: ChainParts,
  http: ReturnType<typeof openHttp>['http'],
): Promise<LiveChain | undefined> {
  const { config, service, machine, live, past, log } = parts
  if (!live || service.rpc.length === 0) return undefined
  const rpcs = budgetedRpcs(service.rpc, http, machine.clock)
  const mine = past.wallets.filter(({ cursor: { account, genesis } }) => {
    return account === accountOf('live', service.host, genesis, service.wallet).id
  })
  const known = mine.length === 1 ? mine[0]?.cursor.genesis : undefined
  const { genesis, answers } = await genesisOf(rpcs, config.chain.cluster, known)
  if (answers === 0) log.error('no RPC answers: entries wait, full exits go')
  return new LiveChain(parts, rpcs, genesis)
}

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
