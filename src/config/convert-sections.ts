import { deriveSeed } from '../base/random.ts'
import { type Lamports, type Millis, solToLamports } from '../base/units.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import { type EntryFilters, FILTERS } from '../engine/limits/entry-filters.ts'
import { LIMITS, type Limits, WALLET_LIMITS, type WalletLimits } from '../engine/limits/limit-rules.ts'
import { settingsFrom } from '../engine/limits/setting-rows.ts'
import { DEFAULT_TOKEN_CHECKS, type TokenChecks } from '../engine/limits/token-checks.ts'
import type { ExitOrderSettings, OrderSettings, QuoteFees } from '../engine/settings.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import { MINT_TRAITS } from '../solana/mint.ts'
import { isOpenLoopback, rpcAddressProblem } from './address.ts'
import { type Loudness, TELEGRAM_KINDS, type TelegramKind } from './alert-kinds.ts'
import type {
  AlertsConfig,
  ChainConfig,
  DeskConfig,
  HeartbeatConfig,
  JournalConfig,
  MetricsConfig,
  PaperConfig,
  ServiceConfig,
  TelegramConfig,
  WalletConfig,
} from './config.ts'
import {
  ALERT_DEFAULTS,
  CHAIN_DEFAULTS,
  DESK_DEFAULTS,
  EXIT_ORDER_DEFAULTS,
  HEARTBEAT_DEFAULTS,
  JOURNAL_DEFAULTS,
  ORDER_DEFAULTS,
  PAPER_DEFAULTS,
  SERVICE_DEFAULTS,
  TELEGRAM_DEFAULTS,
} from './default-values.ts'
import { fillModelFrom } from './fill-assumptions.ts'
import { expandPath } from './package-paths.ts'
import type { BotInput, DefaultsInput, FileInput, LimitsInput } from './schema.ts'
import { type Secret, secretFrom, shownAs } from './secret.ts'

// The functions below fill in every default and convert to the engine's units. A key of a bot takes precedence over the
// same key of `defaults`.

type Section<K extends keyof FileInput> = NonNullable<FileInput[K]>

export function serviceFrom(input: Section<'service'>, cwd: string, policy?: BuilderPolicy): ServiceConfig {
  const given: Partial<Exclude<typeof input, 'sandbox'>> = input === 'sandbox' ? {} : input
  const settings = {
    plan: planFrom(given.plan),
    share: given.share ?? SERVICE_DEFAULTS.share,
    units: {
      ...({ tradePrice: 'auto', tradeAmount: 'auto', priceUpdate: 'auto', sell: 'auto' } as const),
      ...given.units,
    },
    lateMs: millis(given.lateSeconds ?? SERVICE_DEFAULTS.lateSeconds),
  }
  if (input === 'sandbox') return { kind: 'sandbox', ...settings }
  const baseUrl = input.baseUrl.replace(/\/+$/, '')
  return {
    kind: 'remote',
    ...settings,
    ...{ baseUrl, wsUrl: input.wsUrl, host: new URL(baseUrl).host },
    ...(input.apiKey !== undefined && { apiKey: secretFrom(input.apiKey, cwd) }),
    ...(policy !== undefined && { builderPolicy: policy }),
  }
}

function planFrom(input: Exclude<Section<'service'>, 'sandbox'>['plan']): ServiceConfig['plan'] {
  if (input === undefined || typeof input === 'string') return input ?? SERVICE_DEFAULTS.plan
  const { maxBuySol = SERVICE_DEFAULTS.maxBuySol, ...numbers } = input
  return { name: 'custom', ...numbers, maxBuyLamports: solToLamports(maxBuySol) }
}

export function chainFrom(input: FileInput['chain'], cwd: string): ChainConfig {
  const rpc = (input?.rpc ?? []).map(({ url, ...rates }) => {
    const { requestsPerSecond, sendsPerSecond } = { ...CHAIN_DEFAULTS, ...rates }
    return { url: rpcUrl(url, cwd), requestsPerSecond, sendsPerSecond }
  })
  const secondOpinionLamports = solToLamports(input?.secondOpinionSol ?? CHAIN_DEFAULTS.secondOpinionSol)
  return { rpc, secondOpinionLamports, ...(input?.cluster !== undefined && { cluster: input.cluster }) }
}

