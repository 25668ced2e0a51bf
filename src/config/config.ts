import type { Json } from '../base/json.ts'
import type { Lamports } from '../base/units.ts'
import type { EntryFilters } from '../engine/limits/entry-filters.ts'
import type { Limits, WalletLimits } from '../engine/limits/limit-rows.ts'
import type { TokenChecks } from '../engine/limits/token-checks.ts'
import type { ExitOrderSettings, OrderSettings, Plan } from '../engine/settings.ts'
import type { UnitSettings } from '../market/unit-proof.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import type { EffectiveExits } from './effective-exits.ts'
import type { Secret } from './secret.ts'
import type { LoadedStrategy } from './strategies.ts'
import type { ConfigError, Position } from './yaml/errors.ts'

/** One or several files, checked, with every default filled in. */
export interface Config {
  readonly files: readonly string[]
  readonly service: ServiceConfig
  readonly chain: ChainConfig
  readonly wallet: WalletConfig
  readonly journal: JournalConfig
  readonly alerts?: AlertsConfig
  readonly bots: readonly BotConfig[]
  /** Of filters, by the path of their file as written: what it held when it was last read. A run reads it again when it
   *  changes. */
  readonly lists: Map<string, readonly string[]>
  /** Allowed, and probably not what was meant. */
  readonly warnings: readonly ConfigError[]
  /** Hash of everything above that decides, so of no secret and no path. */
  readonly hash: string
}

export type ServiceConfig = SandboxService | RemoteService

interface ServiceSettings {
  /** `auto`: as the service says once the key is accepted. */
  readonly plan: 'auto' | 'standard' | 'premium' | Plan
  /** How much of the plan this process may take; above 0, at most 1. */
  readonly share: number
  readonly units: UnitSettings & {
    readonly priceUpdate: 'auto' | 'sol' | 'usd'
    readonly sell: 'auto' | 'tokens' | 'baseUnits'
  }
  /** How long after we hung up a request may still be carried out. */
  readonly lateMs: number
}

/** Started by the command; brings its own addresses, key, RPC and wallet. */
export interface SandboxService extends ServiceSettings {
  readonly kind: 'sandbox'
}

export interface RemoteService extends ServiceSettings {
  readonly kind: 'remote'
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly wsUrl: string
  /** Host and port of `baseUrl`, as in an account. */
  readonly host: string
  /** Absent: good for backtests only. */
  readonly apiKey?: Secret
  /** What it may put into transactions that it builds for us; absent: it builds none. */
  readonly builderPolicy?: BuilderPolicy
}

export interface RpcConfig {
  /** `read()` answers a checked address. */
  readonly url: Secret
  readonly requestsPerSecond: number
  /** Providers count `sendTransaction` apart. */
  readonly sendsPerSecond: number
}

export interface ChainConfig {
  /** In the order of preference; empty only where no live bot needs it. */
  readonly rpc: readonly RpcConfig[]
  /** The cluster that the RPC has to be of, by name or genesis hash. */
  readonly cluster?: string
  /** That a buy of so much did not execute needs the word of a second RPC, where one is configured. */
  readonly secondOpinionLamports: Lamports
}

export interface WalletConfig {
  readonly publicKey?: string
  /** For the local executor: the file that `solana-keygen` wrote, absolute. Only the signer reads it. */
  readonly keypairPath?: string
  /** In its place: the socket of `sluice signer`, absolute. */
  readonly signerPath?: string
  readonly caps: SignerCaps
  /** Of all live bots together; on paper each bot has a wallet of its own. */
  readonly limits: WalletLimits
}

/** The most that the signer may sign away by the declared bounds of orders; null: no such cap. */
export interface SignerCaps {
  readonly perTransaction: Lamports | null
  readonly perHour: Lamports | null
  readonly perDay: Lamports | null
}

export interface JournalConfig {
  /** Absolute. */
  readonly path: string
  readonly keepTapeDays: number
}

/** Where a person is told what cannot wait. */
export interface AlertsConfig {
  /** `read()` answers a checked address. */
  readonly url: Secret
  readonly shape: 'generic' | 'slack' | 'discord'
}

export interface BotConfig extends EffectiveExits {
  readonly name: string
  readonly strategy: LoadedStrategy
  /** Accepted by the strategy's schema, its defaults filled in. */
  readonly params: Json
  /** As written; what it becomes in a run is decided by `botSettings`. */
  readonly mode: 'paper' | 'live'
  readonly executor: 'cloud' | 'local'
  readonly orders: OrderSettings
  readonly exitOrders: ExitOrderSettings
  readonly limits: Limits
  readonly tokenChecks: TokenChecks
  readonly filters: EntryFilters
  readonly paper: PaperConfig
  readonly at: Position
}

export interface PaperConfig {
  readonly lamports: Lamports
  /** Of this bot alone: made of `paper.seed` and its name. */
  readonly seed: number
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  /** What the trading service keeps of a trade, each way. */
  readonly serviceFeePercent: number
}
