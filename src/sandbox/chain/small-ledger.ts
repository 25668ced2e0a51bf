import { encodeBase58 } from '../../solana/base58.ts'
import { BASE_FEE, TOKEN_DECIMALS } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { encodeTokenAccount } from '../../solana/token-account.ts'
import { digest } from '../keys.ts'
import type { Change, Records } from '../records.ts'
import { type AccountState, Bank, ownerOf, ProgramFailure } from './bank.ts'
import { ChainLedger, type ChainOptions } from './chain-ledger.ts'
import type { AccountUse, LandedInstruction, Landing, Machine, Pending, Place, TransactionError } from './ledger.ts'
import { type Account, type LandedTransaction, type Transaction, Unsupported } from './ledger.ts'
import { computeBudget } from './message.ts'
import type { Plan, Program } from './program.ts'
import { FIRST_AVAILABLE_SLOT } from './slots.ts'

export interface SmallLedgerOptions extends ChainOptions {
  programs: Record<string, Program>
  /** Initial balances in lamports by address, for accounts that do not exist yet. */
  funds?: Record<string, number>
}

/** The chain in plain TypeScript. It executes only transactions of the sandbox's own wallets. */
export class SmallLedger extends ChainLedger {
  constructor(options: SmallLedgerOptions) {
    super(options, new SmallMachine(options.records, options.programs, options.funds ?? {}))
  }
}

class SmallMachine implements Machine {
  readonly name = 'small'
  readonly runsBytes = false
  readonly #programs: Record<string, Program>
  readonly #funds: Record<string, number>
  readonly #bank: Bank

  constructor(records: Records, programs: Record<string, Program>, funds: Record<string, number>) {
    this.#programs = programs
    this.#funds = funds
    this.#bank = new Bank(records.read('account'))
  }

