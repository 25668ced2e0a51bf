import { PROGRAMS } from '../../solana/programs.ts'
import type { Dialect } from '../dialect.ts'
import { digest } from '../keys.ts'
import type { Records } from '../records.ts'
import type { Bank } from './bank.ts'
import type { Account, LandedInstruction, LandedTransaction } from './ledger.ts'

export interface AccountMeta {
  address: string
  writable: boolean
  /** Whether the account comes from a lookup table. */
  looked?: boolean
}

/** Accounts and instructions of a transaction, without its payer. The last instruction is that of the program
 *  itself. */
export interface Plan {
  accounts: AccountMeta[]
  /** Token accounts whose balances are recorded with the transaction. */
  tokenAccounts: { account: string; mint: string; owner: string }[]
  instructions: LandedInstruction[]
}

/** A program on the small ledger. A submitted transaction stores the program's name and data, so that it can still be
 *  executed after a restart. */
export interface Program<Data = unknown> {
  /** Called before the transaction. Updates the accounts whose state is kept outside of the ledger (the market's
   *  pools). */
  load?(data: Data, bank: Bank): void
  plan(data: Data): Plan
  /** Executes the transaction. Throws ProgramFailure, which reverts it. */
  execute(data: Data, bank: Bank): void
  /** Called when the transaction has become durable. */
  landed?(data: Data, transaction: LandedTransaction): void
  /** An account whose state is outside of the ledger, such as a mint; undefined for other addresses. */
  account?(address: string): Account | undefined
}

export interface TransferData {
  from: string
  to: string
  lamports: number
}

/** Transfers SOL. Tests use it for deposits, and for transfers by other software that has the wallet's key. */
export const transferProgram: Program<TransferData> = {
  plan({ from, to, lamports }) {
    const data = Buffer.alloc(12)
    data.writeUInt32LE(2, 0)
    data.writeBigUInt64LE(BigInt(lamports), 4)
    return {
      accounts: [
        { address: from, writable: true },
        { address: to, writable: true },
      ],
      tokenAccounts: [],
      instructions: [{ program: PROGRAMS.system, accounts: [from, to], data: data.toString('hex') }],
    }
  },
  execute: ({ from, to, lamports }, bank) => bank.transfer(from, to, lamports),
}

/** Returns the token program of a mint. */
export type TokenPrograms = (mint: string) => 'token' | 'token2022'
const KEY = 'tokenProgram'

/** Returns the token programs of the mints. The dialect (variant of the service's protocol) chooses them at the first
 *  start of a chain. Later starts keep this choice, so that held tokens can be sold. */
export function tokenPrograms(dialect: Dialect, records: Records): TokenPrograms {
  const chosen = records.read<Dialect['tokenProgram']>('chain').get(KEY) ?? dialect.tokenProgram
  records.write([{ kind: 'chain', key: KEY, body: chosen }])
  if (chosen !== 'both') return () => chosen
  return (mint) => (digest(mint).readUInt8(0) % 2 === 0 ? 'token' : 'token2022')
}
