import { PROGRAMS } from '../../solana/programs.ts'
import type { Dialect } from '../dialect.ts'
import { digest } from '../keys.ts'
import type { Records } from '../records.ts'
import type { Bank } from './bank.ts'
import type { Account, LandedInstruction, LandedTransaction } from './ledger.ts'

export interface AccountMeta {
  address: string
  writable: boolean
  /** Out of a lookup table instead of the message's own keys. */
  looked?: boolean
}

/** What a transaction names besides its payer. `instructions` are in order; the last one is the program's own. */
export interface Plan {
  accounts: AccountMeta[]
  /** Token accounts whose balances the transaction's record shows. */
  tokenAccounts: { account: string; mint: string; owner: string }[]
  instructions: LandedInstruction[]
}

/**
 * Code on the small ledger. A submitted transaction names it and carries its data, so that it can run after a restart.
 */
export interface Program<Data = unknown> {
  /** Brings accounts that live outside the ledger (the market's pools) up to date, outside the transaction. */
  load?(data: Data, bank: Bank): void
  plan(data: Data): Plan
  /** Throws ProgramFailure to revert. */
  execute(data: Data, bank: Bank): void
  /** Once the transaction is on disk. */
  landed?(data: Data, transaction: LandedTransaction): void
  /** An account that lives outside the ledger, such as a mint. */
  account?(address: string): Account | undefined
}

export interface TransferData {
  from: string
  to: string
  lamports: number
}

/** Moves SOL; for tests of inflows and of transfers that are not the bot's. */
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

/** Which of the two token programs a mint is of. */
export type TokenPrograms = (mint: string) => 'token' | 'token2022'
const KEY = 'tokenProgram'

/** As the dialect says; a chain keeps to what it began with, so that what is held can be sold. */
export function tokenPrograms(dialect: Dialect, records: Records): TokenPrograms {
  const chosen = records.read<Dialect['tokenProgram']>('chain').get(KEY) ?? dialect.tokenProgram
  records.write([{ kind: 'chain', key: KEY, body: chosen }])
  if (chosen !== 'both') return () => chosen
  return (mint) => (digest(mint).readUInt8(0) % 2 === 0 ? 'token' : 'token2022')
}
