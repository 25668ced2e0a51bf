import { isIP } from 'node:net'
import { z } from 'zod'
import { EXIT_SCHEMAS, EXIT_TEXTS, exitProblems } from '../engine/exits/exit-rules.ts'
import { described, type KeyText, key } from '../engine/key-text.ts'
import { FILTERS } from '../engine/limits/entry-filters.ts'
import { LIMITS, WALLET_LIMITS } from '../engine/limits/limit-rules.ts'
import { shapeOf } from '../engine/limits/setting-rows.ts'
import { DEFAULT_TOKEN_CHECKS, mintTraitReason } from '../engine/limits/token-checks.ts'
import { MOST_BUY_STEPS } from '../engine/order.ts'
import {
  LEAST_SECONDS,
  LEAST_SLIPPAGE,
  LEAST_SOL,
  MOST_PAPER_SOL,
  MOST_SLIPPAGE,
  MOST_SOL,
} from '../engine/setting-bounds.ts'
import { isPublicKey } from '../solana/base58.ts'
import { MINT_TRAITS, type MintTrait } from '../solana/mint.ts'
import { openAddressProblem, originProblem, type SecureScheme } from './address.ts'
import { TELEGRAM_KINDS, type TelegramKind } from './alert-kinds.ts'
import {
  ALERT_DEFAULTS,
  BOT_DEFAULTS,
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
import { assumptions } from './fill-assumptions.ts'
import { keypairReference, rpcReference, secretReference } from './secret.ts'
import { sourcesSchema } from './source-config.ts'
import { didYouMean } from './yaml/wording.ts'

// Schema of a configuration file. A key is optional if it has a default or if another file may set it; `load.ts` checks
// that the files together have all required keys. wording.ts contains the messages.

const none = z.literal('none')
type Schemas = typeof EXIT_SCHEMAS

/** Schema of the exits that the code of a strategy sets. */
export const exitRules = z
  .strictObject(
    each((exit, text) => described(exit, text).exactOptional()) as {
      [K in keyof Schemas]: z.ZodExactOptional<Schemas[K]>
    },
  )
  .check(({ value, issues }) => {
    for (const { path, message } of exitProblems(value))
      issues.push({ code: 'custom', input: value, path: [...path], message })
  })

const written = z.strictObject(
  each((exit, text) => described(z.union([none, exit]), text).exactOptional()) as {
    [K in keyof Schemas]: z.ZodExactOptional<z.ZodUnion<[typeof none, Schemas[K]]>>
  },
)

/** Schema of `defaults.exits`. `none` at an exit removes this exit of the strategies, and `exits: none` removes all of
 *  them. */
export const defaultExits = z.union([none, written])

/** Schema of a bot's `exits`. `none` at an exit removes this exit of the defaults and of the strategy, and `exits:
 *  none` removes all of them. With `exits: strategy`, the strategy overrides the defaults. */
export const botExits = z.union([none, z.literal('strategy'), written])

function each(change: (exit: z.ZodType, text: KeyText) => z.ZodType): Record<string, z.ZodType> {
  const texts: Readonly<Record<string, KeyText>> = EXIT_TEXTS
  return Object.fromEntries(
    Object.entries(EXIT_SCHEMAS).map(([name, exit]) => [name, change(exit, texts[name] as KeyText)]),
  )
}

const seconds = z.number().min(LEAST_SECONDS).max(86_400)
const slippage = z.number().min(LEAST_SLIPPAGE)
const sol = z.number().min(LEAST_SOL).max(MOST_SOL)
/** Size of a buy, SOL. The minimum is the smallest buy that the service accepts. */
const buySol = z.number().min(0.001).max(MOST_SOL)
/** Requests per second of an RPC. At a rate below the minimum, an exit would wait too long for the RPC. */
const perSecond = z.number().min(0.1).max(10_000)
const CLUSTERS = ['mainnet-beta', 'testnet', 'devnet']

const ladder = (step: z.ZodNumber, most = 10) =>
  z
    .array(step)
    .min(1)
    .max(most)
    .refine((steps) => steps.every((step, index) => index === 0 || step > (steps[index - 1] ?? 0)), {
      error: 'expected ascending steps, as in [5, 15, 30]',
    })

const orders = z
  .strictObject({
    slippagePercent: key(slippage.max(MOST_SLIPPAGE), 'Largest slippage that a buy accepts.', {
      unit: 'percent',
      default: ORDER_DEFAULTS.slippagePercent,
    }),
    slippageLadder: key(
      ladder(slippage.max(MOST_SLIPPAGE), MOST_BUY_STEPS),
      'Slippages of the attempts of a buy, in order, instead of `slippagePercent`. If the buy fails for its slippage, it is retried with the next value.',
      { unit: 'percent', absent: 'one attempt with `slippagePercent`' },
    ),
    priorityFeeSol: key(
      z.union([z.literal('auto'), z.number().min(0.00001).max(0.01)]),
      'Priority fee of an order; `auto`: the service chooses the fee.',
      { unit: 'SOL', default: ORDER_DEFAULTS.priorityFeeSol },
    ),
    ttlSeconds: key(seconds, 'A buy that cannot be sent within this time expires.', {
      unit: 'seconds',
      default: ORDER_DEFAULTS.ttlSeconds,
    }),
    maxEventAgeSeconds: key(
      seconds,
      'A buy is refused if the market event on which the strategy decided is older than this.',
      {
        unit: 'seconds',
        default: ORDER_DEFAULTS.maxEventAgeSeconds,
      },
    ),
    maxChasePercent: key(
      z.number().min(0).max(1000),
      'A buy is not sent if the price has risen by more than this since the decision.',
      { unit: 'percent', default: ORDER_DEFAULTS.maxChasePercent },
    ),
  })
  .refine(({ slippagePercent, slippageLadder }) => slippagePercent === undefined || slippageLadder === undefined, {
    path: ['slippageLadder'],
    error:
      'expected either slippageLadder or slippagePercent: the first step of the ladder is the slippage of the first attempt',
  })

const exitOrders = z.strictObject({
  slippageLadder: key(
    ladder(slippage.max(100)),
    'Slippages of the attempts of an exit, in order. All further attempts use the last value.',
    {
      unit: 'percent',
      default: EXIT_ORDER_DEFAULTS.slippageLadder,
    },
  ),
  priorityFeeLadderSol: key(
    ladder(z.number().min(0.00001).max(0.01)),
    'Priority fees of the attempts of an exit, in order. All further attempts use the last value.',
    { unit: 'SOL', absent: 'the priority fee of `orders`' },
  ),
  retrySeconds: key(
    z.number().min(0.5).max(3600),
    'Time between the first and the second attempt of an exit. Each later wait is twice as long as the wait before it.',
    { unit: 'seconds', default: EXIT_ORDER_DEFAULTS.retrySeconds },
  ),
})

const limits = z.strictObject(shapeOf(LIMITS))

/** Limits that apply to the sum of all bots of the wallet. */
const walletLimits = z.strictObject(shapeOf(WALLET_LIMITS))

const filters = z.strictObject(shapeOf(FILTERS))

const tokenChecks = z.strictObject({
  when: key(
    z.enum(['before', 'after', 'off']),
    'Whether Sluice checks a mint before the first buy of its token, after this buy, or not at all.',
    { default: DEFAULT_TOKEN_CHECKS.when },
  ),
  ...traitSwitches(),
})

const plan = z.union([
  z.enum(['auto', 'standard', 'premium']),
  z.strictObject({
    requestsPerMinute: described(z.int().min(1).max(1e6), {
      about: 'HTTPS requests that the plan allows.',
      unit: 'requests a minute',
    }),
    connections: described(z.int().min(1).max(1e4), {
      about: 'WebSocket connections that the plan allows.',
      unit: 'connections',
    }),
    messagesPerSecond: described(z.int().min(1).max(1e6), {
      about: 'Rate of WebSocket messages that a client may send.',
      unit: 'messages a second',
    }),
    maxBuySol: key(buySol, 'Largest buy that the plan allows.', { unit: 'SOL', default: SERVICE_DEFAULTS.maxBuySol }),
  }),
])

const units = z.strictObject({
  tradePrice: key(
    z.enum(['auto', 'sol']),
    'Unit of the price of a trade. `auto`: Sluice must prove the unit before orders depend on it.',
    { default: SERVICE_DEFAULTS.unit },
  ),
  tradeAmount: key(
    z.enum(['auto', 'sol']),
    'Unit of the amount of a trade. `auto`: Sluice must prove the unit before orders depend on it.',
    { default: SERVICE_DEFAULTS.unit },
  ),
  priceUpdate: key(
    z.enum(['auto', 'sol', 'usd']),
    'Unit of the price in a price update of the feed. `auto`: Sluice must prove the unit before orders depend on it.',
    { default: SERVICE_DEFAULTS.unit },
  ),
  sell: key(
    z.enum(['auto', 'tokens', 'baseUnits']),
    'Unit of the amount of a sale. `auto`: Sluice must prove the unit before orders depend on it.',
    { default: SERVICE_DEFAULTS.unit },
  ),
})

const service = z.union([
  z.literal('sandbox'),
  z.strictObject({
    baseUrl: described(address('https'), { about: 'HTTPS address of the service, including its `/api`.' }),
    wsUrl: described(address('wss'), { about: 'WebSocket address of the feed.' }),
    apiKey: key(secretReference('the key'), 'Where the API key is stored: `env:NAME`, or `file:PATH` with mode 0600.', {
      absent: 'only backtests are possible',
    }),
    plan: key(plan, 'Plan of the key; with `auto`, the plan that the service reports.', {
      default: SERVICE_DEFAULTS.plan,
    }),
    share: key(
      z.number().min(0.01).max(1),
      'Share of the requests and connections of the plan that this process may use.',
      {
        unit: 'unitless',
        default: SERVICE_DEFAULTS.share,
      },
    ),
    units: key(units, 'Units of numbers whose unit the service does not document.'),
    lateSeconds: key(
      z.number().min(1).max(86_400),
      'Longest time for which the service may still execute a request whose connection was lost.',
      {
        unit: 'seconds',
        default: SERVICE_DEFAULTS.lateSeconds,
      },
    ),
    builderPolicy: key(
      z.string().min(1),
      'Path of the policy for transactions that the service builds (local executor).',
      {
        absent: 'no live bot with the local executor starts',
      },
    ),
  }),
])

const rpc = z.strictObject({
  url: described(rpcReference(), {
    about: 'Address of the endpoint: `env:NAME` or `file:PATH` that contains it, or a loopback address.',
  }),
  requestsPerSecond: key(perSecond, 'Largest rate of requests to this endpoint.', {
    unit: 'requests a second',
    default: CHAIN_DEFAULTS.requestsPerSecond,
  }),
  sendsPerSecond: key(perSecond, 'Largest rate at which transactions are sent.', {
    unit: 'requests a second',
    default: CHAIN_DEFAULTS.sendsPerSecond,
  }),
})

const cluster = z.string().refine((text) => CLUSTERS.includes(text) || isPublicKey(text), {
  error: ({ input }) => `expected ${CLUSTERS.join(', ')} or a genesis hash${didYouMean(String(input), CLUSTERS)}`,
})

const chain = z.strictObject({
  rpc: described(z.array(rpc).min(1), { about: 'RPC endpoints of the chain, in the order of preference.' }),
  cluster: key(cluster, 'Chain that the endpoints must serve: its name, or its genesis hash.', {
    absent: 'the chain of the first endpoint',
  }),
  secondOpinionSol: key(
    sol,
    'For buys of at least this size, a second endpoint (if there is one) must confirm that the buy did not execute.',
    {
      unit: 'SOL',
      default: CHAIN_DEFAULTS.secondOpinionSol,
    },
  ),
})

/** Caps on the SOL in the transactions that the signer signs. */
const caps = z.strictObject({
  maxSolPerTransaction: key(sol, 'Largest amount that one signed transaction may spend.', {
    unit: 'SOL',
    absent: 'no cap',
  }),
  maxSolPerHour: key(sol, 'Largest amount that all transactions signed within an hour may spend together.', {
    unit: 'SOL',
    absent: 'no cap',
  }),
  maxSolPerDay: key(sol, 'Largest amount that all transactions signed within a day may spend together.', {
    unit: 'SOL',
    absent: 'no cap',
  }),
})

const walletSchema = z
  .strictObject({
    publicKey: key(
      z.string().refine(isPublicKey, { error: 'expected a public key: base58 of 32 bytes (never the private key)' }),
      'Public key of the wallet, base58.',
      { absent: 'no bot may trade live' },
    ),
    keypair: key(keypairReference(), 'File of the private key, `file:PATH` with mode 0600 (local executor).', {
      absent: 'no bot can sign on this machine, except with `signer`',
    }),
    signer: key(z.string().min(1), 'Socket of a `sluice signer` that holds the private key.', {
      absent: 'no such signer',
    }),
    caps: key(caps, 'Caps on the SOL in the transactions that this process signs.'),
    limits: key(walletLimits, 'Limits on the sum of all bots of the wallet.'),
  })
  .refine(({ keypair, signer }) => keypair === undefined || signer === undefined, {
    path: ['signer'],
    error: 'expected either signer or keypair: a signer at a socket uses its own key',
  })
  .refine(({ signer, caps }) => signer === undefined || caps === undefined, {
    path: ['caps'],
    error: 'not allowed with `signer`: pass the caps to `sluice signer`, where this process cannot change them',
  })

/** Name of a bot or of a wallet. */
const ownName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,39}$/, {
  error: 'expected 1 to 40 letters, digits, dots, dashes or underscores, beginning with a letter or digit',
})

