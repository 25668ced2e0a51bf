import { solToLamports, type TokenAmount } from '../../src/base/units.ts'
import type { Resolution } from '../../src/chain/resolver/resolver.ts'
import type { Rpc, RpcResult } from '../../src/chain/rpc/rpc.ts'
import { inTurn } from '../../src/chain/rpc/rpc.ts'
import { type Foreign, LiveWallet } from '../../src/chain/wallet/live-wallet.ts'
import type { Fill } from '../../src/engine/order.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { WalletCursor, WalletTransaction, Watch } from '../../src/orders/audit-records.ts'
import type { JournalRecord, Outcome } from '../../src/orders/ports.ts'
import type { Ledger } from '../../src/sandbox/chain/ledger.ts'
import { transferProgram } from '../../src/sandbox/chain/program.ts'
import { SmallLedger } from '../../src/sandbox/chain/small-ledger.ts'
import { TRADE_PROGRAM, type TradeData, TradeProgram } from '../../src/sandbox/chain/trade-program.ts'
import { tokenAccountAddress, walletAddress } from '../../src/sandbox/keys.ts'
import { forgetfulRecords } from '../../src/sandbox/records.ts'
import { rpcMethods } from '../../src/sandbox/rpc/methods.ts'
import { RpcError } from '../../src/sandbox/rpc/params.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { decodeTokenAccount } from '../../src/solana/token-account.ts'
import { MINT, StillMarket } from '../sandbox/still-market.ts'
import { buyAttempt, sellAttempt } from '../support/attempts.ts'
import { settled } from './scripted-chain.ts'

export { MINT } from '../sandbox/still-market.ts'

const SLOT_MS = 400
export const WALLET = walletAddress(Buffer.alloc(32, 7))
export const STRANGER = walletAddress(Buffer.alloc(32, 8))
const ACCOUNT = 'live|test|chain|wallet'

/** A fault of a node: it replaces an answer, or throws a number as an error code. */
export type Fault = (method: string, params: readonly unknown[], honest: () => unknown) => unknown

export interface Late {
  readonly attempt: Attempt
  readonly fill: Fill
  readonly code: string
}

/**
 * A watched wallet on a chain of its own, with the sandbox's ledger and RPC, in this process and on simulated time.
 * After a crash, a new process resumes from the records of the old one.
 */
export class WalletRig {
  readonly clock = new SimulatedClock(1_700_000_000_000)
  readonly market = new StillMarket(() => {})
  readonly ledger: Ledger
  readonly calls: [method: string, params: readonly unknown[]][] = []
  readonly records: JournalRecord[] = []
  readonly late: Late[] = []
  /** The fees of failed transactions. Each has the attempt to which the resolver assigned it. */
  readonly paid: [attemptId: string, signature: string, feeLamports: number][] = []
  /** Attempts that were created for transactions that belong to an order but to none of its known attempts. */
  readonly standIns: Attempt[] = []
  readonly foreign: Foreign[] = []
  readonly deficits: [mint: string, tokens: TokenAmount][] = []
  readonly gate: boolean[] = []
  /** Whether at most one buy may be open at present. */
  isSingle = false
  readonly notices: string[] = []
  readonly alarms: string[] = []
  /** The faults of the first node and, if there is one, of the second. */
  faults: (Fault | undefined)[] = []
  booked = new Map<string, TokenAmount>()
  boot = 'boot 1'
  /** How far the monotonic clock has run ahead of the wall clock, ms. */
  monotonicAhead = 0
  wallet!: LiveWallet
  readonly #outcomes = new Map<string, Outcome[]>()
  readonly #nodes: number
  #orders = 0
  #life = 0

  constructor(nodes = 1) {
    this.#nodes = nodes
    this.ledger = new SmallLedger({
      ...{ clock: this.clock, records: forgetfulRecords(), seed: 1, entropy: 'test' },
      programs: { [TRADE_PROGRAM]: new TradeProgram(this.market, () => {}), transfer: transferProgram },
      funds: { [WALLET]: solToLamports(10), [STRANGER]: solToLamports(10) },
    })
    this.open()
  }

