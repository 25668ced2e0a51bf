import { worstCaseOf, worstTogether } from '../../config/worst-case.ts'
import { accountOf } from '../../core/account.ts'
import type { Rpc } from '../../core/ports.ts'
import { isPublicHost } from '../../runtime/pacing.ts'
import { budgetedRpcs, genesisNamed } from '../../wiring/access/rpc-access.ts'
import { rpcVerdicts, type WalletFinding, walletVerdict } from './chain-verdicts.ts'
import type { Check } from './check.ts'
import type { Examined } from './examined.ts'
import type { SkewFinding } from './machine-verdicts.ts'
import { lookAtRpc, type RpcLook, slotsBehind } from './rpc-probe.ts'

/** What the RPCs told. */
export interface ChainFound {
  /** The live account of this service, chain and wallet. */
  readonly account: string
  /** Of the wallet; undefined where nobody could say. */
  readonly lamports: number | undefined
  /** `clock`: this machine's, against the service. */
  checks(clock: SkewFinding | undefined): { checks: Check[]; skews: SkewFinding[] }
}

/** Between a block and the moment at which a node calls it confirmed, about; and what its time may be off. */
const USUAL_AGE_MS = 1_500
const BLOCK_TIME_MS = 4_000

/** Asks every RPC, all at once, each within its own budget; half of it where a process is running on it. */
export async function examineChain({ config, service, clock, http, busy }: Examined): Promise<ChainFound> {
  const providers = service.rpc.map(({ requestsPerSecond, ...rpc }) => {
    return { ...rpc, requestsPerSecond: busy === undefined ? requestsPerSecond : requestsPerSecond / 2 }
  })
  const { each } = budgetedRpcs(providers, http, clock)
  const looks = await Promise.all(
    each.map((rpc, index) => {
      const { url, requestsPerSecond = 0 } = service.rpc[index] ?? { url: '' }
      const source = config.service.kind === 'sandbox' ? 'the sandbox' : config.chain.rpc[index]?.url.describe()
      const one = {
        name: `rpc ${index + 1}`,
        source: source ?? '',
        rpc,
        requestsPerSecond,
        isPublic: isPublicHost(url),
      }
      return lookAtRpc(one, service.wallet)
    }),
  )
  const configured = config.chain.cluster ?? ''
  const genesis =
    configured === '' ? (looks.find(({ finding }) => finding.genesis)?.finding.genesis ?? '') : genesisNamed(configured)
  const same = looks.flatMap(({ finding }, index) => (finding.genesis === genesis ? [index] : []))
  const behind = same.length < 2 ? [] : await slotsBehind(same.map((index) => each[index] as Rpc))
  const findings = looks.map(({ finding }, index) => ({ ...finding, behind: behind[same.indexOf(index)] ?? 0 }))
  const told = looks.find(({ finding, lamports }) => finding.genesis === genesis && lamports !== undefined)
  return {
    account: accountOf('live', service.host, genesis, service.wallet).id,
    lamports: told?.lamports,
    checks: (clockSkew) => {
      const isRight = clockSkew !== undefined && Math.abs(clockSkew.skewMs) <= clockSkew.plusMinusMs + 2_000
      const verdicts = findings.flatMap((finding) => rpcVerdicts(finding, { configured, genesis }, isRight))
      const skews = looks.filter(({ finding }) => finding.genesis === genesis).flatMap(skewOf)
      const wallet = service.wallet === '' ? [] : [walletVerdict(walletOf({ config, service }, told))]
      return { checks: [...verdicts, ...(looks.length === 0 ? [] : wallet)], skews }
    },
  }
}

function skewOf({ finding: { ageMs, name } }: RpcLook): SkewFinding[] {
  if (ageMs === null) return []
  return [{ against: `block time of ${name}`, skewMs: ageMs - USUAL_AGE_MS, plusMinusMs: BLOCK_TIME_MS }]
}

function walletOf({ config, service }: Pick<Examined, 'config' | 'service'>, told: RpcLook | undefined): WalletFinding {
  const live = config.bots.filter(({ mode }) => mode === 'live')
  const { limits } = config.wallet
  const bounded = live.filter((bot) => (bot.limits.maxLamportsPerOrder ?? limits.maxLamportsPerOrder) !== null)
  return {
    publicKey: service.wallet,
    unread: told === undefined ? 'no RPC could say what is in it' : '',
    lamports: told?.lamports ?? 0,
    tokens: told?.tokens ?? 0,
    perOrderLamports: Math.max(0, ...bounded.map((bot) => worstCaseOf(bot, limits, config.service.plan).perOrder)),
    exposureLamports: live.length === 0 ? 0 : worstTogether(live, limits, config.service.plan).loss,
    live: live.length,
  }
}