const wallets = z
  .record(ownName, walletSchema)
  .refine((named) => Object.keys(named).length > 0, { error: 'expected at least one wallet, as in `main: { ... }`' })

const journal = z
  .strictObject({
    path: key(z.string().min(1), 'File of the journal.', { default: JOURNAL_DEFAULTS.path }),
    keepTapeDays: key(z.number().min(0.01).max(36_500), 'Age at which recorded market data is deleted.', {
      unit: 'days',
      default: JOURNAL_DEFAULTS.keepTapeDays,
    }),
    archive: key(
      z.boolean(),
      'Whether market data of past days is kept, in separate files in the folder PATH.tape (PATH is `journal.path`).',
      { default: JOURNAL_DEFAULTS.archive },
    ),
  })
  .refine(({ archive, keepTapeDays }) => archive !== true || keepTapeDays === undefined, {
    path: ['keepTapeDays'],
    error:
      'not allowed with `archive: true`: archived market data is kept, and `sluice tape forget DAY` gives up old days',
  })

/** Webhook for alerts. The address is a secret, because it is all that a sender needs to use the webhook. */
const alerts = z.strictObject({
  url: described(rpcReference(), { about: 'Where the address of the webhook is stored: `env:NAME` or `file:PATH`.' }),
  shape: key(z.enum(['generic', 'slack', 'discord']), 'Format of the messages.', { default: ALERT_DEFAULTS.shape }),
})

