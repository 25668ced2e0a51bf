import { PROGRAMS } from '../core/programs.ts'
import { tokenAccountAddress } from './addresses.ts'
import { computeBudget } from './compute-budget.ts'
import type { Call } from './message.ts'

/** Instructions as builders write them. */

export function budgetCalls(unitLimit: number, priorityFeeLamports: number): Call[] {
  const budget = computeBudget(unitLimit, priorityFeeLamports)
  return budget.map((data) => ({ program: PROGRAMS.computeBudget, accounts: [], data }))
}

export function transferCall(from: string, to: string, lamports: bigint): Call {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2, 0)
  data.writeBigUInt64LE(lamports, 4)
  const accounts = [
    { address: from, signer: true, writable: true },
    { address: to, writable: true },
  ]
  return { program: PROGRAMS.system, accounts, data }
}

/** Opens the owner's associated token account where there is none, at the payer's cost. */
export function openCall(payer: string, owner: string, mint: string, tokenProgram: string): Call {
  const accounts = [
    { address: payer, signer: true, writable: true },
    { address: tokenAccountAddress(owner, mint, tokenProgram), writable: true },
    ...[owner, mint, PROGRAMS.system, tokenProgram].map((address) => ({ address })),
  ]
  return { program: PROGRAMS.associatedToken, accounts, data: Uint8Array.of(1) }
}

/** Closes the owner's associated token account; its rent goes to him. */
export function closeCall(owner: string, mint: string, tokenProgram: string): Call {
  const accounts = [
    { address: tokenAccountAddress(owner, mint, tokenProgram), writable: true },
    { address: owner, writable: true },
    { address: owner, signer: true },
  ]
  return { program: tokenProgram, accounts, data: Uint8Array.of(9) }
}
