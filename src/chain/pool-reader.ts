import type { Refusal } from '../core/errors.ts'
import type { PoolAnswer } from '../core/pool-reading.ts'
import type { Clock, Rpc } from '../core/ports.ts'
import { CLOCK_SYSVAR } from '../core/programs.ts'
import type { Millis } from '../core/units.ts'
import { clockTimeOf } from './chain-time.ts'
import { curveAddresses, poolAddresses, readCurve, readPool, type Sides } from './pool-accounts.ts'
import { Unread } from './read.ts'
import { type AccountState, readAccounts } from './verifier/account-state.ts'

export interface PoolReaderParts {
  readonly rpc: Rpc
  readonly clock: Clock
  /** Those with bonding curves. */
  readonly programs: readonly string[]
  /** Told once for each time that it was asked for, whatever comes of it. */
  readonly told: (mint: string, answer: PoolAnswer) => void
}

/** What is asked for within so long is read together. */
const GATHER_MS = 50
/** Accounts of one call, the clock beside them: they are read of one slot. */
const MOST_ACCOUNTS = 99
const POOL_ACCOUNTS = 4
const MOST_KEPT = 10_000

/** Reads the pools of mints over RPC, as many as fit with each call, and one call at a time. */
export class PoolReader {
  readonly #parts: PoolReaderParts
  #asked = new Set<string>()
  #isBusy = false
  #isStopped = false
  /** Of mints that were found in the pool that follows the curve: their token program. */
  readonly #migrated = new Map<string, string>()

  constructor(parts: PoolReaderParts) {
    this.#parts = parts
  }

  /** What is being read already is read anew after that. */
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

  /** `size`: accounts of one mint. */
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
    if (!this.#isStopped) this.#parts.told(mint, answer)
  }

  async #accounts(addresses: readonly string[]): Promise<Found | Refusal> {
    try {
      const { slot, accounts } = await readAccounts(this.#parts.rpc, addresses)
      const [clock, ...rest] = accounts
      const time = clock ? clockTimeOf(clock) : undefined
      if (time === undefined) return silent('the node does not tell the time of the chain')
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

/** How what a mint is traded in is read; undefined: it is not there any more. */
interface Kind {
  readonly addresses: (mint: string) => readonly string[]
  readonly read: (mint: string, accounts: readonly (AccountState | null)[]) => Sides | Refusal | undefined
}

function silent(reason: string): Refusal {
  return { code: 'POOL_SILENT', reason }
}
