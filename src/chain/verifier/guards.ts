import type { Refusal } from '../../base/errors.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import type { AskedTrade } from '../../orders/trade-request.ts'
import { MOST_ACCOUNTS, PACKET_BYTES } from '../../solana/constants.ts'
import { CLEAR_CLOSE_AUTHORITY, SYSTEM, TOKEN } from '../../solana/instructions.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { encodeTransaction, type TransactionBytes } from '../../solana/transaction.ts'
import { type NewInstruction, withInstructions } from '../web3.ts'
import type { ChainFacts } from './chain-facts.ts'
import type { GuardRoom } from './guard-room.ts'
import { share } from './percentages.ts'
import type { Simulation } from './simulate.ts'
import { type Verdict, verifyTransaction } from './verify-transaction.ts'

/** Conditions on the state after a transaction. If one of them fails, the chain reverts the whole transaction. */
export interface Guards {
  /** Minimum of the wallet's lamports. The wallet must also still belong to the System program. */
  readonly floorLamports: bigint
  /** Minimum balance of a token account after the transaction, in base units. The wallet must then also still own the
   *  account and have all rights to it. */
  readonly tokens?: {
    readonly account: string
    readonly mint: string
    readonly program: string
    readonly amount: bigint
    readonly decimals: number
  }
}

const MOST_UINT64 = 2n ** 64n - 1n
const REVOKE = Uint8Array.of(TOKEN.revoke)

/** A transaction with its guards, and the addresses of all accounts of its message. */
interface Guarded {
  readonly ok: true
  readonly transaction: TransactionBytes
  readonly accounts: readonly string[]
}

/** Result if no guards could be added. `reason`: undefined if the guards do not fit into the message, or if another key
 *  has already signed the transaction. */
type Unguarded = { readonly ok: false; readonly reason: string | undefined }

/** Appends the guards as the last instructions. The first two guards transfer the minimum of lamports and of tokens
 *  from an account to itself. The remaining guards revoke every right to those tokens. The transfers move nothing, and
 *  they fail if a program has taken so much that the balance is below the minimum. `accounts`: all accounts of the
 *  message, including those from lookup tables. */
export function withGuards(
  transaction: TransactionBytes,
  accounts: readonly string[],
  guards: Guards,
): Guarded | Unguarded {
  const { signatures, message } = transaction
  if (message.signers !== 1) return { ok: false, reason: undefined }
  const added = guardInstructions(message.keys[0] as string, guards)
  const all = new Set([...accounts, ...added.flatMap((one) => [one.program, ...one.accounts.map((a) => a.address)])])
  if (all.size > MOST_ACCOUNTS) return { ok: false, reason: undefined }
  const compiled = withInstructions(transaction, accounts, added)
  if (!compiled.ok) return compiled
  const guarded = { signatures, message: compiled.message, messageBytes: compiled.messageBytes }
  if (encodeTransaction(guarded).length > PACKET_BYTES) return { ok: false, reason: undefined }
  return { ok: true, transaction: guarded, accounts: compiled.accounts }
}

function guardInstructions(wallet: string, { floorLamports, tokens }: Guards): NewInstruction[] {
  const [signer, floor] = [meta(wallet, true), systemTransfer(floorLamports)]
  const holdsFloor = { program: PROGRAMS.system, accounts: [signer, signer], data: floor }
  if (tokens === undefined) return [holdsFloor]
  const { program, mint } = tokens
  const account = meta(tokens.account)
  return [
    holdsFloor,
    { program, accounts: [account, meta(mint), account, signer], data: transferChecked(tokens) },
    { program, accounts: [account, signer], data: REVOKE },
    { program, accounts: [account, signer], data: CLEAR_CLOSE_AUTHORITY },
  ]
}

/** Returns an account as a guard instruction lists it. Guards write nothing, so the account needs no more rights than
 *  it has in the message. */
function meta(address: string, isSigner = false): NewInstruction['accounts'][number] {
  return { address, isSigner, isWritable: false }
}

/** Limits an amount to the range of a u64. A minimum above that range becomes the largest u64. No account holds that
 *  much, so the chain refuses the transaction. */
function uint64(amount: bigint): bigint {
  return amount < MOST_UINT64 ? amount : MOST_UINT64
}

function systemTransfer(lamports: bigint): Uint8Array {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(SYSTEM.transfer)
  data.writeBigUInt64LE(uint64(lamports), 4)
  return data
}

function transferChecked({ amount, decimals }: { amount: bigint; decimals: number }): Uint8Array {
  const data = Buffer.alloc(10)
  data.writeUInt8(TOKEN.transferChecked)
  data.writeBigUInt64LE(uint64(amount), 1)
  data.writeUInt8(decimals, 9)
  return data
}

/** A transaction that may be signed, and the addresses of all accounts of its message. */
export interface Subject extends Verdict {
  readonly transaction: TransactionBytes
  readonly accounts: readonly string[]
  readonly guarded: boolean
}