function rpcUrl(text: string, cwd: string): Secret {
  if (isOpenLoopback(text)) return shownAs(text, () => text)
  return secretFrom(text, cwd, rpcAddressProblem)
}

/** Returns the wallets of the section `wallets`. Without this section, returns only the wallet of the section `wallet`,
 *  with the name ''. */
export function walletsFrom({ wallet, wallets }: Pick<FileInput, 'wallet' | 'wallets'>, cwd: string): WalletConfig[] {
  if (wallets === undefined) return [walletFrom(wallet, cwd)]
  return Object.entries(wallets).map(([name, input]) => walletFrom(input, cwd, name))
}

export function walletFrom(input: FileInput['wallet'], cwd: string, name = ''): WalletConfig {
  return {
    name,
    ...(input?.publicKey === undefined ? {} : { publicKey: input.publicKey }),
    ...(input?.keypair === undefined ? {} : { keypairPath: expandPath(input.keypair.slice('file:'.length), cwd) }),
    ...(input?.signer === undefined ? {} : { signerPath: expandPath(input.signer, cwd) }),
    caps: {
      perTransaction: lamportsOrNull(input?.caps?.maxSolPerTransaction),
      perHour: lamportsOrNull(input?.caps?.maxSolPerHour),
      perDay: lamportsOrNull(input?.caps?.maxSolPerDay),
    },
    limits: walletLimitsFrom(input?.limits),
  }
}

export function journalFrom(input: FileInput['journal'], cwd: string): JournalConfig {
  const { path, ...tape } = { ...JOURNAL_DEFAULTS, ...input }
  return { path: expandPath(path, cwd), ...tape }
}

export function alertsFrom(input: FileInput['alerts'], cwd: string): AlertsConfig | undefined {
  return input && { url: rpcUrl(input.url, cwd), shape: input.shape ?? ALERT_DEFAULTS.shape }
}

export function telegramFrom(input: FileInput['telegram'], cwd: string): TelegramConfig | undefined {
  if (input === undefined) return undefined
  const { token, viewers = [], operators = [], events, api = TELEGRAM_DEFAULTS.api } = input
  const kinds = TELEGRAM_KINDS.map((kind) => [kind, events?.[kind] ?? loudnessOf(kind)])
  return {
    ...{ token: secretFrom(token, cwd, botTokenProblem), api: api.replace(/\/+$/, '') },
    ...{ viewers: [...new Set([...operators, ...viewers])], operators },
    events: Object.fromEntries(kinds) as TelegramConfig['events'],
  }
}

export function loudnessOf(kind: TelegramKind): Loudness {
  return kind === 'trade' || kind === 'summary' ? TELEGRAM_DEFAULTS[kind] : 'on'
}

function botTokenProblem(token: string): string | undefined {
  return /^\d{1,20}:[\w-]{20,100}$/.test(token)
    ? undefined
    : 'expected the token of a Telegram bot, as @BotFather sends it'
}

export function heartbeatFrom(input: FileInput['heartbeat'], cwd: string): HeartbeatConfig | undefined {
  return (
    input && { url: rpcUrl(input.url, cwd), everyMs: millis(input.everySeconds ?? HEARTBEAT_DEFAULTS.everySeconds) }
  )
}

export function metricsFrom(input: FileInput['metrics'], cwd: string): MetricsConfig | undefined {
  return input && { token: secretFrom(input.token, cwd, scrapeTokenProblem) }
}

/** Returns the problem of a token for scrapers; undefined if it is valid. At least 32 random characters are required,
 *  because the desk's thread has the hash of the token, and a shorter token could be guessed from its hash. */
function scrapeTokenProblem(token: string): string | undefined {
  if (!/^[\x21-\x7e]{32,256}$/.test(token)) return 'expected 32 to 256 characters of ASCII without spaces'
  return new Set(token).size < 10 ? 'expected a random text; `openssl rand -hex 32` prints one' : undefined
}

export function deskFrom(input: FileInput['desk'], cwd: string): DeskConfig {
  const { tls, proxy, origin, ...given } = input ?? {}
  return {
    ...{ ...DESK_DEFAULTS, ...given },
    isPortFixed: given.port !== undefined,
    ...(origin !== undefined && { origin: new URL(origin).origin }),
    ...(tls !== undefined && { tls: { certificate: expandPath(tls.certificate, cwd), key: expandPath(tls.key, cwd) } }),
    ...(proxy !== undefined && { proxy }),
  }
}

