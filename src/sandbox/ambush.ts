import { namedAddress, tokenAccountAddress } from './addresses.ts'
import { type Attack, encodeTrap, HOSTILE_PROGRAM } from './hostile-program.ts'
import { type Account, rentExemption } from './ledger.ts'
import { encodeTokenAccount, TOKEN_ACCOUNT_BYTES } from './token-layout.ts'

/** Where a hostile builder wants everything to go; nobody has its key. */
export const THIEF = namedAddress('thief')
/** What the hostile program reads: what it steals, how much, and from which slot on. */
export const TRAP = namedAddress('trap')

/** Lamports or base units. */
const LOOT = 50_000_000n
const NEVER = 2n ** 64n - 1n

/** The hostile program's accounts. Until somebody arms it, it trades like any other. */
export class Ambush {
  #attack: Attack = 'take lamports'
  #fromSlot = NEVER
  #amount = LOOT

  /** From this slot on; what is simulated at an older one sees nothing of it. `amount`: lamports or base units, where it may choose. */
  arm(attack: Attack, fromSlot: number, amount = LOOT): void {
    this.#attack = attack
    this.#fromSlot = BigInt(fromSlot)
    this.#amount = amount
  }

  get trap(): Account {
    const data = encodeTrap(this.#attack, this.#fromSlot, this.#amount)
    return { lamports: rentExemption(data.length), owner: HOSTILE_PROGRAM, executable: false, data }
  }

  /** Where the thief takes tokens. */
  lootAddress(mint: string, tokenProgram: string): string {
    return tokenAccountAddress(THIEF, mint, tokenProgram)
  }

  loot(mint: string, tokenProgram: string): Account {
    const data = encodeTokenAccount({ mint, owner: THIEF, amount: 0n })
    return { lamports: rentExemption(TOKEN_ACCOUNT_BYTES), owner: tokenProgram, executable: false, data }
  }
}
