import { sign } from 'node:crypto'
import { solToLamports } from '../../src/base/units.ts'
import { LocalExecutor } from '../../src/chain/local-executor.ts'
import type { Rpc, RpcResult } from '../../src/chain/rpc/rpc.ts'
import { Sender } from '../../src/chain/sender.ts'
import type { SignRequest, SignResult } from '../../src/chain/signer/port.ts'
import { readRent } from '../../src/chain/verifier/chain-facts.ts'
import { examine } from '../../src/chain/verifier/checks-before-signing.ts'
import { LiveWallet } from '../../src/chain/wallet/live-wallet.ts'
import type { Fill } from '../../src/engine/order.ts'
import type { Attempt, CalledOff } from '../../src/orders/attempt.ts'
import type { Watch } from '../../src/orders/audit-records.ts'
import { BUILT_IN_POLICY, type BuilderPolicy } from '../../src/orders/builder-policy.ts'
import type { JournalRecord, Outcome } from '../../src/orders/ports.ts'
import type { AskedTrade, Built } from '../../src/orders/trade-request.ts'
import { budgetCalls, type Call, compileMessage, openCall, signMessage } from '../../src/sandbox/chain/message.ts'
import { type OpenedChain, openChain } from '../../src/sandbox/chain/open-chain.ts'
import { POOL_PROGRAM, type PoolTrade, poolInstruction } from '../../src/sandbox/chain/pool-program.ts'
import { dialectOf } from '../../src/sandbox/dialect.ts'
import { Faults } from '../../src/sandbox/faults.ts'
import { tokenAccountAddress } from '../../src/sandbox/keys.ts'
import { forgetfulRecords } from '../../src/sandbox/records.ts'
import { rpcMethods } from '../../src/sandbox/rpc/methods.ts'
import { RpcError } from '../../src/sandbox/rpc/params.ts'
import { sendMethods } from '../../src/sandbox/rpc/send.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { decodeTokenAccount } from '../../src/solana/token-account.ts'
import { MINT, StillMarket } from '../sandbox/still-market.ts'
import { buyAttempt, sellAttempt } from '../support/attempts.ts'
import { settled } from './scripted-chain.ts'

const SLOT_MS = 400
const ACCOUNT = 'live|test|chain|wallet'

/** A policy that allows only the program of the pool. */
const POLICY: BuilderPolicy = {
  ...BUILT_IN_POLICY,
  name: 'sandbox',
  programs: [{ id: POOL_PROGRAM, decode: 'pump' }],
}

/** A fault of the node. It replaces an answer, throws an error code, or delays the answer with a promise. */
export type Fault = (method: string, params: readonly unknown[], honest: () => unknown) => unknown

/**
 * A wallet with the local executor on a Solana runtime of its own, in this process and on simulated time. The test
 * replaces the builder service by `build` and the signer by `sign`.
 */
export class LocalRig {
  readonly clock = new SimulatedClock(1_700_000_000_000)
  readonly market = new StillMarket(() => {})
  readonly faults = new Faults(1)
  readonly records: JournalRecord[] = []
  readonly late: Fill[] = []
  readonly kept: string[] = []
  readonly alarms: string[] = []
  /** The steps `signed`, `durable` and `sent` in the order in which they happened. */
  readonly steps: string[] = []
  readonly calls: string[] = []
  fault: Fault | undefined
  /** The fault of the second node, which serves only the checks before signing. */
  secondFault: Fault | undefined
  policy: BuilderPolicy = POLICY
  reserved = { boundLamports: solToLamports(0.2) as number, reservedLamports: 0, headroomLamports: 0 }
  /** Lamports that other orders reserve. The rig does not execute these orders. */
  reservedByOthers = 0
  refusalOf: (orderId: string) => CalledOff | 'TTL' | undefined = () => undefined
  build: (attempt: Attempt) => Promise<Built> = async (attempt) => this.built(attempt)
  sign: (request: SignRequest) => Promise<SignResult> = async ({ message }) => {
    this.steps.push('signed')
    return { ok: true, signature: sign(null, message, this.chain.wallet.key) }
  }
  chain!: OpenedChain
  wallet!: LiveWallet
  executor!: LocalExecutor
  readonly #outcomes = new Map<string, Outcome[]>()
  #orders = 0
  #life = 0
  readonly #nodes: 1 | 2

  private constructor(nodes: 1 | 2) {
    this.#nodes = nodes
  }

