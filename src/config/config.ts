import type { Json } from '../base/json.ts'
import type { Lamports } from '../base/units.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import type { EntryFilters } from '../engine/limits/entry-filters.ts'
import type { Limits, WalletLimits } from '../engine/limits/limits.ts'
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
  /** Entries of the lists of filters, by the path of the file as written. A run reads a changed file again. */
  readonly lists: Map<string, readonly string[]>
  /** Valid settings that are probably a mistake. */
  readonly warnings: readonly ConfigError[]
  /** Hash of every setting that affects decisions: no secret and no path. */
  readonly hash: string
}

export type ServiceConfig = SandboxService | RemoteService

interface ServiceSettings {
  /** `auto`: the service names the plan once it has accepted the key. */
  readonly plan: 'auto' | 'standard' | 'premium' | Plan
  /** Share of the plan that this process may use; above 0, at most 1. */
  readonly share: number
  readonly units: UnitSettings & {
    readonly priceUpdate: 'auto' | 'sol' | 'usd'
    readonly sell: 'auto' | 'tokens' | 'baseUnits'
  }
  /** Upper bound of the time between the end of a connection and the execution of its request. */
  readonly lateMs: number
}

/** Started by the command, with its own addresses, key, RPC and wallet. */
export interface SandboxService extends ServiceSettings {
  readonly kind: 'sandbox'
}

export interface RemoteService extends ServiceSettings {
  readonly kind: 'remote'
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly wsUrl: string
  /** Host and port of `baseUrl`, as in the id of an account. */
  readonly host: string
  /** Absent: only backtests are possible. */
  readonly apiKey?: Secret
  /** Permitted contents of transactions that the service builds; absent: it builds none. */
  readonly builderPolicy?: BuilderPolicy
}

export interface RpcConfig {
  /** `read()` returns a valid address. */
  readonly url: Secret
  readonly requestsPerSecond: number
  /** Providers limit `sendTransaction` separately. */
  readonly sendsPerSecond: number
}

export interface ChainConfig {
  /** In order of preference; empty only if no live bot needs an RPC. */
  readonly rpc: readonly RpcConfig[]
  /** Cluster that the RPC must belong to: name or genesis hash. */
  readonly cluster?: string
  /** From this amount on, a second RPC (if configured) must confirm that a buy did not execute. */
  readonly secondOpinionLamports: Lamports
}

export interface WalletConfig {
  readonly publicKey?: string
  /** Local executor: absolute path of a file of `solana-keygen`. Only the signer reads it. */
  readonly keypairPath?: string
  /** Alternative to `keypairPath`: absolute path of the socket of `sluice signer`. */
  readonly signerPath?: string
  readonly caps: SignerCaps
  /** Limits of all live bots together. On paper each bot has its own wallet. */
  readonly limits: WalletLimits
}

/** Upper bounds of the SOL in signed transactions, by the declared bounds of their orders; null: no cap. */
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

/** Webhook for alerts. */
export interface AlertsConfig {
  /** `read()` returns a valid address. */
  readonly url: Secret
  readonly shape: 'generic' | 'slack' | 'discord'
}

export interface BotConfig extends EffectiveExits {
  readonly name: string
  readonly strategy: LoadedStrategy
  /** Accepted by the strategy's schema, defaults filled in. */
  readonly params: Json
  /** The mode in the file. `botSettings` decides the mode of a run. */
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

/** Assumptions that are absent have the default of the fill model. */
export interface PaperConfig extends Partial<FillModel> {
  readonly lamports: Lamports
  /** Derived from `paper.seed` and the name of the bot. */
  readonly seed: number
}
