import { readFileSync } from 'node:fs'
import { rentExemption } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { encodeTokenAccount, TOKEN_ACCOUNT_BYTES } from '../../solana/token-account.ts'
import { namedAddress, tokenAccountAddress } from '../keys.ts'
import type { Account } from './ledger.ts'
import { type PoolTrade, type ProgramInstruction, poolInstruction } from './pool-program.ts'

/** Client side of the program in `bpf/hostile.c`. */
export const HOSTILE_PROGRAM = namedAddress('hostile program')

/** Actions of the armed program. Their numbers start at 1, in this order. */
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

/** `trap`: account with the action and its start slot; `prey`: token account of the wallet; `loot`: token account of
 *  the thief for the same mint. */
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

/** Data of the trap account: the action, its start slot, and its amount in lamports or base units. */
export function encodeTrap(attack: Attack | undefined, fromSlot: bigint, amount: bigint): Uint8Array {
  const data = Buffer.alloc(24)
  data.writeBigUInt64LE(BigInt(attack === undefined ? 0 : ATTACKS.indexOf(attack) + 1), 0)
  data.writeBigUInt64LE(fromSlot, 8)
  data.writeBigUInt64LE(amount, 16)
  return data
}

/** A trade through the hostile program: the pool's data and accounts, and five more accounts. */
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

/** Receiver of everything that a malicious builder steals; its private key is unknown. */
export const THIEF = namedAddress('thief')
/** Account that the hostile program reads: action, amount and start slot. */
export const TRAP = namedAddress('trap')
/** Lamports or base units. */
const LOOT = 50000000n
const NEVER = 2n ** 64n - 1n

/** Accounts of the hostile program. Until it is armed, the program trades like any other. */
export class Ambush {
  #attack: Attack = 'take lamports'
  #fromSlot = NEVER
  #amount = LOOT

  /** Arms the trap from `fromSlot` on; a simulation at an earlier slot shows an honest trade. `amount`: lamports or
   *  base units, for actions that have an amount. */
  arm(attack: Attack, fromSlot: number, amount = LOOT): void {
    this.#attack = attack
    this.#fromSlot = BigInt(fromSlot)
    this.#amount = amount
  }

  get trap(): Account {
    const data = encodeTrap(this.#attack, this.#fromSlot, this.#amount)
    return { lamports: rentExemption(data.length), owner: HOSTILE_PROGRAM, executable: false, data }
  }

  /** Token account of the thief. */
  lootAddress(mint: string, tokenProgram: string): string {
    return tokenAccountAddress(THIEF, mint, tokenProgram)
  }

  loot(mint: string, tokenProgram: string): Account {
    const data = encodeTokenAccount({ mint, owner: THIEF, amount: 0n })
    return { lamports: rentExemption(TOKEN_ACCOUNT_BYTES), owner: tokenProgram, executable: false, data }
  }
}
