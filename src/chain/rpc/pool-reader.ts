import type { Refusal } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { PoolAnswer } from '../../market/pool-price.ts'
import type { TradingProgram } from '../../orders/builder-policy.ts'
import { encodeBase58 } from '../../solana/base58.ts'
import { mintDecimalsOf } from '../../solana/mint.ts'
import { CLOCK_SYSVAR, PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { type AccountState, tokenAccountOf as tokenStateOf } from '../../solana/token-account.ts'
import { keyBytes } from '../../solana/transaction.ts'
import { bondingCurveOf, canonicalPoolOf, tokenAccountOf } from '../addresses.ts'
import { readAccounts } from './accounts.ts'
import { clockTimeOf } from './chain-time.ts'
import { Unread } from './read.ts'
import type { Rpc } from './rpc.ts'

export interface PoolReaderParts {
  readonly rpc: Rpc
  readonly clock: Clock
  /** Ids of the programs with bonding curves. */
  readonly programs: readonly string[]
  /** Called once for each mint after its read, even if the read failed. */
  readonly onAnswer: (mint: string, answer: PoolAnswer) => void
}

/** Requests that arrive within this time of the first one are read together. */
const GATHER_MS = 50
/** Maximum number of accounts per call, not counting the Clock account. All accounts of a call are from one slot. */
const MOST_ACCOUNTS = 99
const POOL_ACCOUNTS = 4
const MOST_KEPT = 10_000

/** Reads the pools of mints over RPC, as many per call as fit, one call at a time. */
export class PoolReader {
  readonly #parts: PoolReaderParts
  #asked = new Set<string>()
  #isBusy = false
  #isStopped = false
  /** Mints that have migrated from their curve to a pool, with the token program of each. */
  readonly #migrated = new Map<string, string>()

  constructor(parts: PoolReaderParts) {
    this.#parts = parts
  }

  /** Requests a read of the mint's pool. If the mint is being read already, it is read again afterwards. */
  ask(mint: string): void {
    this.#asked.add(mint)
    this.#gather()
  }

  stop(): void {
    this.#isStopped = true
  }

  #gather(): void {
    if (this.#isBusy || this.#asked.size === 0) return
    this.#isBusy = true
    this.#parts.clock.after(GATHER_MS, () => void this.#readAll())
  }

  async #readAll(): Promise<void> {
    const { programs } = this.#parts
    const onCurve: string[] = []
    const inPool = new Map<string, string>()
    for (const mint of this.#asked) {
      const tokenProgram = this.#migrated.get(mint)
      if (tokenProgram === undefined) onCurve.push(mint)
      else inPool.set(mint, tokenProgram)
    }
    this.#asked = new Set()
    await this.#read(onCurve, 1 + programs.length, {
      addresses: (mint) => curveAddresses(mint, programs),
      read: (mint, accounts) => {
        const curve = readCurve(accounts, programs)
        if (curve !== 'migrated') return curve
        inPool.set(mint, accounts[0]?.owner ?? '')
        return undefined
      },
    })
    await this.#read([...inPool.keys()], POOL_ACCOUNTS, {
      addresses: (mint) => poolAddresses(mint, inPool.get(mint) as string),
      read: (mint, accounts) => {
        const sides = readPool(accounts, mint)
        if ('code' in sides) this.#migrated.delete(mint)
        else this.#keep(mint, inPool.get(mint) as string)
        return sides
      },
    })
    this.#isBusy = false
    this.#gather()
  }

  /** Reads the pools of mints that trade in one kind of market, and reports the answers. `size`: number of accounts per
   *  mint. */
  async #read(mints: readonly string[], size: number, { addresses, read }: Kind): Promise<void> {
    const together = Math.floor(MOST_ACCOUNTS / size)
    for (let from = 0; from < mints.length && !this.#isStopped; from += together) {
      const some = mints.slice(from, from + together)
      const found = await this.#accounts([CLOCK_SYSVAR, ...some.flatMap(addresses)])
      for (const [index, mint] of some.entries()) {
        if ('code' in found) this.#tell(mint, found)
        else {
          const { slot, time, accounts } = found
          const sides = read(mint, accounts.slice(index * size, (index + 1) * size))
          if (sides !== undefined) this.#tell(mint, 'code' in sides ? sides : { slot, time, ...sides })
        }
      }
    }
  }

  #tell(mint: string, answer: PoolAnswer): void {
    if (!this.#isStopped) this.#parts.onAnswer(mint, answer)
  }

  async #accounts(addresses: readonly string[]): Promise<Found | Refusal> {
    try {
      const { slot, accounts } = await readAccounts(this.#parts.rpc, addresses)
      const [clock, ...rest] = accounts
      const time = clock ? clockTimeOf(clock) : undefined
      if (time === undefined) return silent('the node does not report the time of the chain')
      return { slot, time, accounts: rest }
    } catch (error) {
      if (error instanceof Unread) return silent(error.message)
      throw error
    }
  }

  #keep(mint: string, tokenProgram: string): void {
    if (this.#migrated.size >= MOST_KEPT) this.#migrated.clear()
    this.#migrated.set(mint, tokenProgram)
  }
}

