import type { TradingProgram } from '../../orders/builder-policy.ts'
import { ByteReader, Malformed } from '../../solana/byte-reader.ts'
import { WSOL_MINT } from '../../solana/programs.ts'
import { bondingCurveOf, canonicalPoolOf } from '../addresses.ts'
import { LAYOUTS, type Layout } from './program-layouts.ts'
import type { Reading, Step } from './reading.ts'

/** Reads a trade by a program whose layout is known. Checks its mint, its pool and each of its accounts. */
export function readVenue(step: Step, decode: 'pump' | 'pump-swap', reading: Reading): void {
  const { place, accounts, data } = step
  const layout = LAYOUTS[decode][Buffer.from(data.subarray(0, 8)).toString('hex')]
  if (layout === undefined) {
    reading.refuse('INSTRUCTION_UNKNOWN', `instruction ${place} calls ${decode}, but is not a trade that Sluice knows`)
    return
  }
  const [least, most] = layout.bytes
  if (data.length < least || data.length > most || accounts.length < layout.accounts)
    throw new Malformed(
      `${layout.name} with ${data.length} bytes of data and ${accounts.length} accounts does not match the layout of the instruction`,
    )
  const reader = new ByteReader(data.subarray(8))
  const [one, two] = [reader.uint64(), reader.uint64()]
  const mint = accounts[layout.mint] as string
  checkMints(step, layout, reading)
  checkPool(step, decode, layout, reading)
  checkAccounts(step, layout, reading)
  const [lamports, tokens] = layout.first === 'lamports' ? [one, two] : [two, one]
  const { name, side, exact, wraps } = layout
  reading.trades.push({ name, side, mint, exact, lamports, tokens, wraps })
}

function checkMints({ place, accounts }: Step, { mint, quoteMint }: Layout, reading: Reading): void {
  if (accounts[mint] !== reading.asked.mint)
    reading.refuse(
      'WRONG_MINT',
      `instruction ${place} trades ${accounts[mint]}, but the order is for ${reading.asked.mint}`,
    )
  if (quoteMint !== undefined && accounts[quoteMint] !== WSOL_MINT)
    reading.refuse('WRONG_MINT', `instruction ${place} trades against ${accounts[quoteMint]} instead of SOL`)
}

function checkPool({ place, accounts, program }: Step, decode: string, layout: Layout, reading: Reading): void {
  const pool = accounts[layout.pool] as string
  const mint = accounts[layout.mint] as string
  const expected = decode === 'pump' ? bondingCurveOf(mint, program) : canonicalPoolOf(mint, program)
  if (pool === expected || reading.policy.pools.includes(pool)) return
  reading.refuse('POOL_UNKNOWN', `instruction ${place} uses the pool ${pool}, but the pool of the mint is ${expected}`)
}

/** Checks that the wallet's accounts are at the positions that the layout has for them, and at no other position. */
function checkAccounts({ place, accounts }: Step, layout: Layout, reading: Reading): void {
  const foreign = (what: string) => reading.refuse('ACCOUNT_FOREIGN', `instruction ${place}: ${what}`)
  const { user, account, quoteAccount } = layout
  if (accounts[user] !== reading.wallet) foreign(`the trader is ${accounts[user]}, not the wallet`)
  const tokens = reading.own.get(accounts[account] as string)
  if (tokens === undefined || tokens.mint !== accounts[layout.mint] || tokens.program !== accounts[layout.tokenProgram])
    foreign(`the token account ${accounts[account]} is not the wallet's`)
  if (quoteAccount !== undefined && !reading.isWrapped(accounts[quoteAccount]))
    foreign(`the wrapped SOL account ${accounts[quoteAccount]} is not the wallet's`)
  const places = [user, account, quoteAccount]
  const stray = accounts.find(
    (one, index) => !places.includes(index) && (one === reading.wallet || reading.own.has(one)),
  )
  if (stray !== undefined) foreign(`account ${stray} of the wallet is in an unexpected place`)
}

type Opaque = Extract<TradingProgram, { decode: 'opaque' }>

/** Reads an instruction of an opaque program, whose layout Sluice does not know. Only the first bytes of the data, the
 *  mint and the user can be checked. */
export function readOpaque({ place, accounts, data }: Step, program: Opaque, reading: Reading): void {
  const { mint, side } = reading.asked
  const start = Buffer.from(data).toString('hex')
  const begins = (beginnings: readonly string[]) => beginnings.some((one) => start.startsWith(one))
  if (begins(side === 'buy' ? program.sell : program.buy))
    reading.refuse(
      'WRONG_SIDE',
      `the order is a ${side}, but by its first bytes instruction ${place} has the other side`,
    )
  else if (!begins(program[side]))
    reading.refuse(
      'INSTRUCTION_UNKNOWN',
      `the data of instruction ${place} begins with ${start.slice(0, 16)}, which the policy does not list`,
    )
  if (accounts[program.mintIndex] !== mint)
    reading.refuse(
      'WRONG_MINT',
      `instruction ${place} trades ${accounts[program.mintIndex]}, but the order is for ${mint}`,
    )
  if (accounts[program.userIndex] !== reading.wallet)
    reading.refuse(
      'ACCOUNT_FOREIGN',
      `instruction ${place}: the trader is ${accounts[program.userIndex]}, not the wallet`,
    )
  reading.opaque.push(program.id)
  const held = accounts.filter((one) => reading.own.has(one)).length
  reading.notUnderstood.push(
    `instruction ${place} has ${data.length} bytes for the opaque program ${program.id}, which receives the wallet and ${held} of the wallet's token accounts`,
  )
}