const loudness = z.enum(['on', 'silent', 'off'])
const ABOUT_TRADES: Partial<Record<TelegramKind, string>> = {
  trade: 'An order that executed.',
  summary: 'The result of each bot, at the end of the UTC day.',
}

const userIds = z.array(z.int().min(1)).min(1).max(20)

/** A Telegram bot. Its token grants full access to the bot, so the token is a secret. */
const telegram = z.strictObject({
  token: described(secretReference('the token'), {
    about: 'Where the token of the Telegram bot is stored: `env:NAME`, or `file:PATH` with mode 0600.',
  }),
  operators: key(
    userIds,
    'Ids of the users who may ask questions, receive the events, and halt, resume, sell and flatten. An id belongs to a person, never to a group.',
    { absent: 'no user of Telegram may give commands', unit: 'unitless' },
  ),
  viewers: key(userIds, 'Ids of the users who may ask questions and receive the events, but give no commands.', {
    absent: 'only the operators may ask',
    unit: 'unitless',
  }),
  events: key(
    z.strictObject(
      Object.fromEntries(
        TELEGRAM_KINDS.map((kind) => [
          kind,
          key(loudness, ABOUT_TRADES[kind] ?? `The alert \`${kind}\` ([operate.md](operate.md#alerts)).`, {
            default: kind === 'trade' || kind === 'summary' ? TELEGRAM_DEFAULTS[kind] : 'on',
          }),
        ]),
      ) as Record<TelegramKind, z.ZodExactOptional<typeof loudness>>,
    ),
    'How the Telegram bot reports each kind of event: with a sound, silently, or not at all.',
  ),
  api: key(address('https'), 'Address of the Bot API, for a Bot API server of your own, or for the sandbox.', {
    default: TELEGRAM_DEFAULTS.api,
  }),
})

