import { HIGHEST_TRANSACTION_VERSION } from '../../chain/landed/landed-transaction.ts'
import { readBalance, readBlockTime, readFirstSlot, readHoldings, Unread } from '../../chain/rpc/read.ts'
import type { Rpc, RpcResult } from '../../chain/rpc/rpc.ts'
import { RPC_BEHIND, RPC_UNREACHABLE } from '../../chain/rpc/rpc-errors.ts'
import { walletCalled } from '../../config/accounts.ts'
import type { Config } from '../../config/config.ts'
import { worstCaseOf, worstTogether } from '../../config/worst-case.ts'
import { accountOf } from '../../engine/account.ts'
import { isPublicHost } from '../pacing.ts'
import { budgetedRpcs, clusterName, genesisNamed } from '../rpc-access.ts'
import type { WalletKeys } from '../service-access.ts'
import {
  type MethodFinding,
  type RpcFinding,
  rpcVerdicts,
  type WalletFinding,
  walletVerdict,
} from './chain-verdicts.ts'
import type { Check } from './check.ts'
import type { DoctorFindings } from './context.ts'
import type { SkewFinding } from './machine.ts'

/** Findings from all configured RPCs. */
export interface ChainFound {
  /** Ids of the live accounts that belong to this service, this chain and the wallets. */
  readonly accounts: readonly string[]
  /** Balances by the public key of the wallet. A wallet whose balance no RPC has returned is absent. */
  readonly balances: ReadonlyMap<string, number>
  /** Returns the checks, and by how much this machine's clock differs from the clock of each RPC. `clock`: the
   *  difference between this machine's clock and the clock of the service. */
  checks(clock: SkewFinding | undefined): { checks: Check[]; skews: SkewFinding[] }
}

/** Typical age of a block when a node reports it as confirmed, ms. `BLOCK_TIME_MS`: uncertainty of a block's time. */
const USUAL_AGE_MS = 1_500
const BLOCK_TIME_MS = 4_000

/** Examines all RPCs at the same time, each within its request rate. While another process uses the API key, the checks
 *  use only half of each rate. */
export async function examineChain({ config, service, clock, http, busy }: DoctorFindings): Promise<ChainFound> {
  const providers = service.rpc.map(({ requestsPerSecond, ...rpc }) => {
    return { ...rpc, requestsPerSecond: busy === undefined ? requestsPerSecond : requestsPerSecond / 2 }
  })
  const { each } = budgetedRpcs(providers, http, clock)
  const [first, ...others] = service.wallets
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
      return lookAtRpc(one, first?.publicKey ?? '')
    }),
  )
  const configured = config.chain.cluster ?? ''
  const genesis =
    configured === '' ? (looks.find(({ finding }) => finding.genesis)?.finding.genesis ?? '') : genesisNamed(configured)
  const same = looks.flatMap(({ finding }, index) => (finding.genesis === genesis ? [index] : []))
  const behind = same.length < 2 ? [] : await slotsBehind(same.map((index) => each[index] as Rpc))
  const findings = looks.map(({ finding }, index) => ({ ...finding, behind: behind[same.indexOf(index)] ?? 0 }))
  const withBalance = looks.find(({ finding, lamports }) => finding.genesis === genesis && lamports !== undefined)
  const read = new Map<string, WalletLook>()
  if (first !== undefined && withBalance?.lamports !== undefined)
    read.set(first.publicKey, { lamports: withBalance.lamports, tokens: withBalance.tokens })
  const node = withBalance && each[looks.indexOf(withBalance)]
  for (const { publicKey } of others) {
    const look = node && (await lookAtWallet(node, publicKey))
    if (look !== undefined) read.set(publicKey, look)
  }
  return {
    accounts: service.wallets.map(({ publicKey }) => accountOf('live', service.host, genesis, publicKey).id),
    balances: new Map([...read].map(([publicKey, { lamports }]) => [publicKey, lamports])),
    checks: (clockSkew) => {
      const isRight = clockSkew !== undefined && Math.abs(clockSkew.skewMs) <= clockSkew.plusMinusMs + 2_000
      const verdicts = findings.flatMap((finding) => rpcVerdicts(finding, { configured, genesis }, isRight))
      const skews = looks.filter(({ finding }) => finding.genesis === genesis).flatMap(skewOf)
      const known = looks.length === 0 ? [] : service.wallets.filter(({ publicKey }) => publicKey !== '')
      const wallets = known.map((wallet) => walletVerdict(walletOf(config, wallet, read.get(wallet.publicKey))))
      return { checks: [...verdicts, ...wallets], skews }
    },
  }
}

