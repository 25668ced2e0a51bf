import type { Clock } from '../../base/machine.ts'
import { deriveSeed } from '../../base/random.ts'
import { encodeBase58 } from '../../solana/base58.ts'
import { BLOCKHASH_BLOCKS } from '../../solana/constants.ts'
import { type Draws, draws } from '../draws.ts'
import { digest } from '../keys.ts'
import type { Change, Records } from '../records.ts'
import { type ChainRecord, chainChange, readChain, readLanded } from './chain-record.ts'
import type {
  Account,
  Blockhash,
  Commitment,
  Head,
  LandedTransaction,
  Ledger,
  Machine,
  Pending,
  Place,
  SignatureQuery,
  SimulatedTransaction,
  SimulationOptions,
  Transaction,
} from './ledger.ts'
import { FIRST_AVAILABLE_SLOT, Slots } from './slots.ts'

export interface ChainOptions {
  clock: Clock
  records: Records
  /** Seed that determines which slots have no block, and after how many slots a transaction lands. A restarted chain
   *  keeps its seed. */
  seed: number
  /** Text that determines the genesis hash of a new chain, together with the seed. It is random, unless a test needs
   *  the same chain twice. */
  entropy: string
  /** Duration of a Solana slot, ms; default 400, as on mainnet. */
  slotMs?: number | undefined
}

const BEHIND = { processed: 0, confirmed: 2, finalized: 32 } as const
const SLOTS_BETWEEN_ANCHORS = 1_000
/** Largest lag of a node, in slots behind the finalized one, at which accounts can still be read. */
const LONGEST_LAG_SLOTS = 150

/** Blocks, time, forks and history of a chain with one validator. A `Machine` holds the accounts. */
export abstract class ChainLedger implements Ledger {
  readonly genesisHash: string
  readonly slotMs: number
  readonly firstAvailableSlot = FIRST_AVAILABLE_SLOT
  readonly #clock: Clock
  readonly #records: Records
  readonly #machine: Machine
  readonly #chain: ChainRecord
  readonly #slots: Slots
  readonly #delays: Draws
  readonly #pending: Map<string, Pending>
  /** Landed transactions by signature, oldest first. */
  readonly #landed: Map<string, LandedTransaction>
  /** Transactions that a fork may still revert, in the form in which they were sent. */
  readonly #forkable = new Map<string, Pending>()
  readonly #listeners: ((slot: number, landed: LandedTransaction[]) => void)[] = []
  #lagSlots = 0
  #stopTimer: () => void = () => {}