interface Found {
  readonly slot: number
  readonly time: Millis
  readonly accounts: readonly (AccountState | null)[]
}

/** How the pools of one kind of market (curve or migrated pool) are read: the addresses of a mint's accounts, and the
 *  decoder. `read` returns undefined if the mint no longer trades in this kind of market. */
interface Kind {
  readonly addresses: (mint: string) => readonly string[]
  readonly read: (mint: string, accounts: readonly (AccountState | null)[]) => Sides | Refusal | undefined
}

function silent(reason: string): Refusal {
  return { code: 'POOL_SILENT', reason }
}

// The code below reads pools from their accounts on the chain. Sources: pump-public-docs @1b82215, idl/pump.json
// BondingCurve and idl/pump_amm.json Pool. Fields added after that IDL are described in
// docs/NEGATIVE_VIRTUAL_QUOTE_RESERVES.md of the same repository. Both layouts were extended several times; a field
// that a shorter account does not have counts as 0. Only the program from which an account's address is derived can
// write to the account, so the content can be trusted.
/** The two reserves of a pool, in lamports and in base units of the token. Their ratio is its price. */
export interface Sides {
  readonly lamports: bigint
  readonly tokens: bigint
  readonly decimals: number
}

const CURVE = '17b7f83760d8ac60'
const CURVE_BYTES = 49
const COMPLETE_AT = 48
/** Offset of the mint against which the curve trades. The field has existed since May 2026, and only on curves of
 *  pump.fun itself. An absent or empty field means SOL. */
const QUOTE_AT = 83
const POOL = 'f19a6d0411b16dbc'
const POOL_BYTES = 211
/** Offset of the virtual SOL reserve, a signed 16-byte integer. */
const VIRTUAL_AT = 245
const KEY_BYTES = 32
/** Minimum SOL reserve. Below it a pool has no price, because a small trade could move the price at will. */
const LEAST_LAMPORTS = 10000000n
/** Maximum of an unsigned 8-byte integer. */
const MOST = 2n ** 64n - 1n
const MOST_DECIMALS = 12
const NO_KEY = new Uint8Array(KEY_BYTES)

/** Returns the ids of the programs with bonding curves: pump.fun's own, and configured programs with the same
 *  layout. */
export function curveProgramsOf(programs: readonly TradingProgram[]): string[] {
  const named = programs.filter(({ decode }) => decode === 'pump').map(({ id }) => id)
  return [...new Set([PROGRAMS.bondingCurve, ...named])]
}

/** Returns the addresses of the accounts from which the curves of a mint are read: first the mint itself, whose account
 *  holds the number of decimals, then one curve for each program. */
export function curveAddresses(mint: string, programs: readonly string[]): string[] {
  return [mint, ...programs.map((program) => bondingCurveOf(mint, program))]
}

/** Returns the addresses of a migrated mint: the mint, its pool, and the pool's two vaults. */
export function poolAddresses(mint: string, tokenProgram: string): string[] {
  const pool = canonicalPoolOf(mint, PROGRAMS.pumpSwap)
  return [mint, pool, tokenAccountOf(pool, mint, tokenProgram), tokenAccountOf(pool, WSOL_MINT, PROGRAMS.token)]
}

