import { z } from 'zod'
import { EXIT_SCHEMAS, exitProblems } from '../engine/exits/exit-rules.ts'
import { FILTERS } from '../engine/limits/entry-filters.ts'
import { LIMITS, WALLET_LIMITS } from '../engine/limits/limits.ts'
import { shapeOf } from '../engine/limits/setting-rows.ts'
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
import { openAddressProblem, type SecureScheme } from './address.ts'
import { keypairReference, rpcReference, secretReference } from './secret.ts'
import { didYouMean } from './yaml/wording.ts'

// Schema of a configuration file. A key is optional if it has a default or if another file may set it; `load.ts` checks
// that the files together have all required keys. wording.ts contains the messages.

const none = z.literal('none')
type Schemas = typeof EXIT_SCHEMAS

/** Schema of the exits that a strategy's source sets. */
export const exitRules = z
  .strictObject(each((exit) => exit.exactOptional()) as { [K in keyof Schemas]: z.ZodExactOptional<Schemas[K]> })
  .check(({ value, issues }) => {
    for (const { path, message } of exitProblems(value))
      issues.push({ code: 'custom', input: value, path: [...path], message })
  })

const written = z.strictObject(
  each((exit) => z.union([none, exit]).exactOptional()) as {
    [K in keyof Schemas]: z.ZodExactOptional<z.ZodUnion<[typeof none, Schemas[K]]>>
  },
)

/** Schema of `defaults.exits`. `none` removes one exit of the strategies, or all of them. */
export const defaultExits = z.union([none, written])

/** Schema of a bot's `exits`. `none` removes one exit of the defaults and of the strategy, or all; with `exits:
 *  strategy`, the strategy overrides the defaults. */
export const botExits = z.union([none, z.literal('strategy'), written])

function each(change: (exit: z.ZodType) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(EXIT_SCHEMAS).map(([name, exit]) => [name, change(exit)]))
}

const seconds = z.number().min(LEAST_SECONDS).max(86_400)
const slippage = z.number().min(LEAST_SLIPPAGE)
const sol = z.number().min(LEAST_SOL).max(MOST_SOL)
/** Size of a buy, SOL. The service accepts no smaller buy than this lower bound. */
const buySol = z.number().min(0.001).max(MOST_SOL)
/** Requests per second of an RPC. At a lower rate than this bound an exit would wait too long for the RPC. */
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
    slippagePercent: slippage.max(MOST_SLIPPAGE).exactOptional(),
    /** Slippage of the first and each later attempt, instead of slippagePercent: a buy that fails for its slippage is
     *  tried again with the next value. */
    slippageLadder: ladder(slippage.max(MOST_SLIPPAGE), MOST_BUY_STEPS).exactOptional(),
    priorityFeeSol: z.union([z.literal('auto'), z.number().min(0.00001).max(0.01)]).exactOptional(),
    ttlSeconds: seconds.exactOptional(),
    maxEventAgeSeconds: seconds.exactOptional(),
    maxChasePercent: z.number().min(0).max(1000).exactOptional(),
  })
  .refine(({ slippagePercent, slippageLadder }) => slippagePercent === undefined || slippageLadder === undefined, {
    path: ['slippageLadder'],
    error:
      'expected either slippageLadder or slippagePercent: the first step of the ladder is the slippage of the first try',
  })

const exitOrders = z.strictObject({
  slippageLadder: ladder(slippage.max(100)).exactOptional(),
  priorityFeeLadderSol: ladder(z.number().min(0.00001).max(0.01)).exactOptional(),
  retrySeconds: z.number().min(0.5).max(3600).exactOptional(),
})

const limits = z.strictObject(shapeOf(LIMITS))

/** Limits that apply to the sum of all bots of the wallet. */
const walletLimits = z.strictObject(shapeOf(WALLET_LIMITS))

const filters = z.strictObject(shapeOf(FILTERS))

const tokenChecks = z.strictObject({
  when: z.enum(['before', 'after', 'off']).exactOptional(),
  ...traitSwitches(),
})

