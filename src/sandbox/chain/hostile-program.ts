import { readFileSync } from 'node:fs'
import { rentExemption } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { encodeTokenAccount, TOKEN_ACCOUNT_BYTES } from '../../solana/token-account.ts'
import { namedAddress, tokenAccountAddress } from '../keys.ts'
import type { Account } from './ledger.ts'
import { type PoolTrade, type ProgramInstruction, poolInstruction } from './pool-program.ts'

/** Address of the program in `bpf/hostile.c`. This module describes its accounts and instructions to clients. */
export const HOSTILE_PROGRAM = namedAddress('hostile program')

/** Actions that the program can take once its trap is armed. In the program they are numbered from 1, in this order. */
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

/** Accounts of the attack. `trap`: account with the action and its start slot; `prey`: token account of the wallet;
 *  `loot`: token account of the thief for the same mint. */
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

/** Encodes the data of the trap account: the action, its start slot, and its amount in lamports or base units. */
export function encodeTrap(attack: Attack | undefined, fromSlot: bigint, amount: bigint): Uint8Array {
  const data = Buffer.alloc(24)
  data.writeBigUInt64LE(BigInt(attack === undefined ? 0 : ATTACKS.indexOf(attack) + 1), 0)
  data.writeBigUInt64LE(fromSlot, 8)
  data.writeBigUInt64LE(amount, 16)
  return data
}

/** Instruction for a trade through the hostile program. It has the data and the accounts of the pool's instruction, and
 *  five more accounts. */
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

/** Account that receives everything that a malicious builder steals; its private key is unknown. */
export const THIEF = namedAddress('thief')
/** Account in which the hostile program reads its action, amount and start slot. */
export const TRAP = namedAddress('trap')
/** Amount that an attack takes by default, lamports or base units. */
const LOOT = 50000000n
const NEVER = 2n ** 64n - 1n

/** The accounts of the hostile program on the chain. Until it is armed, the program trades honestly. */
export class Ambush {
  #attack: Attack = 'take lamports'
  #fromSlot = NEVER
  #amount = LOOT

  /** Arms the trap. The attack starts at `fromSlot`; a simulation at an earlier slot shows an honest trade. `amount`:
   *  lamports or base units, for actions that have an amount. */
  arm(attack: Attack, fromSlot: number, amount = LOOT): void {
    this.#attack = attack
    this.#fromSlot = BigInt(fromSlot)
    this.#amount = amount
  }

  get trap(): Account {
    const data = encodeTrap(this.#attack, this.#fromSlot, this.#amount)
    return { lamports: rentExemption(data.length), owner: HOSTILE_PROGRAM, executable: false, data }
  }

  /** Address of the thief's token account. */
  lootAddress(mint: string, tokenProgram: string): string {
    return tokenAccountAddress(THIEF, mint, tokenProgram)
  }

  loot(mint: string, tokenProgram: string): Account {
    const data = encodeTokenAccount({ mint, owner: THIEF, amount: 0n })
    return { lamports: rentExemption(TOKEN_ACCOUNT_BYTES), owner: tokenProgram, executable: false, data }
  }
}