  static async open(nodes: 1 | 2 = 1): Promise<LocalRig> {
    const rig = new LocalRig(nodes)
    const { clock, market } = rig
    const records = forgetfulRecords()
    const how = { clock, market, records, dialect: dialectOf(0), seed: 1, entropy: 'test', slotMs: SLOT_MS }
    rig.chain = await openChain({ ...how, chain: 'runtime' })
    rig.#start([])
    await rig.pass(2_000)
    return rig
  }

  get user(): string {
    return this.chain.wallet.address
  }

  get lamports(): number {
    return this.chain.ledger.account(this.user, 'processed')?.lamports ?? 0
  }

  held(): bigint {
    const account = this.chain.ledger.account(tokenAccountAddress(this.user, MINT, PROGRAMS.token), 'processed')
    return (account && decodeTokenAccount(account.data)?.amount) ?? 0n
  }

  buy(sol = 0.1, more: Partial<Attempt> = {}): Attempt {
    return buyAttempt(MINT, sol, this.#armed(more))
  }

  sell(more: Partial<Attempt> = {}): Attempt {
    return sellAttempt(MINT, this.#armed(more))
  }

  execute(attempt: Attempt): void {
    this.executor.execute(attempt, this.#hear(attempt))
  }

  /** Crashes the process. The next process resumes the given attempts as if it had read them from the journal. */
  async crash(...attempts: Attempt[]): Promise<void> {
    const watches = new Map<string, Watch>()
    for (const record of this.records) {
      if (record.kind === 'watch') watches.set(record.watch.attempt.id, record.watch)
      if (record.kind === 'watchOver') watches.delete(record.attemptId)
    }
    this.wallet.stop()
    this.#start([...watches.values()])
    for (const attempt of attempts) this.executor.resume(attempt, this.#hear(attempt))
    this.wallet.start()
    await this.pass(0)
  }

  kinds(attempt: Attempt): string {
    return (this.#outcomes.get(attempt.id) ?? [])
      .map((one) => ('final' in one ? `${one.kind}${one.final ? '!' : '?'}` : one.kind))
      .join(' ')
  }

  last(attempt: Attempt): Outcome | undefined {
    return this.#outcomes.get(attempt.id)?.at(-1)
  }

  async pass(ms: number): Promise<void> {
    const until = this.clock.now() + ms
    await settled()
    while (this.clock.nextAt() <= until) {
      this.clock.advanceTo(this.clock.nextAt())
      await settled()
    }
    this.clock.advanceTo(until)
    await settled()
  }

  slots(count: number): Promise<void> {
    return this.pass(count * SLOT_MS)
  }

  async until(isTrue: () => boolean, mostSlots: number): Promise<void> {
    for (let count = 0; !isTrue(); count++) {
      if (count > mostSlots) throw new Error(`not within ${mostSlots} slots: ${isTrue}`)
      await this.slots(1)
    }
  }

  /** Returns the trade that the service was asked to build for the attempt. */
  asked({ side, size, mint, slippagePercent }: Attempt): AskedTrade {
    const terms = { wallet: this.user, mint, slippagePercent, priorityFeeLamports: null }
    if (side === 'buy' && size.kind === 'sol') return { ...terms, side, lamports: size.lamports }
    return { ...terms, side: 'sell', amount: { kind: 'all' } }
  }

  /** Returns an honest transaction for the attempt. `calls` and `bytes` change it. */
  built(
    attempt: Attempt,
    spoil: { calls?: (calls: Call[]) => Call[]; bytes?: (bytes: Uint8Array) => Uint8Array; height?: number } = {},
  ): Built {
    const { ledger } = this.chain
    const { blockhash, lastValidBlockHeight } = ledger.latestBlockhash('finalized')
    const calls = [...budgetCalls(200_000, 10_000), ...this.trade(attempt)]
    const message = compileMessage({ payer: this.user, blockhash, calls: spoil.calls?.(calls) ?? calls })
    const bytes = signMessage(message, new Map())
    return {
      kind: 'built',
      asked: this.asked(attempt),
      bytes: spoil.bytes?.(bytes) ?? bytes,
      lastValidBlockHeight: spoil.height ?? lastValidBlockHeight,
    }
  }

  trade({ side, size, slippagePercent }: Attempt): Call[] {
    const { curve } = this.market.token(MINT)!
    const share = (amount: bigint): bigint => (amount * BigInt(Math.round((100 - slippagePercent) * 100))) / 10_000n
    if (side === 'buy' && size.kind === 'sol') {
      const { tokens } = curve.quoteBuy(BigInt(size.lamports))
      const trade: PoolTrade = { side, exact: 'in', lamports: BigInt(size.lamports), tokens: share(tokens) }
      return [openCall(this.user, this.user, MINT, PROGRAMS.token), poolInstruction(this.user, MINT, trade)]
    }
    const tokens = this.held()
    const { sol, fee } = curve.quoteSell(tokens)
    return [poolInstruction(this.user, MINT, { side: 'sell', exact: 'out', lamports: share(sol - fee), tokens })]
  }

  #start(watches: Watch[]): void {
    const life = ++this.#life
    const isAlive = (): boolean => life === this.#life
    const rpc = this.#node(isAlive, () => this.fault)
    const second = this.#node(isAlive, () => this.secondFault)
    const { clock: own, chain, records } = this
    const clock = {
      now: () => own.now(),
      after: (ms: number, run: () => void) => own.after(ms, () => isAlive() && run()),
    }
    const write = (record: JournalRecord): void => void (isAlive() && records.push(structuredClone(record)))
    this.wallet = new LiveWallet({
      ...{
        rpcs: { any: rpc, each: [rpc] },
        clock,
        monotonicMs: () => own.now(),
        boot: 'boot 1',
        account: ACCOUNT,
        write,
      },
      ...{ genesis: chain.ledger.genesisHash, wallet: this.user, lateMs: 120_000 },
      secondOpinionLamports: solToLamports(1),
      past: { cursor: undefined, transactions: [], watches },
      booked: () => new Map(),
      late: (_attempt, fill) => void this.late.push(fill),
      paid: () => {},
      standIn: () => {
        throw new Error('a locally signed attempt needs no replacement')
      },
      on: {
        ...{ gate: () => {}, foreign: () => {}, deficit: () => {}, landed: () => {}, notice: () => {} },
        alarm: (text) => this.alarms.push(text),
        undecided: (text) => this.alarms.push(text),
      },
    })
    this.executor = new LocalExecutor({
      ...{
        clock,
        rpcs: [rpc, second].slice(0, this.#nodes),
        policy: this.policy,
        policyHash: 'hash',
        rent: readRent,
        examine,
        resolve: this.wallet.resolver,
      },
      build: (attempt) => this.build(attempt),
      signer: { sign: (request) => this.sign(request) },
      sender: new Sender({ providers: [rpc], clock, alarm: (text) => this.alarms.push(text) }),
      room: () => ({
        boundLamports: BigInt(this.reserved.boundLamports),
        reservedLamports: BigInt(this.reserved.reservedLamports),
        headroomLamports: BigInt(this.reserved.headroomLamports),
      }),
      refusalOf: (orderId) => this.refusalOf(orderId),
      commit: (then) => {
        this.steps.push('durable')
        clock.after(1, then)
      },
      keep: (why) => this.kept.push(why),
    })
    this.wallet.start()
  }

  #armed(more: Partial<Attempt>): Partial<Attempt> {
    const orderId = `o${++this.#orders}`
    const common = {
      id: `${orderId}.1`,
      orderId,
      account: ACCOUNT,
      executor: 'local' as const,
      state: 'built' as const,
    }
    return { ...common, armedAt: this.clock.now(), baseline: this.wallet.baseline(), ...more }
  }

  #hear(attempt: Attempt): (outcome: Outcome) => void {
    const outcomes = this.#outcomes.get(attempt.id) ?? []
    this.#outcomes.set(attempt.id, outcomes)
    return (outcome) => outcomes.push(outcome)
  }

  #node(isAlive: () => boolean, faultOf: () => Fault | undefined): Rpc {
    const methods = { ...rpcMethods(this.chain.ledger), ...sendMethods(this.chain.ledger, this.faults) }
    return async (method, params): Promise<RpcResult> => {
      if (!isAlive()) return new Promise(() => {})
      this.calls.push(method)
      if (method === 'sendTransaction') this.steps.push('sent')
      const honest = (): unknown => methods[method]?.([...params])
      try {
        const fault = faultOf()
        const value = await (fault === undefined ? honest() : fault(method, params, honest))
        return { ok: true, value: structuredClone(value ?? null) }
      } catch (error) {
        if (typeof error === 'number') return { ok: false, code: error, message: `fault ${error}` }
        if (!(error instanceof RpcError)) throw error
        return { ok: false, code: error.code, message: error.message }
      }
    }
  }
}