  fund(): Change[] {
    for (const [address, lamports] of Object.entries(this.#funds))
      if (!this.#bank.versions.has(address)) this.#bank.set(address, { lamports })
    return this.#bank.commit(FIRST_AVAILABLE_SLOT, FIRST_AVAILABLE_SLOT).map((address) => this.#change(address))
  }

  account(address: string, slot: number): Account | undefined {
    // The programs are asked first: they compute the accounts of the market's pools, which change without transactions.
    for (const program of Object.values(this.#programs)) {
      const account = program.account?.(address)
      if (account) return account
    }
    const state = this.#bank.versions.at(address, slot)
    return state && stateAccount(state)
  }

  tokenAccounts(owner: string, slot: number): string[] {
    const { versions } = this.#bank
    return [...versions.addresses()].filter((address) => versions.at(address, slot)?.token?.owner === owner)
  }

  prepare({ instruction }: Transaction, recentBlockhash: string, number: number): { signature: string } {
    if (!this.#programs[instruction.program]) throw new Error(`unknown program: ${instruction.program}`)
    const halves = ['a', 'b'].map((half) => digest(recentBlockhash, ` signature ${number} ${half}`))
    return { signature: encodeBase58(Buffer.concat(halves)) }
  }

  read(): never {
    throw new Unsupported()
  }

  simulate(): never {
    throw new Unsupported()
  }

  execute(pending: Pending, place: Place, finalSlot: number): Landing {
    const { program: id, data } = pending.transaction!.instruction
    const program = this.#programs[id]!
    program.load?.(data, this.#bank)
    const loaded = this.#bank.commit(place.slot, finalSlot)
    const landed = executeTransaction(this.#bank, program, pending, place)
    const changed = new Set([...loaded, ...this.#bank.commit(place.slot, finalSlot)])
    return { landed, changes: [...changed].map((address) => this.#change(address)) }
  }

  recorded({ transaction }: Pending, landed: LandedTransaction): void {
    const { program, data } = transaction!.instruction
    this.#programs[program]!.landed?.(data, landed)
  }

  rewind(slot: number): Change[] {
    return this.#bank.versions.rewind(slot).map((address) => this.#change(address))
  }

  #change(address: string): Change {
    return { kind: 'account', key: address, body: this.#bank.versions.saved(address) }
  }
}

/** Converts a state of the bank to an account. */
export function stateAccount(state: AccountState): Account {
  const data = state.token ? encodeTokenAccount(state.token) : new Uint8Array(0)
  return { lamports: state.lamports, owner: ownerOf(state), executable: false, data }
}

const COMPUTE_UNIT_LIMIT = 200000

/** Executes a transaction in the bank and leaves it open; the caller commits it. Fees are paid even if it fails.
 *  Returns undefined if the payer cannot pay them; such a transaction never lands. */
function executeTransaction(
  bank: Bank,
  program: Program,
  pending: Pending,
  place: Place,
): LandedTransaction | undefined {
  const { payer, instruction, priorityFeeLamports } = pending.transaction!
  const feeLamports = BASE_FEE + priorityFeeLamports
  if (bank.lamports(payer) < feeLamports) return undefined
  const plan = program.plan(instruction.data)
  const budget = computeBudget(COMPUTE_UNIT_LIMIT, priorityFeeLamports)
  const instructions = [...budget.map(budgetInstruction), ...plan.instructions]
  const accounts = accountUses(payer, plan, instructions)
  for (const use of accounts) use.preLamports = bank.lamports(use.address)
  const tokens = plan.tokenAccounts.map((token) => ({
    ...token,
    program: PROGRAMS.token,
    decimals: TOKEN_DECIMALS,
    pre: bank.token(token.account)?.amount,
    post: undefined,
  }))

  const payFee = (): void => {
    const state = bank.read(payer)!
    bank.set(payer, { ...state, lamports: state.lamports - feeLamports })
  }
  const error = attempt(bank, program, instruction.data, instructions.length - 1, payFee)
  for (const use of accounts) use.postLamports = bank.lamports(use.address)
  return {
    signature: pending.signature,
    ...place,
    error,
    feeLamports,
    recentBlockhash: pending.recentBlockhash,
    accounts,
    tokens: tokens.map((token) => ({ ...token, post: bank.token(token.account)?.amount })),
    instructions,
    inner: [],
    computeUnits: error ? 41000 : 68000,
    logs: logs(instructions, error),
  }
}

function attempt(
  bank: Bank,
  program: Program,
  data: unknown,
  index: number,
  payFee: () => void,
): TransactionError | null {
  payFee()
  try {
    program.execute(data, bank)
    return null
  } catch (failure) {
    if (!(failure instanceof ProgramFailure)) throw failure
    bank.rollback()
    payFee()
    return { InstructionError: [index, failure.detail] }
  }
}

function budgetInstruction(data: Uint8Array): LandedInstruction {
  return { program: PROGRAMS.computeBudget, accounts: [], data: Buffer.from(data).toString('hex') }
}

/** Accounts of a transaction: the message's keys in Solana's order (payer, writable, read-only), then those of the
 *  lookup table. */
function accountUses(payer: string, plan: Plan, instructions: LandedInstruction[]): AccountUse[] {
  const programs = new Set(instructions.map(({ program }) => program))
  const named = plan.accounts.filter(({ address }) => address !== payer && !programs.has(address))
  const ordered = [
    ...named.filter(({ looked, writable }) => !looked && writable),
    ...named.filter(({ looked, writable }) => !looked && !writable),
    ...[...programs].map((address) => ({ address, writable: false, looked: false })),
    ...named.filter(({ looked, writable }) => looked && writable),
    ...named.filter(({ looked, writable }) => looked && !writable),
  ]
  const use = (address: string, signer: boolean, writable: boolean, looked = false): AccountUse => {
    return {
      address,
      signer,
      writable,
      source: looked ? 'lookupTable' : 'transaction',
      preLamports: 0,
      postLamports: 0,
    }
  }
  return [
    use(payer, true, true),
    ...ordered.map(({ address, writable, looked }) => use(address, false, writable, looked)),
  ]
}

function logs(instructions: LandedInstruction[], error: TransactionError | null): string[] {
  return instructions.flatMap(({ program }, index) => {
    const failed = error !== null && index === instructions.length - 1
    return [
      `Program ${program} invoke [1]`,
      failed ? `Program ${program} failed: ${JSON.stringify(error)}` : `Program ${program} success`,
    ]
  })
}