  /** Starts a process that reads the records of the earlier processes. */
  open(): void {
    const life = ++this.#life
    const methods = rpcMethods(this.ledger)
    const each = Array.from({ length: this.#nodes }, (_, node) => this.#node(methods, node))
    const { clock } = this
    this.wallet = new LiveWallet({
      rpcs: { any: inTurn(each), each },
      clock: { now: () => clock.now(), after: (ms, run) => clock.after(ms, () => life === this.#life && run()) },
      monotonicMs: () => clock.now() + this.monotonicAhead,
      boot: this.boot,
      account: ACCOUNT,
      genesis: this.ledger.genesisHash,
      wallet: WALLET,
      lateMs: 120_000,
      secondOpinionLamports: solToLamports(1),
      past: this.past(),
      booked: () => this.booked,
      write: (record) => void (life === this.#life && this.records.push(structuredClone(record))),
      late: (attempt, fill, code) => void (life === this.#life && this.late.push({ attempt, fill, code })),
      paid: ({ id }, signature, fee) => void (life === this.#life && this.paid.push([id, signature, fee])),
      standIn: (attempt) => this.#standIn(attempt),
      on: {
        gate: (open, single) => {
          if (this.gate.at(-1) !== open) this.gate.push(open)
          this.isSingle = single
        },
        foreign: (row) => this.foreign.push(row),
        deficit: (mint, tokens) => this.deficits.push([mint, tokens]),
        landed: () => {},
        notice: (text) => this.notices.push(text),
        alarm: (text) => this.alarms.push(text),
        undecided: (text) => this.alarms.push(text),
      },
    })
  }

  /** Returns the state of the wallet as it would be read from the journal. */
  past(): { cursor: WalletCursor | undefined; transactions: WalletTransaction[]; watches: Watch[] } {
    const watches = new Map<string, Watch>()
    const transactions = new Map<string, WalletTransaction>()
    let cursor: WalletCursor | undefined
    for (const record of this.records) {
      if (record.kind === 'watch') watches.set(record.watch.attempt.id, record.watch)
      if (record.kind === 'watchOver') watches.delete(record.attemptId)
      if (record.kind !== 'wallet') continue
      cursor = record.cursor
      for (const row of record.transactions) transactions.set(row.signature, row)
    }
    return { cursor, transactions: [...transactions.values()], watches: [...watches.values()] }
  }

  /** Crashes the process. The next process resumes the given attempts. */
  async crash(...attempts: Attempt[]): Promise<void> {
    this.wallet.stop()
    this.open()
    for (const attempt of attempts)
      this.wallet.resolver.resume(attempt, (outcome) => this.#outcomes.get(attempt.id)?.push(outcome))
    this.wallet.start()
    await this.pass(0)
  }

  /** Starts the wallet and waits until its first audit has read the chain. */
  async ready(): Promise<this> {
    this.wallet.start()
    await this.pass(1_000)
    return this
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

  /** Lets Solana slots pass until the condition is true. Returns the number of slots that passed. */
  async until(isTrue: () => boolean, most: number): Promise<number> {
    for (let count = 0; count <= most; count++) {
      if (isTrue()) return count
      await this.slots(1)
    }
    throw new Error(`not within ${most} slots: ${isTrue}; notices: ${this.notices.slice(-5).join(' | ')}`)
  }

  buy(sol = 0.1, more: Partial<Attempt> = {}): Attempt {
    return buyAttempt(MINT, sol, this.#armed(more))
  }

  sell(more: Partial<Attempt> = {}): Attempt {
    return sellAttempt(MINT, this.#armed(more))
  }

  /** Sends an attempt. The resolver then determines the outcome, and `kinds` returns the kinds of the outcomes that the
   *  resolver has reported. */
  send(attempt: Attempt): Resolution {
    const outcomes: Outcome[] = []
    this.#outcomes.set(attempt.id, outcomes)
    return this.wallet.resolver.begin(attempt, (outcome) => outcomes.push(outcome))
  }

  /** Sends an attempt whose answer is lost. */
  lose(attempt: Attempt): Resolution {
    const resolution = this.send(attempt)
    resolution.doubt('ECONNRESET')
    resolution.hungUp()
    return resolution
  }

  outcomes(attempt: Attempt): readonly Outcome[] {
    return this.#outcomes.get(attempt.id) ?? []
  }

  kinds(attempt: Attempt): string {
    return this.outcomes(attempt)
      .map((one) => ('final' in one ? `${one.kind}${one.final ? '!' : '?'}` : one.kind))
      .join(' ')
  }

  /** Trades as the service does; the transaction lands after `afterSlots` slots. Returns the signature. */
  trade(side: 'buy' | 'sell' = 'buy', more: Partial<TradeData> = {}, afterSlots = 2): string {
    const data: TradeData = {
      ...{ side, wallet: WALLET, mint: MINT, exact: side === 'buy' ? 'in' : 'out', lamports: side === 'buy' ? 1e8 : 0 },
      ...{ tokens: side === 'buy' ? 0n : this.held(), serviceFeeBps: 0, slippagePercent: 10, priorityFeeSol: 0 },
      ...{ opens: false, closes: false, fails: false, ...more },
    }
    const transaction = { payer: WALLET, instruction: { program: TRADE_PROGRAM, data }, priorityFeeLamports: 0 }
    return this.ledger.submit(transaction, afterSlots)
  }

  transfer(from: string, to: string, sol: number, afterSlots = 2): string {
    const data = { from, to, lamports: solToLamports(sol) }
    const transaction = { payer: from, instruction: { program: 'transfer', data }, priorityFeeLamports: 0 }
    return this.ledger.submit(transaction, afterSlots)
  }

  held(): bigint {
    const account = this.ledger.account(tokenAccountAddress(WALLET, MINT), 'processed')
    return (account && decodeTokenAccount(account.data)?.amount) ?? 0n
  }

  /** Returns the class of each classified transaction, by signature. */
  classes(): Record<string, string> {
    return Object.fromEntries(this.past().transactions.map((row) => [row.signature, row.class]))
  }

  progress(attempt: Attempt): string {
    return this.past().watches.find((watch) => watch.attempt.id === attempt.id)?.progress ?? ''
  }

  #armed(more: Partial<Attempt>): Partial<Attempt> {
    const orderId = `o${++this.#orders}`
    const common = { id: `${orderId}.1`, orderId, account: ACCOUNT, executor: 'cloud' as const }
    return { ...common, armedAt: this.clock.now(), baseline: this.wallet.baseline(), ...more }
  }

  #standIn(of: Attempt): { attempt: Attempt; done: (outcome: Outcome) => void } {
    const attempt = { ...of, id: `${of.orderId}.${100 + this.standIns.length}` }
    this.standIns.push(attempt)
    const outcomes: Outcome[] = []
    this.#outcomes.set(attempt.id, outcomes)
    return { attempt, done: (outcome) => outcomes.push(outcome) }
  }

  #node(methods: ReturnType<typeof rpcMethods>, node: number): Rpc {
    return async (method, params): Promise<RpcResult> => {
      this.calls.push([method, params])
      const honest = (): unknown => methods[method]?.([...params])
      try {
        const fault = this.faults[node]
        const value = fault === undefined ? honest() : fault(method, params, honest)
        return { ok: true, value: structuredClone(value ?? null) }
      } catch (error) {
        if (typeof error === 'number') return { ok: false, code: error, message: `fault ${error}` }
        if (!(error instanceof RpcError)) throw error
        return { ok: false, code: error.code, message: error.message }
      }
    }
  }
}

/**
 * Returns a fault with which a node answers with the state of the chain some Solana slots ago. Create the fault before
 * the events that the node must show.
 */
export function lagging(rig: WalletRig, slots: () => number): Fault {
  const heights = new Map<number, number>()
  const balances: [slot: number, lamports: number][] = []
  const note = (): void => {
    const { slot, height } = rig.ledger.head('processed')
    heights.set(slot, height)
    balances.push([slot, rig.ledger.account(WALLET, 'processed')?.lamports ?? 0])
  }
  note()
  rig.ledger.onBlock(note)
  const head = (commitment: unknown): number => {
    const { slot } = rig.ledger.head((commitment ?? 'finalized') as 'finalized')
    for (let at = slot - slots(); at > slot - slots() - 50; at--) if (heights.has(at)) return at
    return balances[0]?.[0] ?? slot
  }
  return (method, params, honest) => {
    const options = (params.at(-1) ?? {}) as { commitment?: unknown; minContextSlot?: number }
    const slot = head(options.commitment)
    if ((options.minContextSlot ?? 0) > slot) throw -32_016
    if (method === 'getEpochInfo') return { absoluteSlot: slot, blockHeight: heights.get(slot) }
    if (method === 'getBalance')
      return { context: { slot }, value: balances.findLast(([at]) => at <= slot)?.[1] ?? solToLamports(10) }
    const answer = honest() as { slot: number }[] & { slot?: number } & { value?: ({ slot: number } | null)[] }
    if (method === 'getSignaturesForAddress') return answer.filter((row) => row.slot <= slot)
    if (method === 'getTransaction') return (answer?.slot ?? 0) > slot ? null : answer
    if (method === 'getSignatureStatuses')
      return { ...answer, value: answer.value?.map((row) => ((row?.slot ?? 0) > head('processed') ? null : row)) }
    return answer
  }
}
