import { ComputeBudgetProgram, PublicKey, SystemProgram } from '@solana/web3.js'
import { tableOf } from './draft.ts'
import { CO_SIGNER, FEES, openSeeded, RENT, seededAccount } from './honest.ts'
import * as parts from './parts.ts'
import { type Family, insert, inserted, much, system } from './spoil.ts'

/** Attacks by System instructions. */
export const SYSTEM_FAMILIES: Readonly<Record<string, Family>> = {
  'the wallet is assigned to a program': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted(({ payer }, thief) => SystemProgram.assign({ accountPubkey: payer, programId: thief })),
  },
  'an instruction allocates data in the account of the wallet': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted(({ payer }) => SystemProgram.allocate({ accountPubkey: payer, space: 200 })),
  },
  'a seeded account of the wallet is assigned to another program': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted(({ payer }, thief) => {
      return SystemProgram.assign({
        accountPubkey: seededAccount(payer, 'x'),
        basePubkey: payer,
        seed: 'x',
        programId: thief,
      })
    }),
  },
  'a transfer of SOL to a stranger': {
    code: 'SOL_TRANSFER',
    spoil: inserted((draft, thief) => parts.transfer(draft.payer, thief, much(draft))),
  },
  'a transfer of one lamport to a stranger': {
    code: 'SOL_TRANSFER',
    spoil: inserted(({ payer }, thief) => parts.transfer(payer, thief, 1)),
  },
  'a transfer of SOL to a stranger whose key is in a lookup table': {
    code: 'SOL_TRANSFER',
    spoil: (draft, thief) => {
      insert(draft, parts.transfer(draft.payer, thief, much(draft)))
      Object.assign(draft, { version: 0, tables: [...draft.tables, tableOf(thief.toBase58(), [thief])] })
    },
  },
  'a transfer of SOL to an address that resembles the fee account': {
    code: 'SOL_TRANSFER',
    spoil: inserted((draft) => {
      const bytes = FEES.toBytes()
      bytes[draft.drawn.random.integer(32)]! ^= 1 << draft.drawn.random.integer(8)
      return parts.transfer(draft.payer, new PublicKey(bytes), much(draft))
    }),
  },
  'a new account at the key of the co-signer, owned by a program of a thief': {
    code: 'ACCOUNT_OPENED',
    shapes: ['co-signed'],
    spoil: inserted(({ payer }, thief) => {
      const how = {
        fromPubkey: payer,
        newAccountPubkey: CO_SIGNER.publicKey,
        lamports: 9_000_000,
        space: 165,
        programId: thief,
      }
      return SystemProgram.createAccount(how)
    }),
  },
  'a new seeded account that belongs to an unknown program': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted((draft, thief) => openSeeded(draft.payer, 'x', BigInt(much(draft)), thief)),
  },
  'a new seeded account that is not initialized': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer }) => openSeeded(payer, 'y', RENT)),
  },
  'a new seeded account whose base key is not the wallet': {
    code: 'ACCOUNT_OPENED',
    shapes: ['co-signed'],
    spoil: inserted(({ payer }) => openSeeded(payer, 'x', RENT, parts.TOKEN, CO_SIGNER.publicKey)),
  },
  'the seeded account of the trade is not initialized': {
    code: 'ACCOUNT_OPENED',
    shapes: ['seeded wSOL'],
    spoil: (draft) => {
      draft.instructions = draft.instructions.filter(({ data }) => data[0] !== 18)
    },
  },
  'a transfer of SOL from a key that does not sign': {
    code: 'SOL_TRANSFER',
    spoil: inserted(({ payer }, thief) => system(2, parts.u64(5), [thief, payer])),
  },
  'a SyncNative instruction for the account of a stranger': {
    code: 'INSTRUCTION_UNKNOWN',
    spoil: inserted((_draft, thief) => parts.syncNative(thief)),
  },
  'an unknown System instruction': {
    code: 'INSTRUCTION_UNKNOWN',
    spoil: inserted(({ payer, drawn }, thief) => {
      return system(13 + drawn.random.integer(240), parts.u64(5), [parts.signer(payer), thief])
    }),
  },
  'a compute budget with trailing bytes': {
    code: 'INSTRUCTION_UNKNOWN',
    shapes: ['tip', 'guards'],
    spoil: inserted(() => parts.instruction(ComputeBudgetProgram.programId, [2, 1, 0, 0, 0, 1], [])),
  },
}
