import fc from 'fast-check'
import { lamports, ZERO } from '../../src/base/units.ts'
import type { FillCosts } from '../../src/engine/accounting/fill-costs.ts'
import type { TradeSide } from '../../src/market/block.ts'
import { JITO_TIPS } from '../../src/orders/builder-policy.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { keyOf, landed, MINT, POOL, type RawCall, type Use, WALLET, WSOL } from './landed.ts'

/** The parts of a trade that landed, in lamports and base units. `answerOf` makes a node's answer from them. */
export interface Shape {
  readonly side: TradeSide
  readonly alone: number
  /**
   * The part of the venue's fee that each receiving account gets, lamports. The first part is random; each further part
   * is half of the previous one.
   */
  readonly venueFees: readonly number[]
  readonly service: number
  /**
   * How the service takes its fee: by a transfer in the message, through its own program that calls the venue, or in
   * wrapped SOL.
   */
  readonly taken: 'transfer' | 'router' | 'wrapped'
  readonly tip: number
  readonly priority: number
  readonly hasLimit: boolean
  /** State of the wallet's token account after the trade. */
  readonly account: 'opened' | 'kept' | 'closed'
  /** The rent of a record account that the venue opens at the wallet's cost. */
  readonly record: number
  /**
   * `direct`: the program changes balances without a transfer instruction, as bonding curves do when they buy tokens
   * back.
   */
  readonly moves: 'transfers' | 'direct' | 'wrapped'
  /** Whether the account of wrapped SOL is kept, or exists only within the transaction. */
  readonly wrapped: 'kept' | 'transient'
  readonly tokens: number
  readonly withheld: number
}

const RENT = 2_039_280
const [OWN, VAULT, QUOTE_VAULT, OWN_WRAPPED] = [keyOf(21), keyOf(40), keyOf(41), keyOf(42)]
const [SERVICE, RECORD, VENUE, ROUTER] = [keyOf(43), keyOf(44), keyOf(45), keyOf(46)]
const feeAccount = (index: number): string => keyOf(50 + index)
const TIP = JITO_TIPS[3]
const LIMIT = 123_457

const amount = (): fc.Arbitrary<number> => fc.integer({ min: 1, max: 50_000_000 })
const some = (): fc.Arbitrary<number> => fc.oneof(fc.constant(0), amount())

export const shapes: fc.Arbitrary<Shape> = fc
  .record({
    side: fc.constantFrom<TradeSide>('buy', 'sell'),
    alone: fc.integer({ min: 1_000_000, max: 2_000_000_000 }),
    venueFees: fc.array(fc.integer({ min: 1, max: 90_000 }), { maxLength: 3 }),
    service: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 500_000 })),
    taken: fc.constantFrom<Shape['taken']>('transfer', 'router', 'wrapped'),
    tip: some(),
    priority: some(),
    hasLimit: fc.boolean(),
    account: fc.constantFrom<Shape['account']>('opened', 'kept', 'closed'),
    record: fc.oneof(fc.constant(0), fc.integer({ min: 890_880, max: 2_000_000 })),
    moves: fc.constantFrom<Shape['moves']>('transfers', 'direct', 'wrapped'),
    wrapped: fc.constantFrom<Shape['wrapped']>('kept', 'transient'),
    tokens: fc.integer({ min: 1_000, max: 1_000_000_000 }),
    withheld: fc.integer({ min: 0, max: 900 }),
  })
  // Shapes that cannot occur are changed: a buy opens accounts, a sale closes them, and only instructions move the
  // wallet's SOL.
  .map((shape) => ({
    ...shape,
    account:
      shape.side === 'buy' && shape.account === 'closed'
        ? 'opened'
        : shape.account === 'opened' && shape.side === 'sell'
          ? 'closed'
          : shape.account,
    moves: shape.side === 'buy' && shape.moves === 'direct' ? 'transfers' : shape.moves,
    taken: shape.taken === 'wrapped' && shape.moves !== 'wrapped' ? 'transfer' : shape.taken,
  }))