  constructor({ clock, records, seed, entropy, slotMs = 400 }: ChainOptions, machine: Machine) {
    this.#clock = clock
    this.#records = records
    this.#machine = machine
    this.slotMs = slotMs
    const saved = readChain(records)
    this.#slots = new Slots(deriveSeed(saved?.seed ?? seed, 'slots'), slotMs, clock.now(), saved?.anchor)
    const genesisHash = saved?.genesisHash ?? encodeBase58(digest(`genesis ${seed} ${entropy}`))
    const start = saved ?? { genesisHash, seed, anchor: this.#slots.anchor, submitted: 0 }
    this.#chain = { ...start, machine: machine.name }
    this.genesisHash = genesisHash
    this.#delays = draws(this.#chain.seed + this.#chain.submitted, 'landing')
    this.#pending = records.read('pending')
    this.#landed = readLanded(records)
    this.#save(machine.fund())
    this.#schedule()
  }

  get runsBytes(): boolean {
    return this.#machine.runsBytes
  }

  get transactionCount(): number {
    return this.#landed.size
  }

  head(commitment: Commitment): Head {
    const slot = this.#slots.behind(BEHIND[commitment] + this.#lagSlots)
    return { slot, height: this.#slots.height(slot) }
  }

  blockTime(slot: number): number | undefined {
    return this.#slots.hasBlock(slot) ? this.#slots.timeOf(slot) : undefined
  }

  latestBlockhash(commitment: Commitment): Blockhash {
    const { slot, height } = this.head(commitment)
    return { blockhash: this.#blockhash(slot), lastValidBlockHeight: height + BLOCKHASH_BLOCKS }
  }

  isBlockhashValid(blockhash: string, commitment: Commitment): boolean {
    return this.#isAlive(blockhash, this.head(commitment).slot)
  }

  account(address: string, commitment: Commitment): Account | undefined {
    return this.#machine.account(address, this.head(commitment).slot)
  }

  tokenAccounts(owner: string, commitment: Commitment): string[] {
    return this.#machine.tokenAccounts(owner, this.head(commitment).slot)
  }

  transaction(signature: string): LandedTransaction | undefined {
    return this.#landed.get(signature)
  }

  signatures({ address, limit, before, until, commitment }: SignatureQuery): LandedTransaction[] {
    const { slot } = this.head(commitment)
    const rows: LandedTransaction[] = []
    let started = before === undefined
    for (const transaction of [...this.#landed.values()].reverse()) {
      if (transaction.signature === until || rows.length === limit) break
      if (started && transaction.slot <= slot && names(transaction, address)) rows.push(transaction)
      if (transaction.signature === before) started = true
    }
    return rows
  }

  submit(transaction: Transaction, afterSlots?: number): string {
    const recentBlockhash = this.latestBlockhash('confirmed').blockhash
    const prepared = this.#machine.prepare(transaction, recentBlockhash, this.#chain.submitted)
    this.#send({ ...prepared, transaction, recentBlockhash, landSlot: this.#landSlot(afterSlots) })
    return prepared.signature
  }

  send(bytes: Uint8Array, afterSlots?: number): string {
    const { signature, recentBlockhash } = this.#machine.read(bytes)
    if (this.#pending.has(signature) || this.#landed.has(signature)) return signature
    if (!this.#isAlive(recentBlockhash, this.#slots.head)) return signature
    const landSlot = this.#landSlot(afterSlots)
    this.#send({ signature, recentBlockhash, landSlot, bytes: Buffer.from(bytes).toString('base64') })
    return signature
  }

  simulate(bytes: Uint8Array, options: SimulationOptions): SimulatedTransaction {
    const { commitment, replaceBlockhash } = options
    const { slot } = this.head(commitment)
    const simulated = this.#machine.simulate(bytes, this.#place(slot), options)
    if (replaceBlockhash) return { ...simulated, replacement: this.latestBlockhash(commitment) }
    const { signature, recentBlockhash } = this.#machine.read(bytes)
    const landed = this.#landed.get(signature)
    if (landed && landed.slot <= slot) return failedBefore(simulated, 'AlreadyProcessed')
    if (!this.#isAlive(recentBlockhash, slot)) return failedBefore(simulated, 'BlockhashNotFound')
    return simulated
  }

  lagging<T>(slots: number, run: () => T): T {
    this.#lagSlots = slots
    try {
      return run()
    } finally {
      this.#lagSlots = 0
    }
  }

  fork(signature: string, relandAfterSlots = Number.POSITIVE_INFINITY): string[] {
    const from = this.#landed.get(signature)?.slot
    if (from === undefined || from <= this.head('finalized').slot) return []
    const dropped = [...this.#landed.values()].filter((landed) => landed.slot >= from)
    const changes = this.#machine.rewind(from)
    for (const landed of dropped) {
      this.#landed.delete(landed.signature)
      changes.push({ kind: 'transaction', key: landed.signature, body: undefined })
    }
    this.#save(changes)
    for (const landed of dropped) {
      const sent = this.#forkable.get(landed.signature)
      if (sent) this.#send({ ...sent, landSlot: this.#slots.head + relandAfterSlots })
    }
    return dropped.map((landed) => landed.signature)
  }

  onBlock(listener: (slot: number, landed: LandedTransaction[]) => void): void {
    this.#listeners.push(listener)
  }

  close(): void {
    this.#stopTimer()
    this.#records.close()
  }

  #landSlot(afterSlots = 1 + this.#delays.integer(3)): number {
    this.#chain.submitted++
    return this.#slots.head + afterSlots
  }

  /** Sends a transaction. A transaction that the network loses is not stored, so its signature never appears. */
  #send(pending: Pending): void {
    const lost = !Number.isFinite(pending.landSlot)
    if (!lost) this.#pending.set(pending.signature, pending)
    this.#save(lost ? [] : [{ kind: 'pending', key: pending.signature, body: pending }])
  }

  #schedule(): void {
    const now = this.#clock.now()
    const next = this.#slots.timeOf(this.#slots.slotAt(now) + 1)
    this.#stopTimer = this.#clock.after(Math.max(1, next - now), () => {
      for (const slot of this.#slots.advance(this.#slots.slotAt(this.#clock.now()))) this.#produce(slot)
      this.#schedule()
    })
  }

  #produce(slot: number): void {
    const due = [...this.#pending.values()].filter(({ landSlot }) => landSlot <= slot)
    const landed = due.map((pending) => this.#land(pending, slot)).filter((transaction) => transaction !== undefined)
    if (slot % SLOTS_BETWEEN_ANCHORS === 0) this.#save([])
    this.#forgetFinal()
    for (const listener of this.#listeners) listener(slot, landed)
  }

  #land(pending: Pending, slot: number): LandedTransaction | undefined {
    const { signature } = pending
    // A transaction of the service lands at the slot that a fault or a test has set, even if its blockhash has expired
    // by then. A real service would have built such a transaction later, with a newer blockhash.
    const isAlive = pending.transaction !== undefined || this.#isAlive(pending.recentBlockhash, slot)
    const { landed, changes } = isAlive
      ? this.#machine.execute(pending, this.#place(slot), this.#slots.behind(BEHIND.finalized + LONGEST_LAG_SLOTS))
      : { landed: undefined, changes: [] }
    this.#pending.delete(signature)
    changes.push({ kind: 'pending', key: signature, body: undefined })
    if (landed) changes.push({ kind: 'transaction', key: signature, body: landed })
    this.#save(changes)
    if (!landed) return undefined
    this.#landed.set(signature, landed)
    this.#forkable.set(signature, pending)
    this.#machine.recorded(pending, landed)
    return landed
  }

  #place(slot: number): Place {
    const position = this.#landed.size
    return { slot, position, blockTime: Math.floor(this.#slots.timeOf(slot) / 1_000) }
  }

  #forgetFinal(): void {
    const final = this.head('finalized').slot
    for (const signature of this.#forkable.keys()) {
      if ((this.#landed.get(signature)?.slot ?? 0) > final) break
      this.#forkable.delete(signature)
    }
  }

  #save(changes: Change[]): void {
    this.#chain.anchor = this.#slots.anchor
    this.#records.write([...changes, chainChange(this.#chain)])
  }

  /** Whether the blockhash belongs to a block that is at most 150 blocks older than `slot`. */
  #isAlive(blockhash: string, slot: number): boolean {
    for (let age = 0, at = slot; age <= BLOCKHASH_BLOCKS && at >= FIRST_AVAILABLE_SLOT; at--) {
      if (!this.#slots.hasBlock(at)) continue
      if (this.#blockhash(at) === blockhash) return true
      age++
    }
    return false
  }

  #blockhash(slot: number): string {
    return encodeBase58(digest(this.genesisHash, ` block ${slot}`))
  }
}

function names(transaction: LandedTransaction, address: string): boolean {
  return transaction.accounts.some((use) => use.address === address)
}

/** Result of a simulated transaction that was refused before its first instruction. */
function failedBefore(simulated: SimulatedTransaction, error: string): SimulatedTransaction {
  return { ...simulated, error, after: new Map(), inner: [], logs: [], computeUnits: 0, returned: undefined }
}