/** Returns the paper settings of a bot. `own`: the section `paper` of the bot, which overrides the section `paper` of
 *  the file. */
export function paperFrom(input: FileInput['paper'], bot: string, own: BotInput['paper'] = {}): PaperConfig {
  return {
    lamports: solToLamports(input?.balanceSol ?? PAPER_DEFAULTS.balanceSol),
    seed: deriveSeed(input?.seed ?? PAPER_DEFAULTS.seed, bot),
    // If the section `paper` of a bot names a model, this model replaces all assumptions of the section `paper` of the
    // file.
    ...fillModelFrom(own.model === undefined ? { ...input, ...own } : own),
  }
}

/** Returns the fees that the quotes of `bot.quoteBuy` and `bot.quoteSell` include. A priority fee is that of the bot's
 *  order settings, or that of the fill model if the settings contain none. All other fees are those of the fill model.
 *  */
export function quoteFeesFrom(paper: FillModel, orders: OrderSettings, exitOrders: ExitOrderSettings): QuoteFees {
  const priorityFee = orders.priorityFeeLamports ?? paper.autoPriorityFeeLamports
  return {
    venuePercent: paper.venueFeePercent,
    servicePercent: paper.serviceFeePercent,
    baseLamports: paper.baseFeeLamports,
    buyPriorityLamports: priorityFee,
    sellPriorityLamports: exitOrders.priorityFeeLadder[0] ?? priorityFee,
    rentLamports: paper.rentLamports,
  }
}

export function ordersFrom(bot: BotInput, defaults: DefaultsInput): OrderSettings {
  const given = { ...defaults.orders, ...bot.orders }
  const fee = given.priorityFeeSol ?? ORDER_DEFAULTS.priorityFeeSol
  // Only one of `slippagePercent` and `slippageLadder` can be set, so a bot that sets either overrides both of
  // `defaults`.
  const named = bot.orders?.slippagePercent !== undefined || bot.orders?.slippageLadder !== undefined
  const { slippagePercent = ORDER_DEFAULTS.slippagePercent, slippageLadder } =
    (named ? bot.orders : defaults.orders) ?? {}
  return {
    slippagePercent: slippageLadder?.[0] ?? slippagePercent,
    ...(slippageLadder !== undefined && { slippageLadder }),
    priorityFeeLamports: fee === 'auto' ? null : solToLamports(fee),
    ttlMs: millis(given.ttlSeconds ?? ORDER_DEFAULTS.ttlSeconds),
    maxEventAgeMs: millis(given.maxEventAgeSeconds ?? ORDER_DEFAULTS.maxEventAgeSeconds),
    maxChasePercent: given.maxChasePercent ?? ORDER_DEFAULTS.maxChasePercent,
  }
}

export function exitOrdersFrom(bot: BotInput, defaults: DefaultsInput): ExitOrderSettings {
  const given = { ...defaults.exitOrders, ...bot.exitOrders }
  return {
    slippageLadder: given.slippageLadder ?? EXIT_ORDER_DEFAULTS.slippageLadder,
    priorityFeeLadder: (given.priorityFeeLadderSol ?? []).map(solToLamports),
    retryMs: millis(given.retrySeconds ?? EXIT_ORDER_DEFAULTS.retrySeconds),
  }
}

export function limitsFrom(given: LimitsInput): Limits {
  return settingsFrom<Limits>(LIMITS, given)
}

function walletLimitsFrom(given: NonNullable<Section<'wallet'>['limits']> = {}): WalletLimits {
  return settingsFrom<WalletLimits>(WALLET_LIMITS, given)
}

export function filtersFrom(bot: BotInput, defaults: DefaultsInput): EntryFilters {
  return settingsFrom<EntryFilters>(FILTERS, { ...defaults.filters, ...bot.filters })
}

export function tokenChecksFrom(bot: BotInput, defaults: DefaultsInput): TokenChecks {
  const given = { ...defaults.tokenChecks, ...bot.tokenChecks }
  return {
    when: given.when ?? DEFAULT_TOKEN_CHECKS.when,
    allow: MINT_TRAITS.filter((trait) => given[trait] === 'allow'),
  }
}

function millis(seconds: number): Millis {
  return Math.round(seconds * 1000)
}

function lamportsOrNull(sol: number | undefined): Lamports | null {
  return sol === undefined ? null : solToLamports(sol)
}
