import type { Json } from '../base/json.ts'
import type { Lamports, Millis } from '../base/units.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import type { EntryFilters } from '../engine/limits/entry-filters.ts'
import type { Limits, WalletLimits } from '../engine/limits/limit-rules.ts'
import type { TokenChecks } from '../engine/limits/token-checks.ts'
import type { ExitOrderSettings, OrderSettings, Plan, QuoteFees } from '../engine/settings.ts'
import type { UnitSettings } from '../market/unit-proof.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import type { Loudness, TelegramKind } from './alert-kinds.ts'
import type { EffectiveExits } from './effective-exits.ts'
import type { Secret } from './secret.ts'
import type { SourceConfig } from './source-config.ts'
import type { LoadedStrategy } from './strategies.ts'
import type { ConfigError, Position } from './yaml/errors.ts'

/** Checked contents of one or several configuration files, with every default filled in. */
export interface Config {
  readonly files: readonly string[]
  readonly service: ServiceConfig
  readonly chain: ChainConfig
  /** The wallets of the bots. Without the section `wallets`, there is one wallet, and its name is ''. */
  readonly wallets: readonly WalletConfig[]
  readonly journal: JournalConfig
  readonly alerts?: AlertsConfig
  readonly telegram?: TelegramConfig
  readonly heartbeat?: HeartbeatConfig
  readonly metrics?: MetricsConfig
  readonly desk: DeskConfig
  readonly bots: readonly BotConfig[]
  /** Entries of each filter list, by the path of its file as written in the configuration. While bots run, Sluice reads
   *  a file again if it has changed. */
  readonly lists: Map<string, readonly string[]>
  /** Warnings about settings that are valid but probably a mistake. */
  readonly warnings: readonly ConfigError[]
  /** Hash of every setting that affects decisions. Secrets and paths do not affect it. */
  readonly hash: string
}

export type ServiceConfig = SandboxService | RemoteService

interface ServiceSettings {
  /** Plan of the service. `auto`: unknown until the service has accepted the key and reported the plan. */
  readonly plan: 'auto' | 'standard' | 'premium' | Plan
  /** Share of the plan that this process may use; above 0, at most 1. */
  readonly share: number
  readonly units: UnitSettings & {
    readonly priceUpdate: 'auto' | 'sol' | 'usd'
    readonly sell: 'auto' | 'tokens' | 'baseUnits'
  }
  /** Longest time in ms for which the service may still execute a request after the connection of the request has
   *  ended. */
  readonly lateMs: number
}

/** A sandbox that the command starts, with its own addresses, key, RPC and wallet. */
export interface SandboxService extends ServiceSettings {
  readonly kind: 'sandbox'
}

export interface RemoteService extends ServiceSettings {
  readonly kind: 'remote'
  /** Address of the service's API, without a slash at the end. */
  readonly baseUrl: string
  readonly wsUrl: string
  /** Host and port of `baseUrl`, as they appear in the id of an account. */
  readonly host: string
  /** Key of the service. Without a key, only backtests are possible. */
  readonly apiKey?: Secret
  /** Permitted contents of the transactions that the service builds; absent if the service builds none. */
  readonly builderPolicy?: BuilderPolicy
}

export interface RpcConfig {
  /** Reference to the address; `read()` returns a valid address. */
  readonly url: Secret
  readonly requestsPerSecond: number
  /** Limit of `sendTransaction` calls; providers limit these separately. */
  readonly sendsPerSecond: number
}

export interface ChainConfig {
  /** RPC providers in order of preference; empty only if no live bot needs an RPC. */
  readonly rpc: readonly RpcConfig[]
  /** Name or genesis hash of the cluster to which the RPC must belong. */
  readonly cluster?: string
  /** Size of a buy, in lamports, from which on a second RPC (if configured) must confirm that the buy did not
   *  execute. */
  readonly secondOpinionLamports: Lamports
}

