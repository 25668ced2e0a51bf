import type { Rpc, RpcResult } from '../../src/chain/rpc/rpc.ts'
import type {
  Account,
  Blockhash,
  Commitment,
  Head,
  LandedTransaction,
  Ledger,
  SignatureQuery,
  SimulatedTransaction,
  SimulationOptions,
  Transaction,
} from '../../src/sandbox/chain/ledger.ts'
import { Faults } from '../../src/sandbox/faults.ts'
import { rpcMethods } from '../../src/sandbox/rpc/methods.ts'
import { RpcError } from '../../src/sandbox/rpc/params.ts'
import { sendMethods } from '../../src/sandbox/rpc/send.ts'
import { CLOCK_SYSVAR } from '../../src/solana/programs.ts'
import type { Times } from './scenario.ts'

/** The state of the chain at each past Solana slot. A node that is behind the chain answers from a past state. */
export class History {
  readonly #ledger: Ledger
  readonly #heights = new Map<number, number>()
  readonly #accounts = new Map<string, { slot: number; account: Account | undefined }[]>()

  /** `watched`: addresses of the accounts whose past states are kept. */
  constructor(ledger: Ledger, watched: readonly string[]) {
    this.#ledger = ledger
    for (const address of watched) this.#accounts.set(address, [])
    this.#note(0)
    ledger.onBlock((slot, landed) => {
      this.#heights.set(slot, ledger.head('processed').height)
      if (landed.length > 0) this.#note(slot)
    })
  }

  /** Called when a fork has reversed all blocks from this Solana slot on. */
  rewind(from: number): void {
    for (const [address, versions] of this.#accounts)
      this.#accounts.set(
        address,
        versions.filter(({ slot }) => slot < from),
      )
  }

  /** Returns the newest recorded block at a Solana slot or before it; `otherwise` if there is none. */
  blockAt(slot: number, otherwise: Head): Head {
    for (let at = slot; at > slot - 20; at--) {
      const height = this.#heights.get(at)
      if (height !== undefined) return { slot: at, height }
    }
    return otherwise
  }

  has(address: string): boolean {
    return this.#accounts.has(address)
  }

  account(address: string, slot: number): Account | undefined {
    return this.#accounts.get(address)?.findLast((version) => version.slot <= slot)?.account
  }

  #note(slot: number): void {
    for (const [address, versions] of this.#accounts) {
      const account = this.#ledger.account(address, 'processed')
      versions.push({ slot, account })
    }
  }
}

/** The present faults of a node. */
export interface NodeState {
  /** Number of Solana slots by which the node is behind the chain. */
  lag: number
  /** Solana slot at which the node stopped following the chain; 0 if it follows the chain. */
  standsAt: number
  /** Share of the calls that are answered by another machine at the same address, which is not behind. */
  freshShare: number
  /** Share of the calls that the node answers with an error. */
  errorShare: number
  silentShare: number
  /** For a dishonest node: the signature that it no longer lists, and the first Solana slot of its history. */
  lost: string
  firstSlot: number
}

export const HEALTHY: NodeState = {
  lag: 0,
  standsAt: 0,
  freshShare: 0,
  errorShare: 0,
  silentShare: 0,
  lost: '',
  firstSlot: 0,
}

/**
 * Number of Solana slots for which the past states of accounts are kept, in addition to the slots that are not final.
 */
const LONGEST_LAG_SLOTS = 150

/** The ledger as seen from a node that is some Solana slots behind. */
class Behind implements Ledger {
  readonly genesisHash: string
  readonly slotMs: number
  readonly #ledger: Ledger
  readonly #history: History
  readonly #state: () => Pick<NodeState, 'lag' | 'lost' | 'firstSlot'>
  readonly #oldMs: number

  constructor(
    ledger: Ledger,
    history: History,
    oldMs: number,
    state: () => Pick<NodeState, 'lag' | 'lost' | 'firstSlot'>,
  ) {
    this.#ledger = ledger
    this.#history = history
    this.#oldMs = oldMs
    this.#state = state
    this.genesisHash = ledger.genesisHash
    this.slotMs = ledger.slotMs
  }