/** Returns the costs that must be read from a trade of this shape. */
export function costsOf(shape: Shape): FillCosts {
  const { alone, venueFees, service, priority, tip, account, record, withheld } = shape
  return {
    tradeLamports: lamports(alone),
    venueFeeLamports: lamports(sum(venueFees)),
    serviceFeeLamports: lamports(service),
    baseFeeLamports: lamports(5_000),
    priorityFeeLamports: lamports(priority),
    tipLamports: lamports(tip),
    rentPaidLamports: lamports((account === 'opened' ? RENT : 0) + record),
    rentReturnedLamports: lamports(account === 'closed' ? RENT : 0),
    wrappedLamports: usesWrapped(shape) && shape.wrapped === 'kept' ? lamports(wrappedChange(shape)) : ZERO,
    remainderLamports: ZERO,
    withheldTokens: BigInt(withheld),
    unknown: [],
  }
}

/** Returns the change of the wallet's wrapped SOL by the trade. */
function wrappedChange({ side, alone, venueFees, service, taken }: Shape): number {
  const fee = taken === 'wrapped' ? service : 0
  return side === 'buy' ? -alone - sum(venueFees) - fee : alone - sum(venueFees) - fee
}

function usesWrapped({ moves }: Shape): boolean {
  return moves === 'wrapped'
}

/** Result of getTransaction. */
export function answerOf(shape: Shape): ReturnType<typeof landed> {
  const { side, alone, venueFees, service, taken, tip, priority, account, record, tokens, withheld } = shape
  const isBuy = side === 'buy'
  const isWrapped = usesWrapped(shape)
  const holdsWrapped = isWrapped && shape.wrapped === 'kept'
  const ownRent = account === 'opened' ? RENT : account === 'closed' ? -RENT : 0
  const direct = holdsWrapped
    ? -(taken === 'wrapped' ? 0 : service)
    : isBuy
      ? -alone - sum(venueFees) - service
      : alone - sum(venueFees) - service
  const change = direct - tip - record - ownRent - 5_000 - priority
  const arrives = tokens - (isBuy ? withheld : 0)
  const before = 5_000_000_000
  const wrappedBefore = 3_000_000_000
  const uses: Use[] = [
    { key: WALLET, lamports: [before, before + change] },
    {
      key: OWN,
      lamports: [account === 'opened' ? 0 : RENT, account === 'closed' ? 0 : RENT],
      tokens: isBuy
        ? [account === 'opened' ? undefined : 0n, BigInt(arrives)]
        : [BigInt(tokens), account === 'closed' ? undefined : 0n],
      mint: MINT,
      owner: WALLET,
    },
    { key: POOL, lamports: [10_000_000_000, 10_000_000_000 + (isWrapped ? 0 : isBuy ? alone : -alone)] },
    {
      key: VAULT,
      lamports: [RENT, RENT],
      tokens: isBuy ? [10n ** 15n, 10n ** 15n - BigInt(tokens)] : [10n ** 15n, 10n ** 15n + BigInt(tokens - withheld)],
      mint: MINT,
      owner: POOL,
    },
    ...venueFees.map((fee, index) =>
      isWrapped
        ? { ...wsol(feeAccount(index), 70_000, fee), owner: keyOf(60 + index) }
        : { key: feeAccount(index), lamports: [1_000_000, 1_000_000 + fee] as [number, number] },
    ),
    ...(isWrapped ? [{ ...wsol(QUOTE_VAULT, 9_000_000_000, isBuy ? alone : -alone), owner: POOL }] : []),
    ...(isWrapped
      ? [
          holdsWrapped
            ? { ...wsol(OWN_WRAPPED, wrappedBefore, wrappedChange(shape)), owner: WALLET }
            : { key: OWN_WRAPPED, lamports: [0, 0] as [number, number] },
        ]
      : []),
    taken === 'wrapped'
      ? { ...wsol(SERVICE, 4_000, service), owner: keyOf(70) }
      : { key: SERVICE, lamports: [900_000, 900_000 + service] },
    { key: TIP, lamports: [7_000_000, 7_000_000 + tip] },
    { key: RECORD, lamports: [record === 0 ? 1_000_000 : 0, record === 0 ? 1_000_000 : record] },
  ]
  return landed(uses, { fee: 5_000 + priority, calls: callsOf(shape) })
}

function wsol(key: string, before: number, change: number): Use {
  return {
    key,
    lamports: [RENT + before, RENT + before + change],
    tokens: [BigInt(before), BigInt(before + change)],
    mint: WSOL,
  }
}