const plan = z.union([
  z.enum(['auto', 'standard', 'premium']),
  z.strictObject({
    requestsPerMinute: z.int().min(1).max(1e6),
    connections: z.int().min(1).max(1e4),
    messagesPerSecond: z.int().min(1).max(1e6),
    maxBuySol: buySol.exactOptional(),
  }),
])

const units = z.strictObject({
  tradePrice: z.enum(['auto', 'sol']).exactOptional(),
  tradeAmount: z.enum(['auto', 'sol']).exactOptional(),
  priceUpdate: z.enum(['auto', 'sol', 'usd']).exactOptional(),
  sell: z.enum(['auto', 'tokens', 'baseUnits']).exactOptional(),
})

const service = z.union([
  z.literal('sandbox'),
  z.strictObject({
    baseUrl: address('https'),
    wsUrl: address('wss'),
    apiKey: secretReference('the key').exactOptional(),
    plan: plan.exactOptional(),
    share: z.number().min(0.01).max(1).exactOptional(),
    units: units.exactOptional(),
    lateSeconds: z.number().min(1).max(86_400).exactOptional(),
    /** For the local executor: path of the policy for transactions that the service builds. */
    builderPolicy: z.string().min(1).exactOptional(),
  }),
])

const chain = z.strictObject({
  rpc: z
    .array(
      z.strictObject({
        url: rpcReference(),
        requestsPerSecond: perSecond.exactOptional(),
        sendsPerSecond: perSecond.exactOptional(),
      }),
    )
    .min(1),
  cluster: z
    .string()
    .refine((text) => CLUSTERS.includes(text) || isPublicKey(text), {
      error: ({ input }) => `expected ${CLUSTERS.join(', ')} or a genesis hash${didYouMean(String(input), CLUSTERS)}`,
    })
    .exactOptional(),
  secondOpinionSol: sol.exactOptional(),
})

/** Caps on the SOL in the transactions that the signer signs. */
const caps = z.strictObject({
  maxSolPerTransaction: sol.exactOptional(),
  maxSolPerHour: sol.exactOptional(),
  maxSolPerDay: sol.exactOptional(),
})

const wallet = z
  .strictObject({
    publicKey: z
      .string()
      .refine(isPublicKey, { error: 'expected a public key: base58 of 32 bytes (never the private key)' })
      .exactOptional(),
    keypair: keypairReference().exactOptional(),
    signer: z.string().min(1).exactOptional(),
    caps: caps.exactOptional(),
    limits: walletLimits.exactOptional(),
  })
  .refine(({ keypair, signer }) => keypair === undefined || signer === undefined, {
    path: ['signer'],
    error: 'expected either signer or keypair: a signer at a socket has its own key',
  })
  .refine(({ signer, caps }) => signer === undefined || caps === undefined, {
    path: ['caps'],
    error: 'not allowed with wallet.signer: pass the caps to `sluice signer`, where this process cannot change them',
  })

const journal = z.strictObject({
  path: z.string().min(1).exactOptional(),
  keepTapeDays: z.number().min(0.01).max(36_500).exactOptional(),
})

/** Webhook for alerts. Its address grants access to it, so the address is a secret. */
const alerts = z.strictObject({
  url: rpcReference(),
  shape: z.enum(['generic', 'slack', 'discord']).exactOptional(),
})

