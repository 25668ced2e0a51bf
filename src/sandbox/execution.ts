import { PROGRAMS } from '../core/programs.ts'
import { type Bank, ProgramFailure } from './bank.ts'
import { computeBudget } from './compute-budget.ts'
import { TOKEN_DECIMALS } from './curve.ts'
import {
  type AccountUse,
  BASE_FEE_LAMPORTS,
  type LandedInstruction,
  type LandedTransaction,
  type TransactionError,
} from './ledger.ts'
import type { Pending, Place } from './machine.ts'
import type { Plan, Program } from './program.ts'

const COMPUTE_UNIT_LIMIT = 200_000

/**
 * Runs one transaction against the bank, which is left open for the caller to commit. Fees are paid whatever happens;
 * undefined when the payer cannot even pay those: such a transaction never lands.
 */
export function executeTransaction(
  bank: Bank,
  program: Program,
  pending: Pending,
  place: Place,
): LandedTransaction | undefined {
  const { payer, instruction, priorityFeeLamports } = pending.transaction!
  const feeLamports = BASE_FEE_LAMPORTS + priorityFeeLamports
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
    computeUnits: error ? 41_000 : 68_000,
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

/** The message's keys in Solana's order (payer, writable, readonly), then those of the lookup table. */
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
