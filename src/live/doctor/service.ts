import { walletOf } from '../../config/accounts.ts'
import { usualBuyOf, worstCaseOf } from '../../config/worst-case.ts'
import type { Plan } from '../../engine/settings.ts'
import { shareOf } from '../../orders/budget-status.ts'
import { proofOf } from '../../orders/service-facts.ts'
import { bootId, monotonicMs } from '../../runtime/system-clock.ts'
import { ViewModel } from '../../runtime/view/view-model.ts'
import { venueOf } from '../../venues/registry.ts'
import { planNeeds } from '../plan-needs.ts'
import { Trading } from '../trading.ts'
import type { ChainFound } from './chain.ts'
import { type Check, warn } from './check.ts'
import type { DoctorFindings } from './context.ts'
import { type Asked, type Asking, ask, knownIn, shapeOf } from './endpoint-probe.ts'
import { type FeedLook, lookAtFeed } from './feed-probe.ts'
import type { SkewFinding } from './machine.ts'
import {
  budgetVerdict,
  feedVerdict,
  keyVerdict,
  needsVerdict,
  type PlanFinding,
  planVerdict,
  type RecordFinding,
  recordVerdict,
  sellNumberVerdict,
  unitsVerdict,
} from './service-verdicts.ts'

export interface ServiceParts extends DoctorFindings {
  readonly mint: string
  readonly chain: Promise<ChainFound>
  readonly add: (...checks: Check[]) => void
  readonly say: (text: string) => void
}

const LOOK_MS = 10_000

/** Examines the API key, the plan, the requirements of the bots, the feed with its units, and the read-only endpoints.
 *  Returns the difference between this machine's clock and the clock of the service; undefined if no answer contained a
 *  time. */
export async function examineService(parts: ServiceParts): Promise<SkewFinding | undefined> {
  const { config, service, clock, add } = parts
  const look = await session(parts, () => lookAtFeed(service, clock, LOOK_MS))
  const source = config.service.kind === 'remote' ? (config.service.apiKey?.describe() ?? '') : 'the sandbox'
  add(keyVerdict(service.host, look.session, source))
  if (look.session.kind === 'refused') return undefined
  const plan = planFinding(parts, look)
  if (look.session.kind === 'authenticated') add(planVerdict(plan))
  const effective = plan.configured === 'auto' ? plan.known : plan.configured
  add(needsVerdict(needsOf(parts, effective)))
  if (look.feed !== undefined) add(feedVerdict(look.feed))
  const { accounts } = await parts.chain
  add(unitsVerdict(unitsOf(parts, look, accounts)), sellNumberVerdict(sellNumberOf(parts, accounts)))
  return readRecords(parts, effective, look.mint)
}

/** Observes the feed with a separate connection. Skips this if the plan has only one connection and a running process
 *  uses it. */
async function session({ busy, config }: ServiceParts, run: () => Promise<FeedLook>): Promise<FeedLook> {
  const configured = typeof config.service.plan === 'object' ? config.service.plan : undefined
  const connections = (busy?.health?.plan ?? configured ?? venueOf(config.service).plans.first('auto')).connections
  if (busy === undefined || connections > 1) return run()
  const reason = `the plan has one connection, and ${busy.holder} uses it`
  const units = { proved: false, quotedRatio: Number.NaN, prints: 0 }
  return { session: { kind: 'skipped', reason }, feed: undefined, units, mint: '' }
}

function planFinding({ config }: ServiceParts, { session }: FeedLook): PlanFinding {
  const { plan, share } = config.service
  const { plans } = venueOf(config.service)
  const custom = typeof plan === 'object' ? plan : undefined
  const planName = session.kind === 'authenticated' ? session.plan : ''
  const { plan: known, notice } = plans.named(planName)
  return {
    planName,
    known,
    notice,
    configured: custom ?? (plan === 'auto' ? plan : plans.named(String(plan)).plan),
    share,
  }
}

