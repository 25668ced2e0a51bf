import type { Server } from 'node:http'
import type { Clock } from '../base/machine.ts'
import { deriveSeed } from '../base/random.ts'
import type { ServedInterface } from '../orders/served-interface.ts'
import { writeBotFiles } from './bot-files.ts'
import type { Ledger } from './chain/ledger.ts'
import { type ChainKind, openChain, SERVICE_TABLE } from './chain/open-chain.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import { Faults } from './faults.ts'
import type { Emit, Market } from './market/market.ts'
import { restorePools, runMarket } from './market/market.ts'
import { RecordedMarket } from './market/recorded-market.ts'
import { SeededMarket } from './market/seeded-market.ts'
import { fileRecords, forgetfulRecords, type Records } from './records.ts'
import { rpcEndpoint } from './rpc/rpc.ts'
import { Answers } from './service/answers.ts'
import { Api, controlEndpoint } from './service/api.ts'
import { Builder } from './service/builder.ts'
import { type ApiKeys, Customers } from './service/customers.ts'
import { Frames } from './service/frames.ts'
import { portOf, serve } from './service/http.ts'
import { Stream } from './service/stream.ts'
import { TradingDesk } from './service/trading-desk.ts'
import { BotApi } from './telegram/bot-api.ts'

/** API token of the sandbox's Telegram bot. It is not secret, because this bot exists only in the sandbox. */
const BOT_TOKEN = '1:sandbox-bot-sandbox-bot-sandbox-bot'

export interface SandboxOptions {
  /** Port on 127.0.0.1; 0 (default) selects a free one. */
  port?: number
  /** Random seed; default 1. */
  seed?: number
  /** Dialect (variant of the service's protocol): a number is the seed of a dialect, and an object replaces some
   *  behaviours of dialect 0. Default 0. */
  dialect?: number | Partial<Dialect>
  /** Speed of the market as a multiple of real time; default 1. The duration of a Solana slot does not depend on it. */
  speed?: number
  /** Path of a recording (NDJSON of service messages) that replaces the generated market. With `repeat`, the recording
   *  starts again when it has ended. */
  marketFile?: string
  repeat?: boolean
  /** Creates the market that replaces the generated one. */
  market?: (emit: Emit) => Market
  /** Path of the SQLite file that keeps the chain, its wallet and its keys over restarts. */
  stateFile?: string
  /** Names of wallets that the service holds besides its first wallet. */
  wallets?: readonly string[]
  /** Initial balance of each new wallet, SOL; default 10. */
  fundSol?: number
  /** Duration of a Solana slot, ms; default 400. */
  slotMs?: number
  /** Kind of the chain. Default: Solana's runtime if it is installed, else the small ledger. */
  chain?: ChainKind
  clock?: Clock
  /** For tests: text from which the genesis hash, the wallet and the keys of a new chain are computed. */
  entropy?: string
}

export interface Sandbox {
  /** Address of the REST interface, including the prefix /api. */
  baseUrl: string
  wsUrl: string
  rpcUrl: string
  /** Telegram's Bot API, and its only bot. */
  telegram: { api: string; token: string; bot: BotApi }
  /** One key for each plan, each belonging to a different customer. A fault may revoke and replace a key. */
  apiKeys: ApiKeys
  /** Public key of the wallet that the service holds. */
  wallet: string
  /** The wallets that have a name, by this name, with the paths of their keypairs. */
  wallets: Readonly<Record<string, { publicKey: string; keypair: string }>>
  /** Path of the wallet's keypair, for local signing. `policy`: path of the policy for the transactions of the
   *  builder. */
  keypair: string
  policy: string
  genesisHash: string
  dialect: Dialect
  faults: Faults
  /** Kind of the chain. `small` has no Solana runtime, so the sandbox neither accepts nor builds transactions. */
  chain: ChainKind
  ledger: Ledger
  market: Market
  close(): Promise<void>
}

/**
 * The trading service on loopback, all on one port:
 *
 *    POST /api/trade/*   api -> desk -> ledger --(lands)--> trade-program -> curve, print
 *    POST /rpc           rpc ------------^                                     |
 *    WS   /api/data      stream <- frames <------------------------------- market
 * POST /sandbox/* control -> faults, which every part checks before it acts
 *    POST /telegram/*    Telegram's Bot API, for one bot
 */
