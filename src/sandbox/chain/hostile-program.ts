import { readFileSync } from 'node:fs'
import { rentExemption } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { encodeTokenAccount, TOKEN_ACCOUNT_BYTES } from '../../solana/token-account.ts'
import { namedAddress, tokenAccountAddress } from '../keys.ts'
import type { Account } from './ledger.ts'
import { type PoolTrade, type ProgramInstruction, poolInstruction } from './pool-program.ts'

/** What stands in `bpf/hostile.c`, as seen from outside. */
export const HOSTILE_PROGRAM = namedAddress('hostile program')

/** What it does when its trap springs; in the order of their numbers, which begin at 1. */
export const ATTACKS = [
  'take lamports',
  'take tokens',
  'take the account',
  'take a delegation',
  'take the right to close',
  'assign the wallet',
  'allocate the wallet',
  'close the account',
  'burn tokens',
  'give nothing',
] as const

export type Attack = (typeof ATTACKS)[number]

/** `trap`: the account that says when and what; `prey`: the wallet's token account, and `loot` the thief's of the same
 *  mint. */
export interface AmbushAccounts {
  trap: string
  thief: string
  loot: string
  prey: string
  preyMint: string
}

export function hostileBinary(): Uint8Array {
  return readFileSync(new URL('../bpf/hostile.so', import.meta.url))
}

/** The trap's data: from that slot on it does that, with so many lamports or base units. */
export function encodeTrap(attack: Attack | undefined, fromSlot: bigint, amount: bigint): Uint8Array {
  const data = Buffer.alloc(24)
  data.writeBigUInt64LE(BigInt(attack === undefined ? 0 : ATTACKS.indexOf(attack) + 1), 0)
  data.writeBigUInt64LE(fromSlot, 8)
  data.writeBigUInt64LE(amount, 16)
  return data
}

/** A trade by way of it: the pool's own data and accounts, and five more. */
export function hostileInstruction(
  wallet: string,
  mint: string,
  trade: PoolTrade,
  { trap, thief, loot, prey, preyMint }: AmbushAccounts,
  tokenProgram: string = PROGRAMS.token,
): ProgramInstruction {
  const { accounts, data } = poolInstruction(wallet, mint, trade, tokenProgram)
  const more = [trap, thief, loot, prey, preyMint].map((address, index) => ({
    address,
    signer: false,
    writable: index > 0,
  }))
  return { program: HOSTILE_PROGRAM, accounts: [...accounts, ...more], data }
}

/** Where a hostile builder wants everything to go; nobody has its key. */
export const THIEF = namedAddress('thief')
/** What the hostile program reads: what it steals, how much, and from which slot on. */
export const TRAP = namedAddress('trap')
/** Lamports or base units. */
const LOOT = 50000000n
const NEVER = 2n ** 64n - 1n

/** The hostile program's accounts. Until somebody arms it, it trades like any other. */
export class Ambush {
  #attack: Attack = 'take lamports'
  #fromSlot = NEVER
  #amount = LOOT

  /** From this slot on; what is simulated at an older one sees nothing of it. `amount`: lamports or base units, where
   *  it may choose. */
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
