import type { Clock } from '../../src/base/machine.ts'
import { lamports } from '../../src/base/units.ts'
import type { Rpc, RpcResult, Rpcs } from '../../src/chain/rpc/rpc.ts'
import { inTurn } from '../../src/chain/rpc/rpc.ts'
import type { LandedTransaction } from '../../src/sandbox/chain/ledger.ts'
import type { Native } from '../../src/sandbox/chain/svm.ts'
import type { Draws } from '../../src/sandbox/draws.ts'
import { tokenAccountAddress } from '../../src/sandbox/keys.ts'
import type { Market } from '../../src/sandbox/market/market.ts'
import { BLOCKHASH_BLOCKS } from '../../src/solana/constants.ts'
import { openLedger, STRANGER, type TimedLedger, WALLET, walletsOf } from './ledger.ts'
import { MINTS } from './market.ts'
import type { Mutant } from './mutants.ts'
import { type Answer, HEALTHY, History, type NodeState, nodeOf } from './node.ts'
import type { Scenario } from './scenario.ts'
import type { Truth } from './truth.ts'

/** The result that a node's client returns if the node cannot be reached. */
const UNREACHABLE = { ok: false, code: 1, message: 'nobody answers' } as const
const TIMEOUT_MS = 10_000
/** After a fork, a transaction may land again only if it stays valid for at least this number of blocks. */
const LEAST_LIFE = 20

export interface ChainParts {
  readonly clock: Clock
  readonly draws: Draws
  readonly scenario: Scenario
  readonly market: Market
  /** Solana's runtime; undefined in runs without local signing, which do not need it. */
  readonly native: Native | undefined
  readonly mutant: Mutant | undefined
  readonly note: (what: string) => void
  /** Called before a node's answer reaches a process. */
  readonly answered: () => void
}

/** The chain, with its nodes, and with strangers who use it. */
export class SimulatedChain {
  readonly ledger: TimedLedger
  truth!: Truth
  /** Tokens that strangers sent to the first wallet, by mint. */
  readonly gifts = new Map<string, bigint>()
  /** Signatures of the wallet's transactions that a person made without Sluice. */
  readonly byHand = new Set<string>()
  /**
   * The transactions of a second process, by signature: the landed transaction and the time at which it landed;
   * undefined if it has not landed.
   */
  readonly company = new Map<string, { landed: LandedTransaction; at: number } | undefined>()
  /** Times of forks. */
  readonly forkedAt: number[] = []
  readonly #parts: ChainParts
  readonly #history: History
  readonly #states: NodeState[] = [{ ...HEALTHY }, { ...HEALTHY }]
  readonly #nodes: Answer[]
  readonly #tired: { failures: number; until: number }[] = []
  #isWell = false

  constructor(parts: ChainParts) {
    const { clock, market, scenario, draws, native } = parts
    this.#parts = parts
    this.ledger = openLedger({ clock, scenario, market, native })
    const addressesOf = (wallet: string): string[] => [
      wallet,
      ...MINTS.map((mint) => tokenAccountAddress(wallet, mint)),
    ]
    this.#history = new History(this.ledger, walletsOf(scenario).flatMap(addressesOf))
    this.#nodes = this.#states.map((_state, index) => {
      const state = (): NodeState => this.#states[index] as NodeState
      const isFresh = (): boolean => state().freshShare > 0 && draws.chance(state().freshShare)
      return nodeOf({ ledger: this.ledger, history: this.#history, times: scenario.times, state, isFresh })
    })
    this.ledger.onBlock((_slot, landed) => {
      for (const transaction of landed) this.#landed(transaction)
    })
  }