  get firstAvailableSlot(): number {
    return Math.max(this.#ledger.firstAvailableSlot, this.#state().firstSlot)
  }

  get transactionCount(): number {
    return this.#ledger.transactionCount
  }

  head(commitment: Commitment): Head {
    const head = this.#ledger.head(commitment)
    const { lag } = this.#state()
    return lag === 0 ? head : this.#history.blockAt(head.slot - lag, head)
  }

  blockTime(slot: number): number | undefined {
    const time = this.#ledger.blockTime(slot)
    return time === undefined ? undefined : time - this.#oldMs
  }

  latestBlockhash(commitment: Commitment): Blockhash {
    return this.#ledger.latestBlockhash(commitment)
  }

  isBlockhashValid(blockhash: string, commitment: Commitment): boolean {
    return this.#asItWas(() => this.#ledger.isBlockhashValid(blockhash, commitment))
  }

  account(address: string, commitment: Commitment): Account | undefined {
    if (this.#state().lag === 0) return this.#ledger.account(address, commitment)
    if (!this.#history.has(address)) return this.#asItWas(() => this.#ledger.account(address, commitment))
    return this.#history.account(address, this.head(commitment).slot)
  }

  tokenAccounts(owner: string, commitment: Commitment): string[] {
    const addresses = this.#ledger.tokenAccounts(owner, 'processed')
    return addresses.filter((address) => this.account(address, commitment) !== undefined)
  }

  transaction(signature: string): LandedTransaction | undefined {
    return signature === this.#state().lost ? undefined : this.#ledger.transaction(signature)
  }

  signatures(query: SignatureQuery): LandedTransaction[] {
    const { slot } = this.head(query.commitment)
    const { lost, firstSlot } = this.#state()
    const rows = this.#ledger.signatures(query)
    return rows.filter((row) => row.slot <= slot && row.signature !== lost && row.slot >= firstSlot)
  }

  submit(transaction: Transaction, afterSlots?: number): string {
    return this.#ledger.submit(transaction, afterSlots)
  }

  get runsBytes(): boolean {
    return this.#ledger.runsBytes
  }

  send(bytes: Uint8Array): string {
    return this.#ledger.send(bytes)
  }

  simulate(bytes: Uint8Array, options: SimulationOptions): SimulatedTransaction {
    return this.#asItWas(() => this.#ledger.simulate(bytes, options))
  }

  lagging(): never {
    throw new Error('the view computes its own lag')
  }

  #asItWas<T>(run: () => T): T {
    return this.#ledger.lagging(Math.min(this.#state().lag, LONGEST_LAG_SLOTS), run)
  }

  fork(): string[] {
    throw new Error('a node does not make forks')
  }

  onBlock(): void {
    throw new Error('a node does not report blocks')
  }

  close(): void {}
}

/** Returns the function with which a simulated node answers a call, without a delay: with a value or an error code. */
export function nodeOf(parts: NodeParts): Answer {
  const { ledger, history, times, state, isFresh } = parts
  let lag = 0
  const view = new Behind(ledger, history, times.oldMs, () => ({ ...state(), lag }))
  const methods = { ...rpcMethods(view), ...sendMethods(view, new Faults(0)) }
  const behind = (): number => {
    const { standsAt } = state()
    const { slot } = ledger.head('processed')
    return Math.min(standsAt === 0 ? state().lag : slot - standsAt, mostBehind(times, standsAt))
  }
  const untold = (method: string, params: readonly unknown[]): RpcResult | undefined => {
    if (method === 'getBlockTime' && (params[0] as number) > view.head('confirmed').slot - times.untold)
      return { ok: false, code: BLOCK_NOT_AVAILABLE, message: `Block not available for slot ${params[0]}` }
    const isClock = method === 'getMultipleAccounts' && (params[0] as readonly string[])[0] === CLOCK_SYSVAR
    return isClock && !times.hasClock ? { ok: true, value: { context: { slot: 1 }, value: [null] } } : undefined
  }
  return (method, params) => {
    lag = isFresh() ? 0 : behind()
    const refusal = untold(method, params)
    if (refusal !== undefined) return refusal
    try {
      return { ok: true, value: methods[method]?.([...params]) ?? null }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      return { ok: false, code: error.code, message: error.message }
    }
  }
}

/**
 * Returns the largest number of Solana slots by which a node without block times may be behind under assumption A8. A
 * node that has stopped following the chain has no such limit.
 */
function mostBehind({ untold, hasClock }: Times, standsAt: number): number {
  return untold === Number.POSITIVE_INFINITY && !hasClock && standsAt === 0 ? 150 : Number.POSITIVE_INFINITY
}

const BLOCK_NOT_AVAILABLE = -32_004

export interface NodeParts {
  readonly ledger: Ledger
  readonly history: History
  readonly times: Times
  readonly state: () => NodeState
  /** A provider has several machines. Returns whether one that is not behind the chain answers this call. */
  readonly isFresh: () => boolean
}

export type Answer = (method: string, params: Parameters<Rpc>[1]) => RpcResult