function skewOf({ finding: { ageMs, name } }: RpcLook): SkewFinding[] {
  if (ageMs === null) return []
  return [{ against: `block time of ${name}`, skewMs: ageMs - USUAL_AGE_MS, plusMinusMs: BLOCK_TIME_MS }]
}

/** What one RPC has returned about a wallet. */
type WalletLook = Pick<WalletFinding, 'lamports' | 'tokens'>

async function lookAtWallet(rpc: Rpc, publicKey: string): Promise<WalletLook | undefined> {
  try {
    const { lamports } = await readBalance(rpc, publicKey, 0)
    return { lamports, tokens: held(await readHoldings(rpc, publicKey)) }
  } catch (error) {
    if (!(error instanceof Unread)) throw error
    return undefined
  }
}

function held(holdings: Awaited<ReturnType<typeof readHoldings>>): number {
  return [...holdings.values()].filter(({ tokens }) => tokens > 0n).length
}

function walletOf(config: Config, { name, publicKey }: WalletKeys, look: WalletLook | undefined): WalletFinding {
  const live = config.bots.filter(({ mode, wallet = '' }) => mode === 'live' && wallet === name)
  const { limits } = walletCalled(config.wallets, name)
  const bounded = live.filter((bot) => (bot.limits.maxLamportsPerOrder ?? limits.maxLamportsPerOrder) !== null)
  return {
    ...{ name, publicKey },
    unread: look === undefined ? 'no RPC returned the balance' : '',
    lamports: look?.lamports ?? 0,
    tokens: look?.tokens ?? 0,
    perOrderLamports: Math.max(0, ...bounded.map((bot) => worstCaseOf(bot, limits, config.service.plan).perOrder)),
    exposureLamports: live.length === 0 ? 0 : worstTogether(live, limits, config.service.plan).loss,
    live: live.length,
  }
}

export interface RpcToAsk {
  readonly name: string
  readonly source: string
  readonly rpc: Rpc
  readonly requestsPerSecond: number
  readonly isPublic: boolean
}

export interface RpcLook {
  readonly finding: RpcFinding
  /** Balance of the wallet; undefined if it was not read. */
  readonly lamports: number | undefined
  readonly tokens: number
}

/** Number of slots ahead of the present one; no chain has reached such a slot. */
const FAR_FUTURE_SLOTS = 10000000
/** Placeholders if no wallet is configured. `SOME_ACCOUNT`: a Solana account that exists on every chain.
 *  `NO_SIGNATURE`: a signature that exists on no chain. */
const SOME_ACCOUNT = '11111111111111111111111111111111'
const NO_SIGNATURE = '1'.repeat(64)
const RESTED_MS = 1200

async function lookAtRpc(one: RpcToAsk, wallet: string): Promise<RpcLook> {
  const look = new Look(one)
  const { name, source, requestsPerSecond, isPublic } = one
  const account = wallet || SOME_ACCOUNT
  const start = performance.now()
  const genesis = await look.rpc('getGenesisHash', [])
  const ms = performance.now() - start
  const known = { name, source, requestsPerSecond, isPublic, ms }
  if (!genesis.ok) {
    const unreachable = genesis.message.replace(/^RPC 1: /, '')
    return { finding: { ...NOTHING, ...known, unreachable, throttled: look.throttled }, lamports: undefined, tokens: 0 }
  }
  const version = await look.rpc('getVersion', [])
  const epoch = await look.call('getEpochInfo', [{ commitment: 'confirmed' }])
  const slot = numberIn(epoch, 'absoluteSlot') ?? 0
  const slotAt = Date.now()
  const balance = await look.call('getBalance', [account, { commitment: 'finalized', minContextSlot: 0 }])
  const rows = await look.call('getSignaturesForAddress', [account, { commitment: 'finalized', limit: 1 }])
  const signature = (Array.isArray(rows) ? (rows[0] as { signature?: unknown })?.signature : undefined) ?? NO_SIGNATURE
  const how = { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: HIGHEST_TRANSACTION_VERSION }
  await look.call('getTransaction', [signature, how])
  await look.call('getSignatureStatuses', [[signature], { searchTransactionHistory: true }])
  const holdings = await look.read('getTokenAccountsByOwner', () => readHoldings(look.rpc, account))
  const first = await look.read('getFirstAvailableBlock', () => readFirstSlot(look.rpc))
  const newest = await look.read('getBlockTime', () => newestBlockTime(look.rpc, slot))
  const oldest = first === undefined ? undefined : await blockTimeFrom(look.rpc, first)
  const minContextSlot = await look.keepsMinContextSlot(account, slot + FAR_FUTURE_SLOTS)
  const finding: RpcFinding = {
    ...known,
    unreachable: '',
    genesis: typeof genesis.value === 'string' ? genesis.value : '',
    cluster: clusterName(String(genesis.value)),
    version: version.ok
      ? String((version.value as Record<string, unknown> | null)?.['solana-core'] ?? '').slice(0, 20)
      : '',
    methods: look.methods,
    minContextSlot,
    slot,
    behind: 0,
    ageMs: newest === undefined ? null : slotAt - newest,
    historyMs: newest === undefined || oldest === undefined ? null : newest - oldest,
    throttled: look.throttled,
  }
  const tokens = holdings === undefined ? 0 : held(holdings)
  return { finding, lamports: numberIn(balance, 'value'), tokens }
}

