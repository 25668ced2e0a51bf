import type { Refusal } from '../../base/errors.ts'
import type { AskedTrade } from '../../orders/asked-trade.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { encodeTransaction, type Instruction, type Message, type TransactionBytes } from '../../solana/transaction.ts'
import type { ChainFacts } from './chain-facts.ts'
import { share } from './judge.ts'
import type { Simulation } from './simulate.ts'
import { type Verdict, verifyTransaction } from './verify.ts'

/** What has to hold once everything else in a transaction has run, else the chain takes all of it back. */
export interface Guards {
  /** The wallet holds at least so many lamports, and still belongs to the System program. */
  readonly floorLamports: bigint
  /** A token account of the wallet holds at least so many base units, is still the wallet's, and nobody else may move
   *  or close it. */
  readonly tokens?: {
    readonly account: string
    readonly mint: string
    readonly program: string
    readonly amount: bigint
    readonly decimals: number
  }
}

/** What fits into a packet. */
const MOST_BYTES = 1_232
const MOST_ACCOUNTS = 256
const MOST_UINT64 = 2n ** 64n - 1n
const SYSTEM_TRANSFER = 2
const TOKEN_TRANSFER_CHECKED = 12
const TOKEN_REVOKE = Uint8Array.of(5)
/** SetAuthority of the right to close, to nobody: it fails where somebody else has taken that right. */
const TOKEN_NOBODY_CLOSES = Uint8Array.of(6, 3, 0)
/** The fee payer, which is the wallet. */
const WALLET = 0

/** The transaction with guards as its last instructions: a transfer of the floor, and a checked transfer of the tokens,
 *  each from an account to itself; then whatever right somebody may have got to those tokens is taken back. They move
 *  nothing, and fail where what has to be there is not, whatever an opaque program has done before them. undefined
 *  where others have signed the message as it is, or it would not fit into a packet. `accounts`: all of the message,
 *  looked-up ones included. */
export function withGuards(
  { signatures, message }: TransactionBytes,
  accounts: readonly string[],
  guards: Guards,
): TransactionBytes | undefined {
  if (message.signers !== 1) return undefined
  const { floorLamports, tokens } = guards
  const programs = [PROGRAMS.system, ...(tokens === undefined ? [] : [tokens.program])]
  const missing = [
    // A program has to stand in the message itself; everything else may come from a lookup table.
    ...programs.filter((program) => !message.keys.includes(program)),
    ...(tokens === undefined ? [] : [tokens.account, tokens.mint].filter((address) => !accounts.includes(address))),
  ]
  const room = withReadonlyKeys(message, missing)
  const all = [...room.keys, ...accounts.slice(message.keys.length)]
  const at = (address: string): number => all.indexOf(address)
  const added: Instruction[] = [
    { program: at(PROGRAMS.system), accounts: [WALLET, WALLET], data: systemTransfer(floorLamports) },
  ]
  if (tokens !== undefined) {
    const [program, account] = [at(tokens.program), at(tokens.account)]
    added.push(
      { program, accounts: [account, at(tokens.mint), account, WALLET], data: transferChecked(tokens) },
      { program, accounts: [account, WALLET], data: TOKEN_REVOKE },
      { program, accounts: [account, WALLET], data: TOKEN_NOBODY_CLOSES },
    )
  }
  const guarded: Message = { ...room, instructions: [...room.instructions, ...added] }
  if (all.length > MOST_ACCOUNTS) return undefined
  const bytes = encodeTransaction({ signatures, message: guarded })
  if (bytes.length > MOST_BYTES) return undefined
  return { signatures, message: guarded, messageBytes: bytes.subarray(1 + 64 * signatures.length) }
}

/** Accounts of lookups are counted after the keys of the message, so that they move up. */
function withReadonlyKeys(message: Message, added: readonly string[]): Message {
  const { keys, instructions, readonlyOthers } = message
  const up = (place: number): number => (place < keys.length ? place : place + added.length)
  return {
    ...message,
    keys: [...keys, ...added],
    readonlyOthers: readonlyOthers + added.length,
    instructions: instructions.map((one) => ({ ...one, accounts: one.accounts.map(up) })),
  }
}

/** More than there can be is asked for as the most that can be written, which is never there: the chain refuses it. */
function uint64(amount: bigint): bigint {
  return amount < MOST_UINT64 ? amount : MOST_UINT64
}

function systemTransfer(lamports: bigint): Uint8Array {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(SYSTEM_TRANSFER)
  data.writeBigUInt64LE(uint64(lamports), 4)
  return data
}

function transferChecked({ amount, decimals }: { amount: bigint; decimals: number }): Uint8Array {
  const data = Buffer.alloc(10)
  data.writeUInt8(TOKEN_TRANSFER_CHECKED)
  data.writeBigUInt64LE(uint64(amount), 1)
  data.writeUInt8(decimals, 9)
  return data
}

/** What may leave the wallet, lamports. */
export interface Taken {
  /** By this order, by its reservation: the bound where nothing else bounds an opaque program. */
  readonly boundLamports: bigint
  /** By the other open orders of the wallet meanwhile. */
  readonly reservedLamports: bigint
  /** By orders that are accepted while this one is on its way. */
  readonly headroomLamports: bigint
}