  /**
   * Returns the nodes as a process reaches them. A process that has ended gets no answers. `leaves` is called with
   * signed transaction bytes (base64) before they leave the process.
   */
  reach(isAlive: () => boolean, leaves: (bytes: string) => void): Pick<Rpcs, 'any' | 'each' | 'use'> {
    const each = this.#nodes.map(
      (_node, index): Rpc =>
        (method, params) =>
          this.#ask(index, method, params, { isAlive, leaves }),
    )
    const any = inTurn(each)
    return { any, each, use: [] }
  }

  /** Returns the trades that a second process made with the wallet. */
  get accompanied(): LandedTransaction[] {
    return [...this.company.values()].flatMap((one) => one?.landed ?? [])
  }

  /** Finalized balance of a wallet. */
  lamportsOf(wallet: string): number {
    return this.ledger.account(wallet, 'finalized')?.lamports ?? 0
  }

  /** Called once per second. Decides at random which events happen in this second. */
  tick(): void {
    const { draws, scenario } = this.#parts
    const { chain, rpc } = scenario
    if (draws.chance(chain.forks)) this.#fork()
    if (draws.chance(chain.strangers)) this.#stranger()
    if (draws.chance(chain.byHand)) this.#useByHand()
    for (const [index, state] of this.#states.entries()) {
      if (draws.chance(rpc.ill)) this.#fallIll(index)
      else if (draws.chance(0.05)) Object.assign(state, { ...HEALTHY, lost: state.lost })
    }
    if (draws.chance(rpc.lies)) this.#lie()
  }

  /** Ends all faults. */
  heal(): void {
    this.#isWell = true
    for (const state of this.#states) Object.assign(state, HEALTHY)
  }

  #ask(
    index: number,
    method: string,
    params: readonly unknown[],
    { isAlive, leaves }: { isAlive: () => boolean; leaves: (bytes: string) => void },
  ): Promise<RpcResult> {
    const { clock, draws, answered } = this.#parts
    const { errorShare, silentShare } = this.#states[index] as NodeState
    const isSend = method === 'sendTransaction'
    if (isSend && isAlive()) leaves(params[0] as string)
    return new Promise((resolve) => {
      if (!isAlive()) return
      const tell = (answer: RpcResult): void => {
        if (!isAlive()) return
        answered()
        resolve(answer)
      }
      if (this.#rests(index)) {
        clock.after(0, () => tell(UNREACHABLE))
        return
      }
      const latencyMs = 4 + draws.integer(60)
      const isSilent = draws.chance(silentShare)
      const isError = !isSilent && draws.chance(errorShare)
      // A send without an answer may still have reached the node.
      if (isSend && (isSilent || isError) && draws.chance(0.5))
        clock.after(latencyMs, () => void this.#answer(index, method, params))
      if (isSilent) clock.after(TIMEOUT_MS, () => tell(UNREACHABLE))
      else if (isError) clock.after(latencyMs, () => tell(UNREACHABLE))
      else clock.after(latencyMs, () => tell(this.#answer(index, method, params)))
    })
  }

  #answer(index: number, method: string, params: readonly unknown[]): RpcResult {
    const node = this.#nodes[index] as Answer
    const { mutant } = this.#parts
    if (method === 'sendTransaction') this.ledger.landsAfter = this.#landsAfter()
    if (mutant === 'confirmedCountsAsFinal') return confirmedAsFinal(node, method, params)
    const answer = node(method, params)
    if (mutant === 'slotAnswersRest') this.#tire(index, answer)
    if (mutant !== 'heightOfTheFuture' || method !== 'getEpochInfo' || !answer.ok || !isFinalized(params)) return answer
    const info = answer.value as { blockHeight: number }
    return { ok: true, value: { ...info, blockHeight: info.blockHeight + 120 } }
  }

  /**
   * For a mutant (a deliberate error): if a node answers with the error that a Solana slot is missing, stops using the
   * node for some time. Each further such answer in a row doubles this time.
   */
  #tire(index: number, answer: RpcResult): void {
    const isTired = !answer.ok && answer.code === -32_004
    const failures = isTired ? (this.#tired[index]?.failures ?? 0) + 1 : 0
    const restMs = isTired ? Math.min(1_000 * 2 ** (failures - 1), 60_000) : 0
    this.#tired[index] = { failures, until: this.#parts.clock.now() + restMs }
  }

  #rests(index: number): boolean {
    return this.#parts.clock.now() < (this.#tired[index]?.until ?? 0)
  }

  /** Returns the number of Solana slots until signed bytes land; Infinity if the network loses them. */
  #landsAfter(): number {
    const { draws, scenario } = this.#parts
    if (this.#isWell) return 1 + draws.integer(4)
    if (draws.chance(scenario.local.dropped)) return Number.POSITIVE_INFINITY
    return 1 + draws.integer(draws.chance(scenario.service.lands) ? 140 : 4)
  }

  #landed(transaction: LandedTransaction): void {
    const { note } = this.#parts
    const { signature, error } = transaction
    const execution = this.truth.executions.get(signature)
    if (execution !== undefined) execution.landed = transaction
    if (this.company.has(signature) && error === null)
      this.company.set(signature, { landed: transaction, at: this.#parts.clock.now() })
    const whose =
      execution?.post.attemptId ??
      (this.byHand.has(signature) ? 'by hand' : this.company.has(signature) ? 'company' : 'a stranger')
    note(
      `chain: ${whose} ${error === null ? 'executed' : `reverted by ${JSON.stringify(error)}`} in ${transaction.slot}: ${signature.slice(0, 8)}`,
    )
  }

  #fork(): void {
    const { draws, note } = this.#parts
    const { slot: final } = this.ledger.head('finalized')
    const { slot: head, height } = this.ledger.head('processed')
    const open = [...this.truth.executions.values()].filter(({ landed }) => landed !== undefined && landed.slot > final)
    if (open.length === 0) return
    const { signature, landed } = draws.pick(open)
    const from = landed?.slot as number
    const canLand = open.every(({ madeAtHeight }) => height + LEAST_LIFE < madeAtHeight + BLOCKHASH_BLOCKS)
    const again = canLand && draws.chance(0.7) ? 1 + draws.integer(8) : Number.POSITIVE_INFINITY
    const dropped = this.ledger.fork(signature, again)
    this.#history.rewind(from)
    for (const one of dropped) {
      const execution = this.truth.executions.get(one)
      if (execution !== undefined) execution.landed = undefined
      if (this.company.has(one)) this.company.set(one, undefined)
    }
    this.forkedAt.push(this.#parts.clock.now())
    note(`chain: a fork drops ${dropped.length} from slot ${from} of ${head}, landing again after ${again}`)
  }

  #stranger(): void {
    const { draws, note, scenario } = this.#parts
    if (draws.chance(0.5) && !this.ledger.runsBytes) {
      const mint = MINTS[draws.integer(scenario.mints)] as string
      const tokens = BigInt(1 + draws.integer(draws.pick([1_000, 1_000_000_000])))
      this.gifts.set(mint, (this.gifts.get(mint) ?? 0n) + tokens)
      this.#submit(STRANGER, 'gift', { mint, tokens })
      note(`chain: a stranger sends ${tokens} of ${mint.slice(0, 4)}`)
    } else {
      const amount = lamports(1 + draws.integer(draws.pick([1_000, 100_000_000])))
      this.#submit(STRANGER, 'transfer', { from: STRANGER, to: WALLET, lamports: amount })
      note(`chain: a stranger sends ${amount} lamports`)
    }
  }

  #useByHand(): void {
    const { draws, note } = this.#parts
    const amount = lamports(1 + draws.integer(draws.pick([1_000_000, 100_000_000])))
    this.byHand.add(this.#submit(WALLET, 'transfer', { from: WALLET, to: STRANGER, lamports: amount }))
    note(`chain: ${amount} lamports are transferred manually`)
  }

  #submit(payer: string, program: string, data: unknown): string {
    return this.ledger.submit({ payer, instruction: { program, data }, priorityFeeLamports: 0 }, 2)
  }

  #fallIll(index: number): void {
    const { draws, note } = this.#parts
    const state = this.#states[index] as NodeState
    const what = draws.pick(['lags', 'alternates', 'errs', 'is silent', 'is gone', 'stands still'] as const)
    if (what === 'lags' || what === 'alternates') state.lag = 1 + draws.integer(draws.pick([5, 40, 200]))
    if (what === 'alternates') state.freshShare = draws.between(0.2, 0.8)
    if (what === 'errs') state.errorShare = draws.between(0.1, 0.9)
    if (what === 'is silent') state.silentShare = draws.between(0.1, 0.9)
    if (what === 'is gone') state.errorShare = 1
    if (what === 'stands still') state.standsAt = this.ledger.head('processed').slot
    note(`chain: node ${index} ${what}, lag ${state.lag}`)
  }

  #lie(): void {
    const { draws, note } = this.#parts
    const index = draws.integer(2)
    const state = this.#states[index] as NodeState
    const own = [...this.truth.executions.values()].filter(({ landed }) => landed !== undefined)
    if (own.length > 0 && draws.chance(0.7)) state.lost = draws.pick(own).signature
    else state.firstSlot = this.ledger.head('finalized').slot - draws.integer(50)
    note(`chain: node ${index} has lost ${state.lost.slice(0, 8) || `what was before slot ${state.firstSlot}`}`)
  }
}

function isFinalized(params: readonly unknown[]): boolean {
  return params.some((param) => (param as { commitment?: string } | null)?.commitment === 'finalized')
}

function confirmedAsFinal(node: Answer, method: string, params: readonly unknown[]): RpcResult {
  const asked = isFinalized(params)
    ? params.map((param) => (typeof param === 'object' ? { ...param, commitment: 'confirmed' } : param))
    : params
  const answer = node(method, asked)
  if (method !== 'getSignatureStatuses' || !answer.ok) return answer
  const { value } = answer.value as { value: ({ confirmationStatus: string } | null)[] }
  const told = value.map(
    (row) => row && { ...row, confirmationStatus: row.confirmationStatus.replace('confirmed', 'finalized') },
  )
  return { ok: true, value: { value: told } }
}