/** Reads the reserves of the mint's curve. Returns `migrated` if the mint has no curve, or if its curve is complete. */
export function readCurve(
  [mint, ...curves]: readonly (AccountState | null)[],
  programs: readonly string[],
): Sides | Refusal | 'migrated' {
  const decimals = mint ? mintDecimalsOf(mint) : undefined
  if (decimals === undefined) return unreadable('the address is not a mint')
  const found = curves.findIndex((account, index) => account?.owner === programs[index])
  const account = curves[found]
  if (!account) return 'migrated'
  const { data } = account
  if (data.length < CURVE_BYTES || !startsWith(data, CURVE))
    return unreadable("the layout of the token's curve is unknown")
  if (data[COMPLETE_AT] !== 0) return 'migrated'
  if (programs[found] === PROGRAMS.bondingCurve && !isSol(data.subarray(QUOTE_AT, QUOTE_AT + KEY_BYTES)))
    return unreadable("the token's curve does not trade against SOL")
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const [virtualTokens, virtualLamports, tokens, lamports] = [8, 16, 24, 32].map((at) => bytes.readBigUInt64LE(at)) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  if (tokens > virtualTokens || lamports > virtualLamports || lamports > account.lamports)
    return unreadable("the reserves of the token's curve are impossible")
  return sides(virtualLamports, virtualTokens, decimals)
}

export function readPool(
  [mint, pool, tokens, lamports]: readonly (AccountState | null)[],
  key: string,
): Sides | Refusal {
  const decimals = mint ? mintDecimalsOf(mint) : undefined
  if (decimals === undefined || !mint) return unreadable('the address is not a mint')
  if (pool?.owner !== PROGRAMS.pumpSwap) return unreadable('the token has neither a curve nor a pool on pump.fun')
  const { data } = pool
  if (data.length < POOL_BYTES || !startsWith(data, POOL))
    return unreadable("the layout of the token's pool is unknown")
  const [, address, tokenVault, lamportVault] = poolAddresses(key, mint.owner)
  const named = [43, 75, 139, 171].map((at) => encodeBase58(data.subarray(at, at + KEY_BYTES)))
  if ([key, WSOL_MINT, tokenVault, lamportVault].some((wanted, index) => wanted !== named[index]))
    return unreadable("the token's pool trades another pair")
  const [base, quote] = [tokenStateOf(tokens ?? null), tokenStateOf(lamports ?? null)]
  if (base?.mint !== key || quote?.mint !== WSOL_MINT || base.owner !== address || quote.owner !== address)
    return unreadable("the token's pool does not own its vaults")
  return sides(quote.tokens + virtualLamports(data), base.tokens, decimals)
}

function sides(lamports: bigint, tokens: bigint, decimals: number): Sides | Refusal {
  if (lamports < LEAST_LAMPORTS || tokens <= 0n) return unreadable("the token's pool is empty")
  const isOdd = lamports > MOST || tokens > MOST || decimals > MOST_DECIMALS
  return isOdd ? unreadable("the reserves of the token's pool are impossible") : { lamports, tokens, decimals }
}

/** Returns the lamports that must be added to the pool's SOL reserve before its price is computed. Fees that are not
 *  paid out yet make this number negative. A virtual SOL reserve makes it positive. */
function virtualLamports(data: Uint8Array): bigint {
  if (data.length < VIRTUAL_AT + 16) return 0n
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return bytes.readBigUInt64LE(VIRTUAL_AT) + (bytes.readBigInt64LE(VIRTUAL_AT + 8) << 64n)
}

function isSol(key: Uint8Array): boolean {
  return key.length < KEY_BYTES || [NO_KEY, keyBytes(WSOL_MINT)].some((sol) => Buffer.compare(sol, key) === 0)
}

function startsWith(data: Uint8Array, hex: string): boolean {
  return Buffer.from(data.subarray(0, 8)).toString('hex') === hex
}

function unreadable(reason: string): Refusal {
  return { code: 'POOL_UNREADABLE', reason }
}