export interface WalletConfig {
  readonly name: string
  readonly publicKey?: string
  /** For the local executor: absolute path of a key file in the format of `solana-keygen`. Only the signer reads the
   *  file. */
  readonly keypairPath?: string
  /** For the local executor, instead of `keypairPath`: absolute path of the socket of `sluice signer`. */
  readonly signerPath?: string
  readonly caps: SignerCaps
  /** Limits that apply to the sum of all bots of the wallet. Paper bots share only a wallet that has a name. Without
   *  one, each paper bot has an account of its own, and these limits apply to each of them. */
  readonly limits: WalletLimits
}

/** Caps on the SOL that leaves the wallet in signed transactions. Each transaction counts with its maximum cost, as the
 *  engine declared it to the signer. null: no cap. */
export interface SignerCaps {
  readonly perTransaction: Lamports | null
  readonly perHour: Lamports | null
  readonly perDay: Lamports | null
}

export interface JournalConfig {
  /** Absolute path of the journal. */
  readonly path: string
  /** Age in days at which recorded market rows are deleted. Not used with `archive`. */
  readonly keepTapeDays: number
  /** Whether the past UTC days of the tape are moved to separate files, and kept there. This happens once a day. */
  readonly archive: boolean
}

/** Webhook for alerts. */
export interface AlertsConfig {
  /** Reference to the address; `read()` returns a valid address. */
  readonly url: Secret
  readonly shape: 'generic' | 'slack' | 'discord'
}

/** A Telegram bot that answers questions and sends events. */
export interface TelegramConfig {
  readonly token: Secret
  /** Ids of the users who may ask questions, and who receive the events; the operators are among them. */
  readonly viewers: readonly number[]
  /** Ids of the users who may also give commands. */
  readonly operators: readonly number[]
  readonly events: Readonly<Record<TelegramKind, Loudness>>
  /** Address of the Bot API, without a slash at the end. */
  readonly api: string
}

/** Receiver of the heartbeats, which show that the process runs. */
export interface HeartbeatConfig {
  /** Reference to the address; `read()` returns a valid address. */
  readonly url: Secret
  readonly everyMs: Millis
}

/** Metrics at `/metrics` of the desk. */
export interface MetricsConfig {
  /** Token that a scraper must send. */
  readonly token: Secret
}

/** Settings of the desk: the address at which it is served, and who may reach it. */
export interface DeskConfig {
  readonly port: number
  /** Whether a file sets the port. If none does and `port` is in use, the first free port after it is used. */
  readonly isPortFixed: boolean
  readonly bind: string
  readonly readOnly: boolean
  /** Origin at which browsers reach the desk, in addition to loopback. */
  readonly origin?: string
  /** Absolute paths. */
  readonly tls?: { readonly certificate: string; readonly key: string }
  /** Addresses of the proxies that end TLS. */
  readonly proxy?: readonly string[]
}

export interface BotConfig extends EffectiveExits {
  readonly name: string
  readonly strategy: LoadedStrategy
  /** Params that the strategy's schema has accepted, with defaults filled in. */
  readonly params: Json
  /** The mode in the file; `botSettings` decides the mode of a run. */
  readonly mode: 'paper' | 'live'
  /** Name of the bot's wallet; absent without the section `wallets`. */
  readonly wallet?: string
  readonly executor: 'cloud' | 'local'
  readonly orders: OrderSettings
  readonly exitOrders: ExitOrderSettings
  readonly limits: Limits
  readonly tokenChecks: TokenChecks
  readonly filters: EntryFilters
  /** For each source of the strategy, by its name: where its data comes from. Absent if the strategy has no sources. */
  readonly sources?: Readonly<Record<string, SourceConfig>>
  readonly paper: PaperConfig
  /** Fees that the quotes of `bot.quoteBuy` and `bot.quoteSell` include, derived from `paper`, `orders` and
   *  `exitOrders`. Absent only in the replay of an old run: its quotes contained only the venue's fee, the base fee and
   *  the rent. */
  readonly quoteFees?: QuoteFees
  readonly at: Position
}

/** Settings of paper trading. */
export interface PaperConfig extends FillModel {
  readonly lamports: Lamports
  /** Seed of the bot's random numbers, derived from `paper.seed` and the bot's name. */
  readonly seed: number
}