function callsOf(shape: Shape): RawCall[] {
  const { side, alone, venueFees, service, taken, tip, priority, hasLimit, record, moves, tokens } = shape
  const isBuy = side === 'buy'
  const isWrapped = moves === 'wrapped'
  const depth = taken === 'router' ? 3 : 2
  const tokenMove = {
    ...transferChecked(
      isBuy ? VAULT : OWN,
      MINT,
      isBuy ? OWN : VAULT,
      isBuy ? POOL : WALLET,
      tokens,
      PROGRAMS.token2022,
    ),
    height: depth,
  }
  const payVenue = venueFees.map((fee, index) => ({
    ...(isWrapped
      ? transferChecked(OWN_WRAPPED, WSOL, feeAccount(index), WALLET, fee)
      : transfer(feeAccount(index), fee)),
    height: depth,
  }))
  const payPool = isWrapped
    ? isBuy
      ? transferChecked(OWN_WRAPPED, WSOL, QUOTE_VAULT, WALLET, alone)
      : transferChecked(QUOTE_VAULT, WSOL, OWN_WRAPPED, POOL, alone)
    : transfer(POOL, alone)
  const isSilent = moves === 'direct' || (!isWrapped && !isBuy)
  const inner = [
    ...(record > 0 ? [{ ...create(RECORD, record), height: depth }] : []),
    tokenMove,
    ...(isSilent ? [] : [{ ...payPool, height: depth }, ...payVenue]),
  ]
  const venueAccounts = [
    MINT,
    POOL,
    VAULT,
    OWN,
    WALLET,
    QUOTE_VAULT,
    OWN_WRAPPED,
    RECORD,
    ...venueFees.map((_fee, index) => feeAccount(index)),
  ]
  const venue = { program: VENUE, accounts: venueAccounts, data: Uint8Array.of(1, 2, 3) }
  const payService =
    taken === 'wrapped' ? transferChecked(OWN_WRAPPED, WSOL, SERVICE, WALLET, service) : transfer(SERVICE, service)
  return [
    ...budget(priority, hasLimit),
    ...(isWrapped && shape.wrapped === 'transient' ? [initialize(OWN_WRAPPED)] : []),
    taken === 'router'
      ? {
          program: ROUTER,
          accounts: [...venueAccounts, SERVICE, VENUE],
          data: Uint8Array.of(9),
          inner: [{ ...venue, height: 2 }, ...inner, { ...payService, height: 2 }],
        }
      : { ...venue, inner },
    ...(taken === 'router' || service === 0 ? [] : [payService]),
    ...(tip > 0 ? [transfer(TIP, tip)] : []),
  ]
}

/**
 * Returns instructions that set the price of a compute unit and, if `hasLimit`, the number of units. With both, price
 * times number is the priority fee.
 */
function budget(priority: number, hasLimit: boolean): RawCall[] {
  if (priority === 0) return []
  const price = Math.floor((priority * 1_000_000) / LIMIT)
  const limit = Buffer.from([2, 0, 0, 0, 0])
  limit.writeUInt32LE(LIMIT, 1)
  const asked = Buffer.alloc(9, 3)
  asked.writeBigUInt64LE(BigInt(price), 1)
  const call = (data: Uint8Array): RawCall => ({ program: PROGRAMS.computeBudget, accounts: [], data })
  return hasLimit ? [call(limit), call(asked)] : [call(asked)]
}

function transfer(to: string, value: number): RawCall {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2, 0)
  data.writeBigUInt64LE(BigInt(value), 4)
  return { program: PROGRAMS.system, accounts: [WALLET, to], data }
}

function create(to: string, value: number): RawCall {
  const data = Buffer.alloc(52)
  data.writeBigUInt64LE(BigInt(value), 4)
  return { program: PROGRAMS.system, accounts: [WALLET, to], data }
}

function transferChecked(
  from: string,
  mint: string,
  to: string,
  by: string,
  value: number,
  program: string = PROGRAMS.token,
): RawCall {
  const data = Buffer.alloc(10)
  data[0] = 12
  data.writeBigUInt64LE(BigInt(value), 1)
  return { program, accounts: [from, mint, to, by], data }
}

function initialize(account: string): RawCall {
  const key = Buffer.alloc(33, 9)
  key[0] = 18
  return { program: PROGRAMS.token, accounts: [account, WSOL], data: key }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