/** What the guards of a transaction have to leave room for. */
export class GuardRoom {
  readonly #mode: BuilderPolicy['guard']
  readonly #taken: () => Taken

  /** `taken` is asked when the guards are made: orders come while others are checked. */
  constructor(mode: BuilderPolicy['guard'], taken: () => Taken) {
    this.#mode = mode
    this.#taken = taken
  }

  get boundLamports(): bigint {
    return this.#taken().boundLamports
  }

  get reservedLamports(): bigint {
    return this.#taken().reservedLamports
  }

  get headroomLamports(): bigint {
    return this.#taken().headroomLamports
  }

  /** Whoever else has signed has signed the message as it is. */
  mayGuard({ signers }: Message): boolean {
    return this.#mode !== 'off' && signers === 1
  }

  get isRequired(): boolean {
    return this.#mode === 'required'
  }
}

/** A transaction that may be signed, with all accounts of its message. */
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

/** The transaction with guards at its end, verified again with them; without where they cannot be, and need not. */
export async function guardTransaction(parts: GuardingParts): Promise<Subject> {
  const { transaction, guard, facts, asked, policy } = parts
  if (!guard.mayGuard(transaction.message)) return guard.isRequired ? refused(parts, 'others sign it too') : parts
  const change = await changeOf(parts)
  if ('refusals' in change) return { ...parts, refusals: change.refusals }
  const tokens = tokensToHold(parts, change)
  const withFloor = (floorLamports: bigint): Subject | undefined => {
    const guards = { floorLamports, ...(tokens !== undefined && { tokens }) }
    const guarded = withGuards(transaction, parts.accounts, guards)
    if (guarded === undefined) return undefined
    const looked = parts.accounts.slice(transaction.message.keys.length)
    const accounts = [...guarded.message.keys, ...looked]
    return {
      ...verifyTransaction(guarded, accounts, asked, policy, facts),
      transaction: guarded,
      accounts,
      guarded: true,
    }
  }
  const first = withFloor(floorOf(parts, change, parts.bound ?? 0n))
  if (first === undefined) return withoutGuards(parts)
  // Without a limit of its own, what it pays for computing grows with the instructions, and so its bound with the
  // guards.
  const isBoundKept = first.bound === null || first.bound === parts.bound
  return isBoundKept ? first : (withFloor(floorOf(parts, change, first.bound)) as Subject)
}

/** What a trade does at least for the wallet. */
interface Change {
  /** SOL that a sale brings. */
  readonly lamports: bigint
  /** Base units that come, or go. */
  readonly tokens: bigint
}

async function changeOf(parts: GuardingParts): Promise<Change | { readonly refusals: readonly Refusal[] }> {
  const { asked, trade, transaction, accounts, run } = parts
  if (trade?.side === 'buy') return { lamports: 0n, tokens: trade.tokens }
  // Wrapped SOL that stays wrapped is not in the wallet.
  if (trade !== undefined) return { lamports: trade.wraps ? 0n : trade.lamports, tokens: -trade.tokens }
  // Nothing of it can be read: what it does now, less the slippage.
  const { refusals, lamports, tokens } = await run(transaction, accounts, parts)
  if (tokens === undefined || lamports === undefined || refusals.length > 0) return { refusals }
  const down = Math.max(0, 100 - asked.slippagePercent)
  return asked.side === 'buy'
    ? { lamports: 0n, tokens: share(tokens, down) }
    : { lamports: share(lamports, down), tokens }
}

/** What the wallet must still hold: what it holds, and what comes, less what may leave it. Other orders must not make
 *  the chain take back an exit, so a trade that can be read, and is bounded by what it says, leaves room for them. A
 *  program that is not understood could take all that the floor lets go, so there it is the bound alone, which is what
 *  the signer counts; other orders wait their turn instead. */
function floorOf({ facts, guard, trade }: GuardingParts, { lamports }: Change, bound: bigint): bigint {
  const others = trade === undefined ? 0n : guard.reservedLamports + guard.headroomLamports
  const floor = (facts.walletLamports ?? 0n) + lamports - bound - others
  return floor > 0n ? floor : 0n
}

/** What the wallet must hold of the token afterwards; undefined where its account is closed, or nothing is known of
 *  it. */
function tokensToHold({ facts: { holding }, asked, closed }: GuardingParts, change: Change): Guards['tokens'] {
  if (holding === undefined || closed.includes(holding.account)) return undefined
  const amount = holding.tokens + change.tokens
  return { ...holding, mint: asked.mint, amount: amount > 0n ? amount : 0n }
}

/** They do not fit. What is understood is bounded by what it says. */
function withoutGuards(parts: GuardingParts): Subject {
  const { asked, policy, facts, transaction, accounts, guard } = parts
  if (guard.isRequired) return refused(parts, 'it is too large')
  const unguarded = { ...facts, guardLamports: undefined }
  return { ...parts, ...verifyTransaction(transaction, accounts, asked, policy, unguarded) }
}

function refused(parts: GuardingParts, reason: string): Subject {
  return { ...parts, refusals: [{ code: 'GUARDS', reason }] }
}
