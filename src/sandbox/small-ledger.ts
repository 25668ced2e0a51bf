import { encodeBase58 } from '../core/base58.ts'
import type { Clock } from '../core/ports.ts'
import { deriveSeed } from '../core/random.ts'
import { digest } from './addresses.ts'
import { type AccountState, Bank, ownerOf } from './bank.ts'
import { type Draws, draws } from './draws.ts'
import { executeTransaction, type Pending } from './execution.ts'
import {
  type Account,
  BLOCKHASH_BLOCKS,
  type Blockhash,
  type Commitment,
  type Head,
  type LandedTransaction,
  type Ledger,
  type SignatureQuery,
  type Transaction,
} from './ledger.ts'
import type { Program } from './program.ts'
import type { Change, Records } from './records.ts'
import { type Anchor, FIRST_AVAILABLE_SLOT, Slots } from './slots.ts'
import { encodeTokenAccount } from './token-layout.ts'

export interface SmallLedgerOptions {
  clock: Clock
  records: Records
  programs: Record<string, Program>
  /**
   * What comes to pass by chance: skipped slots, slots until a transaction lands. A chain that goes on keeps its own.
   */
  seed: number
  /**
   * Names a new chain together with the seed: no two chains may have the same unless a test wants the same one twice.
   */
  entropy: string
  /** Milliseconds a slot; default 400, as on mainnet. */
  slotMs?: number | undefined
  /** Lamports by address, on a new chain. */
  funds?: Record<string, number>
}

interface ChainRecord {
  genesisHash: string
  seed: number
  anchor: Anchor
  /** Ever submitted: numbers the signatures. */
  submitted: number
}

const BEHIND = { processed: 0, confirmed: 2, finalized: 32 } as const
const CHAIN = 'chain'
const SLOTS_BETWEEN_ANCHORS = 1_000

/** The chain in plain TypeScript: one validator, one fork at a time, transactions of our own wallets only. */
export class SmallLedger implements Ledger {
  readonly genesisHash: string
  readonly slotMs: number
  readonly firstAvailableSlot = FIRST_AVAILABLE_SLOT
  readonly #clock: Clock
  readonly #records: Records
  readonly #programs: Record<string, Program>
  readonly #chain: ChainRecord
  readonly #slots: Slots
  readonly #bank: Bank
  readonly #delays: Draws
  readonly #pending: Map<string, Pending>
  /** Oldest first. */
  readonly #landed: Map<string, LandedTransaction>
  /** What a fork may still take back, as it was sent. */
  readonly #forkable = new Map<string, Pending>()
  readonly #listeners: ((slot: number, landed: LandedTransaction[]) => void)[] = []
  #stopTimer: () => void = () => {}

  constructor({ clock, records, programs, seed, entropy, slotMs = 400, funds = {} }: SmallLedgerOptions) {
    this.#clock = clock
    this.#records = records
    this.#programs = programs
    this.slotMs = slotMs
    const saved = records.read<ChainRecord>(CHAIN).get(CHAIN)
    this.#slots = new Slots(deriveSeed(saved?.seed ?? seed, 'slots'), slotMs, clock.now(), saved?.anchor)
    this.#chain = saved ?? { genesisHash: name(seed, entropy), seed, anchor: this.#slots.anchor, submitted: 0 }
    this.genesisHash = this.#chain.genesisHash
    this.#delays = draws(this.#chain.seed + this.#chain.submitted, 'landing')
    this.#bank = new Bank(records.read('account'))
    this.#pending = records.read('pending')
    const landed = [...records.read<LandedTransaction>('transaction').values()].sort((a, b) => a.position - b.position)
    this.#landed = new Map(landed.map((transaction) => [transaction.signature, transaction]))
    this.#save(saved ? [] : this.#fund(funds))
    this.#schedule()
  }

  get transactionCount(): number {
    return this.#landed.size
  }