/** Receiver of the heartbeats. The address is a secret, because it is all that a sender needs to use the receiver. */
const heartbeat = z.strictObject({
  url: described(rpcReference(), {
    about: 'Address to which the heartbeat is sent: `env:NAME` or `file:PATH` that contains it, or a loopback address.',
  }),
  everySeconds: key(z.number().min(1).max(3_600), 'Interval of the heartbeats.', {
    unit: 'seconds',
    default: HEARTBEAT_DEFAULTS.everySeconds,
  }),
})

/** Schema of `metrics`: who may read `/metrics`. */
const metrics = z.strictObject({
  token: described(secretReference('the token'), {
    about:
      'Where the token for scrapers is stored: `env:NAME`, or `file:PATH` with mode 0600. A scraper sends this token, of at least 32 characters, as a bearer token.',
  }),
})

const ipAddress = z.string().refine((text) => isIP(text) !== 0, {
  error: 'expected an IP address of this machine, as in 127.0.0.1, ::1 or 0.0.0.0',
})

/** Schema of the desk: who may reach it, and how. */
const desk = z
  .strictObject({
    port: key(z.int().min(0).max(65_535), 'Port of the desk; 0: any free port.', {
      unit: 'unitless',
      default: DESK_DEFAULTS.port,
    }),
    bind: key(
      ipAddress,
      'Address that the desk listens on. If it is not a loopback address, `origin` and TLS are required.',
      {
        default: DESK_DEFAULTS.bind,
      },
    ),
    readOnly: key(z.boolean(), 'Whether the desk is read-only in every session.', { default: DESK_DEFAULTS.readOnly }),
    origin: key(
      z.string().check(({ value, issues }) => {
        const problem = originProblem(value)
        if (problem) issues.push({ code: 'custom', input: value, message: problem })
      }),
      'Address at which browsers reach the desk, as in `https://desk.example.com`. Requests to other host names are refused.',
      { absent: 'only loopback' },
    ),
    tls: key(
      z.strictObject({
        certificate: described(z.string().min(1), {
          about:
            'File of the certificate chain (PEM), beginning with the certificate of the server. Renewed files are read without a restart.',
        }),
        key: described(z.string().min(1), {
          about: 'File of the private key of the certificate (PEM), with mode 0600 or 0640.',
        }),
      }),
      'Certificate with which the desk itself serves HTTPS.',
      { absent: 'plain HTTP, on loopback or behind `proxy` only' },
    ),
    proxy: key(
      z.array(ipAddress).min(1),
      'Addresses of the proxies that end TLS in front of the desk. Only they may set `X-Forwarded-For` and `X-Forwarded-Proto`.',
      { absent: 'no proxy' },
    ),
  })
  .refine(({ tls, proxy, origin }) => origin !== undefined || (tls === undefined && proxy === undefined), {
    path: ['origin'],
    error: 'missing; tls and proxy require the address at which browsers reach the desk',
  })
  .refine(({ tls, proxy }) => tls === undefined || proxy === undefined, {
    path: ['proxy'],
    error: 'expected either tls or proxy: a proxy ends TLS in front of the desk',
  })