export interface GuardingParts extends Subject {
  readonly asked: AskedTrade
  readonly policy: BuilderPolicy
  readonly facts: ChainFacts
  readonly guard: GuardRoom
  readonly run: (subject: TransactionBytes, accounts: readonly string[], of: Verdict) => Promise<Simulation>
}

/** Appends guards and verifies the transaction again. Returns the transaction without guards if the guards do not fit
 *  and are not required. */
export async function guardTransaction(parts: GuardingParts): Promise<Subject> {
  const { transaction, guard } = parts
  if (!guard.mayGuard(transaction.message))
    return guard.isRequired ? refused(parts, 'the transaction has other signers') : parts
  const change = await changeOf(parts)
  if ('refusals' in change) return { ...parts, refusals: change.refusals }
  const first = withFloor(parts, change, parts.bound ?? 0n)
  if (first === undefined) return withoutGuards(parts)
  // If the transaction sets no compute limit, its priority fee grows with every instruction, so the guards themselves
  // raise the maximum cost of the transaction.
  const isBoundKept = first.refusals.length > 0 || first.bound === null || first.bound === parts.bound
  return isBoundKept ? first : (withFloor(parts, change, first.bound) as Subject)
}

/** Appends guards that let at most `bound` lamports leave the wallet, and verifies the transaction again. Returns
 *  undefined if the guards do not fit. */
function withFloor(parts: GuardingParts, change: Change, bound: bigint): Subject | undefined {
  const { transaction, accounts, facts, asked, policy } = parts
  const tokens = tokensToHold(parts, change)
  const guards = { floorLamports: floorOf(parts, change, bound), ...(tokens !== undefined && { tokens }) }
  const guarded = withGuards(transaction, accounts, guards)
  if (!guarded.ok) {
    if (guarded.reason === undefined) return undefined
    return { ...parts, refusals: [{ code: 'READERS_DISAGREE', reason: guarded.reason }] }
  }
  const verdict = verifyTransaction(guarded.transaction, guarded.accounts, asked, policy, facts)
  return { ...verdict, transaction: guarded.transaction, accounts: guarded.accounts, guarded: true }
}

/** The smallest changes of the wallet's balances with which a trade is accepted. */
interface Change {
  /** Minimum proceeds of a sale; 0 for a buy. */
  readonly lamports: bigint
  /** Minimum change of the tokens, in base units; negative for a sale. */
  readonly tokens: bigint
}

async function changeOf(parts: GuardingParts): Promise<Change | { readonly refusals: readonly Refusal[] }> {
  const { asked, trade, transaction, accounts, run } = parts
  if (trade?.side === 'buy') return { lamports: 0n, tokens: trade.tokens }
  // If the proceeds are wrapped SOL and stay wrapped, the wallet's own balance does not rise.
  if (trade !== undefined) return { lamports: trade.wraps ? 0n : trade.lamports, tokens: -trade.tokens }
  // The amounts of an opaque trade, whose instruction cannot be decoded, are known from a simulation only.
  const { refusals, lamports, tokens } = await run(transaction, accounts, parts)
  if (tokens === undefined || lamports === undefined || refusals.length > 0) return { refusals }
  const down = Math.max(0, 100 - asked.slippagePercent)
  return asked.side === 'buy'
    ? { lamports: 0n, tokens: share(tokens, down) }
    : { lamports: share(lamports, down), tokens }
}

/** Returns the lamports that the wallet must still hold after the transaction. If the trade can be decoded, the amounts
 *  of the wallet's other orders are subtracted too, so that a buy that lands first does not revert an exit. If the
 *  trade cannot be decoded, its program could take everything above this minimum. Only the maximum cost of this order
 *  is then subtracted, and the wallet's other orders wait until the trade has ended. */
function floorOf({ facts, guard, trade }: GuardingParts, { lamports }: Change, bound: bigint): bigint {
  const others = trade === undefined ? 0n : guard.reservedLamports + guard.headroomLamports
  const floor = (facts.walletLamports ?? 0n) + lamports - bound - others
  return floor > 0n ? floor : 0n
}

/** Returns the guard of the wallet's tokens; undefined if the transaction closes the token account, or if its balance
 *  was not read. */
function tokensToHold({ facts: { holding }, asked, closed }: GuardingParts, change: Change): Guards['tokens'] {
  if (holding === undefined || closed.includes(holding.account)) return undefined
  const amount = holding.tokens + change.tokens
  return { ...holding, mint: asked.mint, amount: amount > 0n ? amount : 0n }
}

/** Verifies the transaction again under the assumption that it has no guards, so that a program whose instructions
 *  cannot be decoded could take the wallet's whole balance. */
function withoutGuards(parts: GuardingParts): Subject {
  const { asked, policy, facts, transaction, accounts, guard } = parts
  if (guard.isRequired) return refused(parts, 'the transaction would be too large')
  const unguarded = { ...facts, guardLamports: undefined }
  return { ...parts, ...verifyTransaction(transaction, accounts, asked, policy, unguarded) }
}

function refused(parts: GuardingParts, why: string): Subject {
  return { ...parts, refusals: [{ code: 'GUARDS', reason: `the guards cannot be added: ${why}` }] }
}