/** Returns the number of slots by which each node is behind. All nodes are asked twice: the slots of the second round
 *  are compared with the newest slot of the first round. Within a single round, the node that answers last would seem
 *  to be ahead. */
export async function slotsBehind(rpcs: readonly Rpc[]): Promise<number[]> {
  const first = await slotsOf(rpcs)
  const later = await slotsOf(rpcs)
  const best = Math.max(0, ...first)
  return later.map((slot) => (slot === 0 ? 0 : Math.max(0, best - slot)))
}

/** Newest slot of each node; 0 for a node that does not answer. */
function slotsOf(rpcs: readonly Rpc[]): Promise<number[]> {
  return Promise.all(
    rpcs.map(async (rpc) => {
      const answer = await rpc('getEpochInfo', [{ commitment: 'confirmed' }])
      return (answer.ok && numberIn(answer.value, 'absoluteSlot')) || 0
    }),
  )
}

const NOTHING = {
  ...{ genesis: '', cluster: '', version: '', methods: [], minContextSlot: null, slot: 0, behind: 0 },
  ...{ ageMs: null, historyMs: null },
}

class Look {
  readonly methods: MethodFinding[] = []
  throttled = false
  readonly #one: RpcToAsk

  constructor(one: RpcToAsk) {
    this.#one = one
  }

  /** Calls the node. Repeats the call once if the node was unreachable, or refused the call because of its rate limit.
   *  */
  readonly rpc: Rpc = async (method, params) => {
    const answer = await this.#one.rpc(method, params)
    if (answer.ok || answer.code !== RPC_UNREACHABLE) return answer
    this.throttled ||= answer.message.includes('429')
    await new Promise((resolve) => setTimeout(resolve, RESTED_MS))
    return this.#one.rpc(method, params)
  }

  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const answer = await this.rpc(method, params)
    this.methods.push({ method, problem: problemOf(answer) })
    return answer.ok ? answer.value : undefined
  }

  /** Runs a read with Sluice's own parser, which detects answers of an unexpected shape; undefined if the read
   *  fails. */
  async read<T>(method: string, run: () => Promise<T>): Promise<T | undefined> {
    try {
      const value = await run()
      this.methods.push({ method, problem: '' })
      return value
    } catch (error) {
      if (!(error instanceof Unread)) throw error
      this.methods.push({ method, problem: error.message.slice(0, 120) })
      return undefined
    }
  }

  /** Whether the node refuses a `minContextSlot` that it has not reached, in the three reads that prove that a
   *  transaction is absent; null if a read was not possible. */
  async keepsMinContextSlot(account: string, minContextSlot: number): Promise<boolean | null> {
    const options = { commitment: 'finalized', minContextSlot }
    const answers = [
      await this.rpc('getEpochInfo', [options]),
      await this.rpc('getBalance', [account, options]),
      await this.rpc('getSignaturesForAddress', [account, { ...options, limit: 1 }]),
    ]
    if (answers.some(({ ok }) => ok)) return false
    return answers.every((answer) => !answer.ok && answer.code === RPC_BEHIND) ? true : null
  }
}

function problemOf(answer: RpcResult): string {
  return answer.ok ? '' : `${answer.code} ${answer.message}`.slice(0, 120)
}

/** Time of the newest block whose time the node knows. A node may not know the time of its newest blocks yet, so older
 *  ones are tried. */
async function newestBlockTime(rpc: Rpc, slot: number): Promise<number> {
  for (const back of [0, 8]) {
    try {
      return await readBlockTime(rpc, slot - back)
    } catch (error) {
      if (!(error instanceof Unread)) throw error
    }
  }
  return readBlockTime(rpc, slot - 32)
}

/** Time of the first block from the slot `first` on. Tries three slots, because the first ones may have no block. */
async function blockTimeFrom(rpc: Rpc, first: number): Promise<number | undefined> {
  for (let slot = first; slot < first + 3; slot++) {
    const answer = await rpc('getBlockTime', [slot])
    if (answer.ok && typeof answer.value === 'number') return answer.value * 1000
  }
  return undefined
}

function numberIn(value: unknown, field: string): number | undefined {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined
  return Number.isSafeInteger(found) ? (found as number) : undefined
}