const paper = assumptions.extend({
  balanceSol: key(z.number().min(LEAST_SOL).max(MOST_PAPER_SOL), 'Balance with which each paper wallet begins.', {
    unit: 'SOL',
    default: PAPER_DEFAULTS.balanceSol,
  }),
  seed: key(z.int().min(0).max(0xffff_ffff), 'Seed of the random numbers of paper trading.', {
    unit: 'unitless',
    default: PAPER_DEFAULTS.seed,
  }),
})

/** Descriptions of the sections that a bot and `defaults` have in common. */
const SECTIONS = {
  exits:
    'Rules by which positions are sold. `none` at a key removes this exit of the defaults and of the strategy; `exits: none` removes all of them.',
  limits: 'Limits that no strategy can exceed.',
  orders: 'Settings of the orders with which the bot buys.',
  exitOrders: 'Settings of the orders with which exits sell.',
  tokenChecks: 'Checks of a mint before its first buy.',
  filters: 'Rules for the tokens that the bot may buy.',
}

export const botSchema = z.strictObject({
  name: described(ownName, {
    about: 'Name of the bot. The journal records the money and the positions of the bot under this name.',
  }),
  strategy: described(z.string().min(1), { about: 'Name of a strategy, or the path of its file.' }),
  params: key(z.record(z.string(), z.unknown()), 'Params of the strategy.', { absent: 'the defaults of the strategy' }),
  mode: key(z.enum(['paper', 'live']), 'Whether the bot trades on paper or with real money.', {
    default: BOT_DEFAULTS.mode,
  }),
  wallet: key(ownName, 'Wallet of the bot: one of the names in the section `wallets`.', {
    absent: 'the section `wallet`',
  }),
  executor: key(z.enum(['cloud', 'local']), 'Whether the service or this machine signs the transactions of the bot.', {
    default: BOT_DEFAULTS.executor,
  }),
  exits: key(
    botExits,
    `${SECTIONS.exits} With \`strategy\`, the exits of the strategy override those of \`defaults\`.`,
  ),
  limits: key(limits, SECTIONS.limits),
  orders: key(orders, SECTIONS.orders),
  exitOrders: key(exitOrders, SECTIONS.exitOrders),
  tokenChecks: key(tokenChecks, SECTIONS.tokenChecks),
  filters: key(filters, SECTIONS.filters),
  sources: key(sourcesSchema, 'For each source that the strategy declares, by its name: where its data comes from.'),
  paper: key(
    assumptions,
    'Assumptions about the fills of this bot on paper; each overrides the value in the section `paper`.',
  ),
})

