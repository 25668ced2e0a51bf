import type { Clock } from '../../base/machine.ts'
import { BUILT_IN_POLICY } from '../../orders/builder-policy.ts'
import type { AskedTrade } from '../../orders/trade-request.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import type { AccountState } from '../../solana/token-account.ts'
import { encodeTransaction, type TransactionBytes } from '../../solana/transaction.ts'
import { tokenAccountOf } from '../addresses.ts'
import { accountOf, readAccounts } from '../rpc/accounts.ts'
import { call, record, Unread } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { resolveAccounts } from '../verifier/lookup-tables.ts'
import type { Step } from '../verifier/reading.ts'
import { innerProgramsOf, writableOf } from '../verifier/simulate.ts'

/** A transaction that a builder made for a request: its decoded instructions, and its effect on the current state of
 *  the chain. It is never signed. */
export interface Sample {
  readonly asked: AskedTrade
  readonly transaction: TransactionBytes
  /** Top-level instructions with resolved account addresses. */
  readonly steps: readonly Step[]
  /** Result of the simulation; undefined if the simulation was impossible or failed, with the reason in `problem`. */
  readonly simulated: Simulated | undefined
  readonly problem: string
}

export interface Simulated {
  /** Programs called by other programs; undefined if the node does not report them. */
  readonly inner: readonly string[] | undefined
  /** Writable accounts before and after the transaction; null if the account does not exist. */
  readonly changes: readonly { address: string; before: AccountState | null; after: AccountState | null }[]
}

/** Maximum number of simulations. A failed simulation is repeated, because a node that is a few slots behind does not
 *  have the accounts that the builder has just seen. */
const TRIES = 3
const AGAIN_MS = 400

/** Resolves the lookup tables of a transaction and simulates it. Returns the reason as text if the transaction cannot
 *  be read. */
export async function readSample(
  { rpc, clock }: { rpc: Rpc; clock: Clock },
  transaction: TransactionBytes,
  asked: AskedTrade,
): Promise<Sample | string> {
  try {
    const resolved = await resolveAccounts(transaction.message, { ...BUILT_IN_POLICY, lookupTables: 'any' }, rpc)
    if (!resolved.ok) return resolved.refusals.map(({ reason }) => reason).join('; ')
    const { accounts } = resolved
    const steps = transaction.message.instructions.map(({ program, accounts: places, data }, index) => ({
      place: index + 1,
      program: accounts[program] as string,
      accounts: places.map((place) => accounts[place] as string),
      data,
    }))
    let found = await simulate(rpc, transaction, accounts)
    for (let tries = 1; typeof found === 'string' && tries < TRIES; tries++) {
      await new Promise<void>((resolve) => void clock.after(AGAIN_MS, resolve))
      found = await simulate(rpc, transaction, accounts)
    }
    const isText = typeof found === 'string'
    const outcome = isText
      ? { simulated: undefined, problem: found as string }
      : { simulated: found as Simulated, problem: '' }
    return { asked, transaction, steps, ...outcome }
  } catch (error) {
    if (error instanceof Unread) return error.message
    throw error
  }
}

/** Simulates the transaction. Replaces the builder's blockhash with one of the node, so a wrong blockhash is not
 *  noticed here. Returns the reason as text if the simulation fails. */
async function simulate(
  rpc: Rpc,
  transaction: TransactionBytes,
  accounts: readonly string[],
): Promise<Simulated | string> {
  const touched = writableOf(transaction.message, accounts)
  const { accounts: before } = await readAccounts(rpc, touched)
  const bytes = Buffer.from(encodeTransaction(transaction)).toString('base64')
  const how = {
    ...{ encoding: 'base64', commitment: 'confirmed', sigVerify: false, replaceRecentBlockhash: true },
    ...{ innerInstructions: true, accounts: { encoding: 'base64', addresses: touched } },
  }
  const { value } = record(await call(rpc, 'simulateTransaction', [bytes, how]))
  const { err, accounts: reported, innerInstructions } = record(value)
  if (err != null) return `the simulation failed: ${JSON.stringify(err).slice(0, 200)}`
  if (!Array.isArray(reported) || reported.length !== touched.length)
    throw new Unread('simulateTransaction: the answer has no accounts')
  const inner = innerProgramsOf(innerInstructions, accounts)
  const changes = touched.map((address, index) => ({
    address,
    before: before[index] ?? null,
    after: accountOf(reported[index]),
  }))
  // A third party may have opened an account after `before` was read. The sample itself is never sent, so an account
  // that exists on the chain by now was opened by someone else.
  const opened = changes.filter((one) => one.before === null && one.after !== null).map(({ address }) => address)
  const { accounts: now } = await readAccounts(rpc, opened)
  const meanwhile = new Map(opened.map((address, index) => [address, now[index] ?? null]))
  return {
    inner: inner && [...inner],
    changes: changes.map((one) => ({ ...one, before: one.before ?? meanwhile.get(one.address) ?? null })),
  }
}

/** Whether a top-level instruction calls this program. */
export function calls({ steps }: Sample, id: string): boolean {
  return steps.some(({ program }) => program === id)
}

/** Returns the mint if the address is one of the wallet's associated token accounts; undefined for any other
 *  address. */
export function ownMint({ asked: { wallet, mint } }: Sample, address: string): string | undefined {
  if ([PROGRAMS.token, PROGRAMS.token2022].some((program) => tokenAccountOf(wallet, mint, program) === address))
    return mint
  return tokenAccountOf(wallet, WSOL_MINT, PROGRAMS.token) === address ? WSOL_MINT : undefined
}

export interface Range {
  readonly least: bigint
  readonly most: bigint
}

export function rangeOf(values: readonly bigint[]): Range {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return { least: sorted[0] ?? 0n, most: sorted.at(-1) ?? 0n }
}

export function countOf<T>(values: readonly T[], is: (value: T) => boolean): number {
  return values.filter(is).length
}

export function unique(values: readonly string[]): string[] {
  return [...new Set(values)].sort()
}