export async function startSandbox(served: ServedInterface, options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = systemClock, seed = 1, speed = 1 } = options
  const dialect =
    typeof options.dialect === 'object' ? { ...dialectOf(0), ...options.dialect } : dialectOf(options.dialect ?? 0)
  const records = options.stateFile === undefined ? forgetfulRecords() : fileRecords(options.stateFile)
  const faults = new Faults(seed)
  let stream: Stream | undefined
  const market = openMarket(options, records, (event) => stream?.publish(event))
  const { wallet, named, coSigner, ambush, ledger, tokenPrograms } = await openChain({
    ...options,
    ...{ clock, seed, dialect, records, market },
  })
  const customers = new Customers(ledger.genesisHash, dialect, records, served.plans)
  const answers = new Answers(dialect)
  const files = writeBotFiles({ stateFile: options.stateFile, wallet, named, coSigner, dialect, table: SERVICE_TABLE })
  const shared = { ledger, market, records, faults, dialect, tokenPrograms }
  const desk = new TradingDesk({ ...shared, wallets: [wallet, ...named.values()].map(({ address }) => address) })
  const builder = new Builder({ ...shared, answers, coSigner, ambush, table: SERVICE_TABLE })
  const api = new Api({ answers, builder, clock, customers, desk, faults, ledger, market, endpoints: served.endpoints })
  const telegram = new BotApi({ token: BOT_TOKEN, clock })
  const server = await serve(options.port ?? 0, [
    ['/api', api.handle],
    ['/rpc', rpcEndpoint(ledger, faults)],
    ['/sandbox', controlEndpoint(faults)],
    ['/telegram', telegram.handle],
  ]).catch((error: unknown) => {
    ledger.close()
    files.close()
    throw error
  })
  stream = new Stream({
    server,
    path: served.streamPath,
    clock,
    customers,
    dialect,
    faults,
    frames: new Frames(dialect, seed),
  })
  forkOnDemand(ledger, faults)
  const stopMarket = runMarket(market, clock, speed)
  const host = `127.0.0.1:${portOf(server)}`
  return {
    baseUrl: `http://${host}/api`,
    wsUrl: `ws://${host}${served.streamPath}`,
    rpcUrl: `http://${host}/rpc`,
    telegram: { api: `http://${host}/telegram`, token: BOT_TOKEN, bot: telegram },
    apiKeys: customers.apiKeys,
    wallet: wallet.address,
    wallets: files.wallets,
    keypair: files.keypair,
    policy: files.policy,
    genesisHash: ledger.genesisHash,
    dialect,
    faults,
    chain: ledger.runsBytes ? 'runtime' : 'small',
    ledger,
    market,
    async close() {
      stopMarket()
      stream.close()
      await stop(server)
      ledger.close()
      files.close()
    },
  }
}

/** Opens the market. After a restart it has new tokens, and the tokens that our wallets have traded. */
function openMarket(options: SandboxOptions, records: Records, emit: Emit): Market {
  const starts = records.read<number>('chain').get('starts') ?? 0
  records.write([{ kind: 'chain', key: 'starts', body: starts + 1 }])
  const { seed = 1, marketFile, repeat = false, market: own } = options
  const made = (): Market => new SeededMarket({ seed: deriveSeed(seed, `market ${starts}`), emit })
  const recorded = marketFile === undefined ? undefined : new RecordedMarket({ path: marketFile, emit, repeat })
  const market = own?.(emit) ?? recorded ?? made()
  restorePools(records, market)
  return market
}

/** Applies the fault `fork` to a transaction at the moment of its confirmation, the worst moment for a client that
 *  trusts the confirmation. */
function forkOnDemand(ledger: Ledger, faults: Faults): void {
  let waiting: { signature: string; slot: number }[] = []
  ledger.onBlock((_slot, landed) => {
    waiting.push(...landed)
    const confirmed = waiting.filter(({ slot }) => slot <= ledger.head('confirmed').slot)
    waiting = waiting.filter((transaction) => !confirmed.includes(transaction))
    for (const { signature } of confirmed) {
      const fault = faults.strike('fork')
      if (fault) ledger.fork(signature, fault.slots)
    }
  })
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Clock of the system. Tests pass a simulated clock. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