const defaults = z.strictObject({
  orders: key(orders, SECTIONS.orders),
  exitOrders: key(exitOrders, SECTIONS.exitOrders),
  exits: key(defaultExits, SECTIONS.exits),
  limits: key(limits, SECTIONS.limits),
  tokenChecks: key(tokenChecks, SECTIONS.tokenChecks),
  filters: key(filters, SECTIONS.filters),
})

export const fileSchema = z.strictObject({
  service: key(service, 'The trading service, or `sandbox`: a simulated service on this machine.'),
  chain: key(chain, 'Access to the chain.'),
  wallet: key(walletSchema, 'The wallet of the live bots.'),
  wallets: key(wallets, 'Wallets by name, each with the keys of `wallet`. Every bot names one of them.', {
    absent: 'the section `wallet`',
  }),
  journal: key(journal, 'The journal, in which a run is recorded.'),
  alerts: key(alerts, 'Webhook for alerts.', { absent: 'no alerts are sent' }),
  telegram: key(telegram, 'A Telegram bot that answers questions and reports events.', {
    absent: 'no Telegram bot is used',
  }),
  heartbeat: key(heartbeat, 'Heartbeats to a receiver on another machine, which raises an alarm if they stop.', {
    absent: 'no heartbeat is sent',
  }),
  metrics: key(metrics, 'Metrics for Prometheus at `/metrics` of the desk ([monitoring.md](monitoring.md)).', {
    absent: 'there are no metrics',
  }),
  desk: key(desk, 'The desk, a page in the browser: its address, and who may reach it.'),
  paper: key(paper, 'Paper trading and backtests: the wallet, and the assumptions of the fill model.'),
  defaults: key(defaults, 'Default settings of the bots. A setting of a bot overrides the default.'),
  bots: key(z.array(botSchema), 'The bots. Each runs one strategy.'),
})

/** A configuration file with its own keys and units, after a check by the schema. */
export type FileInput = z.output<typeof fileSchema>
export type BotInput = z.output<typeof botSchema>
export type DefaultsInput = z.output<typeof defaults>
export type LimitsInput = z.output<typeof limits>
export type ExitsInput = z.output<typeof defaultExits>
export type BotExitsInput = z.output<typeof botExits>

function traitSwitches() {
  const one = (trait: MintTrait) =>
    key(z.enum(['refuse', 'allow']), `Whether a mint is refused because ${mintTraitReason(trait)}.`, {
      default: 'refuse',
    })
  return Object.fromEntries(MINT_TRAITS.map((trait) => [trait, one(trait)])) as Record<
    MintTrait,
    ReturnType<typeof one>
  >
}

function address(scheme: SecureScheme) {
  return z.string().check(({ value, issues }) => {
    const problem = openAddressProblem(value, scheme)
    if (problem) issues.push({ code: 'custom', input: value, message: problem })
  })
}