function needsOf({ config }: ServiceParts, plan: Plan): Parameters<typeof needsVerdict>[0] {
  const { bots } = config
  const live = bots.filter(({ mode }) => mode === 'live')
  const buys = live.map((bot) => {
    const asked = { ...plan, maxBuyLamports: bot.limits.maxLamportsPerOrder ?? plan.maxBuyLamports }
    return usualBuyOf(bot, worstCaseOf(bot, walletOf(config, bot).limits, asked))
  })
  const largestBuyLamports = Math.max(0, ...buys.map((buy) => buy ?? 0))
  const { positions, ...needs } = planNeeds(config, plan)
  return {
    ...needs,
    ...{ positions: live.length === 0 ? 0 : positions, largestBuyLamports, maxBuyLamports: plan.maxBuyLamports },
  }
}

function unitsOf(
  { config, journal }: ServiceParts,
  { units }: FeedLook,
  accounts: readonly string[],
): Parameters<typeof unitsVerdict>[0] {
  const { quotedRatio: quotedPerSol, prints, proved } = units
  const proof = proofOf(journal.past?.learned ?? [], accounts)
  const configured = config.service.units.tradeAmount === 'sol'
  const amount = proof?.tradeAmount ? 'probed' : proved ? 'seen' : configured ? 'configured' : 'open'
  return { amount, quotedPerSol, prints }
}

function sellNumberOf(
  { config, journal }: ServiceParts,
  accounts: readonly string[],
): Parameters<typeof sellNumberVerdict>[0] {
  const { sell } = config.service.units
  const proved = proofOf(journal.past?.learned ?? [], accounts)?.sellNumber ?? null
  return {
    unit: proved ?? (sell === 'auto' ? null : sell),
    by: proved !== null ? 'probe' : sell === 'auto' ? '' : 'configuration',
    contradicts: sell !== 'auto' && proved !== null && proved !== sell,
    live: config.bots.some(({ mode }) => mode === 'live'),
  }
}

async function readRecords(parts: ServiceParts, plan: Plan, seen: string): Promise<SkewFinding | undefined> {
  const { service, journal, http, config, clock, keyUse, busy, add, say } = parts
  const { past, writer } = journal
  if (busy !== undefined || past === undefined || writer === undefined) {
    const why =
      busy === undefined ? 'the journal, which counts requests, is not available' : `${busy.holder} uses the plan`
    add(warn('portfolio', `not tested: ${why}`, busy === undefined ? 'see journal' : 'stop the process to test it'))
    return undefined
  }
  const machine = { clock, monotonicMs, boot: bootId() }
  const { limiter } = new Trading({
    ...{ config, service, machine, journal: writer, model: new ViewModel(), past, keyUse, http },
    chain: undefined,
  })
  limiter.setRequestsPerMinute(shareOf(plan.requestsPerMinute, config.service.share))
  const asking: Asking = { service, http, limiter, journal: writer }
  let skew: SkewFinding | undefined
  say('waiting until the rate limit of the plan allows another request (at most a minute)')
  const look = async (name: RecordFinding['name'], key: string, lamports?: number): Promise<void> => {
    const asked = await ask(asking, name === 'portfolio' ? 'portfolio' : 'tokenInfo', key)
    skew ??= asked.skew
    add(recordVerdict(recordOf(parts, name, asked, { key, lamports })))
  }
  for (const { publicKey } of service.wallets)
    if (publicKey !== '') await look('portfolio', publicKey, (await parts.chain).balances.get(publicKey))
  const mint = parts.mint || seen
  if (mint !== '') await look('token info', mint)
  add(budgetVerdict(limiter.status()))
  return skew
}

/** Finding about an answer. Compares its fields with those of the previous examination, and stores them for the next
 *  one. */
function recordOf(
  { journal, service }: ServiceParts,
  name: RecordFinding['name'],
  { status, reason, value }: Asked,
  ours: { key: string; lamports: number | undefined },
): RecordFinding {
  const shape = status === 200 ? shapeOf(value) : []
  const about = service.host
  const before = journal.past?.learned.find((one) => one.about === about && one.name === name)?.value
  if (shape.length > 0)
    journal.writer?.write({ kind: 'learned', learned: { about, name, time: Date.now(), value: shape } })
  return { name, status, reason, shape, before: before as readonly string[] | undefined, ...knownIn(value, ours) }
}