  head(commitment: Commitment): Head {
    const slot = this.#slots.behind(BEHIND[commitment])
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
    let slot = this.head(commitment).slot
    for (let age = 0; age <= BLOCKHASH_BLOCKS; slot--) {
      if (!this.#slots.hasBlock(slot)) continue
      if (this.#blockhash(slot) === blockhash) return true
      age++
    }
    return false
  }

  account(address: string, commitment: Commitment): Account | undefined {
    const state = this.#bank.at(address, this.head(commitment).slot)
    if (state) return toAccount(state)
    for (const program of Object.values(this.#programs)) {
      const account = program.account?.(address)
      if (account) return account
    }
    return undefined
  }

  tokenAccounts(owner: string, commitment: Commitment): string[] {
    const { slot } = this.head(commitment)
    return [...this.#bank.addresses()].filter((address) => this.#bank.at(address, slot)?.token?.owner === owner)
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

  submit(transaction: Transaction, afterSlots = 1 + this.#delays.integer(3)): string {
    if (!this.#programs[transaction.instruction.program])
      throw new Error(`no program ${transaction.instruction.program}`)
    const signature = encodeBase58(this.#signatureBytes(this.#chain.submitted++))
    const recentBlockhash = this.latestBlockhash('confirmed').blockhash
    this.#send({ signature, transaction, recentBlockhash, landSlot: this.#slots.head + afterSlots })
    return signature
  }

  fork(signature: string, relandAfterSlots = Number.POSITIVE_INFINITY): string[] {
    const from = this.#landed.get(signature)?.slot
    if (from === undefined || from <= this.head('finalized').slot) return []
    const dropped = [...this.#landed.values()].filter((landed) => landed.slot >= from)
    const changes = this.#bank.rewind(from).map((address) => this.#accountChange(address))
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

  #fund(funds: Record<string, number>): Change[] {
    for (const [address, lamports] of Object.entries(funds)) this.#bank.set(address, { lamports })
    return this.#bank.commit(FIRST_AVAILABLE_SLOT, FIRST_AVAILABLE_SLOT).map((address) => this.#accountChange(address))
  }

  /** What the network loses is not kept: its signature never shows up. */
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
    const { data, program: id } = pending.transaction.instruction
    const program = this.#programs[id]!
    const final = this.head('finalized').slot
    program.load?.(data, this.#bank)
    const loaded = this.#bank.commit(slot, final)
    const place = { slot, position: this.#landed.size, blockTime: Math.floor(this.#slots.timeOf(slot) / 1_000) }
    const transaction = executeTransaction(this.#bank, program, pending, place)
    const changed = new Set([...loaded, ...this.#bank.commit(slot, final)])
    this.#pending.delete(pending.signature)
    const changes: Change[] = [...changed].map((address) => this.#accountChange(address))
    changes.push({ kind: 'pending', key: pending.signature, body: undefined })
    if (transaction) changes.push({ kind: 'transaction', key: transaction.signature, body: transaction })
    this.#save(changes)
    if (!transaction) return undefined
    this.#landed.set(transaction.signature, transaction)
    this.#forkable.set(transaction.signature, pending)
    program.landed?.(data, transaction)
    return transaction
  }

  #forgetFinal(): void {
    const final = this.head('finalized').slot
    for (const signature of this.#forkable.keys()) {
      if ((this.#landed.get(signature)?.slot ?? 0) > final) break
      this.#forkable.delete(signature)
    }
  }

  #accountChange(address: string): Change {
    return { kind: 'account', key: address, body: this.#bank.saved(address) }
  }

  #save(changes: Change[]): void {
    this.#chain.anchor = this.#slots.anchor
    this.#records.write([...changes, { kind: 'chain', key: CHAIN, body: this.#chain }])
  }

  #blockhash(slot: number): string {
    return encodeBase58(digest(this.genesisHash, ` block ${slot}`))
  }

  #signatureBytes(index: number): Uint8Array {
    return Buffer.concat(['a', 'b'].map((half) => digest(this.genesisHash, ` signature ${index} ${half}`)))
  }
}

function name(seed: number, entropy: string): string {
  return encodeBase58(digest(`genesis ${seed} ${entropy}`))
}

function names(transaction: LandedTransaction, address: string): boolean {
  return transaction.accounts.some((use) => use.address === address)
}

function toAccount(state: AccountState): Account {
  const data = state.token ? encodeTokenAccount(state.token) : new Uint8Array(0)
  return { lamports: state.lamports, owner: ownerOf(state), executable: false, data }
}