/** Assumptions of the fill model. */
const assumptions = z.strictObject({
  model: z.enum(['pessimistic', 'free']).exactOptional(),
  slotSeconds: z.number().min(0).max(60).exactOptional(),
  lossPercent: z.number().min(0).max(100).exactOptional(),
  crowdPrints: z.number().min(0.01).max(1e6).exactOptional(),
  maxLossPercent: z.number().min(0).max(100).exactOptional(),
  venueFeePercent: z.number().min(0).max(50).exactOptional(),
  serviceFeePercent: z.number().min(0).max(10).exactOptional(),
  baseFeeSol: z.number().min(0).max(1).exactOptional(),
  priorityFeeSol: z.number().min(0).max(1).exactOptional(),
  rentSol: z.number().min(0).max(1).exactOptional(),
  deadAfterSeconds: z.number().min(1).max(3_153_600_000).exactOptional(),
  honeypot: z
    .strictObject({ buys: z.int().min(1).max(Number.MAX_SAFE_INTEGER), salesPercent: z.number().min(0).max(1_000) })
    .exactOptional(),
  impact: z.enum(['full', 'none']).exactOptional(),
  impactHalvesAfterPools: z.number().min(0.01).max(1e6).exactOptional(),
  noisePercent: z.number().min(0).max(1e12).exactOptional(),
  latency: z
    .strictObject({ p50Seconds: z.number().min(0).max(86_400), p95Seconds: z.number().min(0).max(86_400) })
    .refine(({ p50Seconds, p95Seconds }) => p50Seconds > 0 || p95Seconds === 0, {
      path: ['p50Seconds'],
      error: 'expected more than 0, unless p95Seconds is 0, too',
    })
    .refine(({ p50Seconds, p95Seconds }) => p95Seconds >= p50Seconds, {
      path: ['p95Seconds'],
      error: 'expected at least p50Seconds: p95Seconds is the latency of the slowest 5 %',
    })
    .exactOptional(),
})

const paper = assumptions.extend({
  balanceSol: z.number().min(LEAST_SOL).max(MOST_PAPER_SOL).exactOptional(),
  seed: z.int().min(0).max(0xffff_ffff).exactOptional(),
})

export const botSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][\w.-]{0,39}$/, {
    error: 'expected 1 to 40 letters, digits, dots, dashes or underscores, beginning with a letter or digit',
  }),
  strategy: z.string().min(1),
  /** Params of the strategy; the strategy's own schema checks them. */
  params: z.record(z.string(), z.unknown()).exactOptional(),
  mode: z.enum(['paper', 'live']).exactOptional(),
  executor: z.enum(['cloud', 'local']).exactOptional(),
  limits: limits.exactOptional(),
  exits: botExits.exactOptional(),
  orders: orders.exactOptional(),
  exitOrders: exitOrders.exactOptional(),
  tokenChecks: tokenChecks.exactOptional(),
  filters: filters.exactOptional(),
  /** Assumptions about the fills of this bot on paper; each overrides that of the section `paper`. */
  paper: assumptions.exactOptional(),
})

const defaults = z.strictObject({
  orders: orders.exactOptional(),
  exitOrders: exitOrders.exactOptional(),
  exits: defaultExits.exactOptional(),
  limits: limits.exactOptional(),
  tokenChecks: tokenChecks.exactOptional(),
  filters: filters.exactOptional(),
})

export const fileSchema = z.strictObject({
  service: service.exactOptional(),
  chain: chain.exactOptional(),
  wallet: wallet.exactOptional(),
  journal: journal.exactOptional(),
  alerts: alerts.exactOptional(),
  paper: paper.exactOptional(),
  defaults: defaults.exactOptional(),
  bots: z.array(botSchema).exactOptional(),
})

/** A configuration file with its own keys and units, after a check by the schema. */
export type FileInput = z.output<typeof fileSchema>
export type BotInput = z.output<typeof botSchema>
export type DefaultsInput = z.output<typeof defaults>
export type LimitsInput = z.output<typeof limits>
export type ExitsInput = z.output<typeof defaultExits>
export type BotExitsInput = z.output<typeof botExits>

function traitSwitches() {
  const one = () => z.enum(['refuse', 'allow']).exactOptional()
  return Object.fromEntries(MINT_TRAITS.map((trait) => [trait, one()])) as Record<MintTrait, ReturnType<typeof one>>
}

function address(scheme: SecureScheme) {
  return z.string().check(({ value, issues }) => {
    const problem = openAddressProblem(value, scheme)
    if (problem) issues.push({ code: 'custom', input: value, message: problem })
  })
}
