import { ComputeBudgetProgram, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { lamports } from '../../../src/base/units.ts'
import { address, keypair } from './draft.ts'
import { CO_SIGNER } from './honest.ts'
import * as parts from './parts.ts'
import { type Family, finish, insert, inserted, much, OLD_BUYS, ownTokens, PLAIN, system, tradeOf } from './spoil.ts'

/** Defects of the whole transaction: signers, programs, fees, encoding. */
export const WHOLE_FAMILIES: Readonly<Record<string, Family>> = {
  'a transaction with a durable nonce': {
    code: 'DURABLE_NONCE',
    spoil: (draft, thief) => {
      draft.instructions.unshift(SystemProgram.nonceAdvance({ noncePubkey: thief, authorizedPubkey: draft.payer }))
    },
  },
  'a durable nonce that is handed over, emptied or upgraded': {
    code: 'DURABLE_NONCE',
    spoil: inserted(({ payer, drawn }, thief) => {
      const kind = [5, 6, 7, 12][drawn.random.integer(4)] as number
      return system(kind, Uint8Array.from([...parts.u64(5), ...thief.toBytes()]), [
        address('nonce'),
        thief,
        parts.signer(payer),
      ])
    }),
  },
  'a priority fee above the cap of the policy': {
    code: 'PRIORITY_FEE',
    shapes: ['pump-swap sell', 'tip', 'guards'],
    spoil: (draft) => {
      draft.instructions.unshift(...parts.budget(1_400_000, 1_500_000 + much(draft)))
    },
  },
  'a compute price without a compute limit': {
    code: 'PRIORITY_FEE',
    shapes: ['pump-swap sell', 'tip', 'guards'],
    spoil: (draft) => {
      draft.instructions.push(...parts.budget(1, 5_000_000 + much(draft)).slice(1))
    },
  },
  'a priority fee above the fee that the order sets': {
    code: 'PRIORITY_FEE',
    shapes: ['tip', 'guards'],
    spoil: (draft) => {
      draft.asked = { ...draft.asked, priorityFeeLamports: lamports(10_000) }
      draft.instructions.unshift(...parts.budget(100_000, 100_021 + draft.drawn.random.integer(1_000_000)))
    },
  },
  'a priority fee one lamport above what rounding can explain': {
    code: 'PRIORITY_FEE',
    shapes: ['tip', 'guards'],
    spoil: (draft) => {
      const { random } = draft.drawn
      const asked = 10_000 + random.integer(1_900_000)
      const isLarge = random.integer(2) === 0
      const units = isLarge ? 1_000_001 + random.integer(399_999) : 1 + random.integer(1_000_000)
      const over = isLarge ? 4 : 3
      draft.asked = { ...draft.asked, priorityFeeLamports: lamports(asked) }
      draft.instructions.unshift(...parts.budget(units, Math.floor(((asked + over - 1) * 1e6) / units) + 1))
    },
  },
  'a compute limit above the maximum': {
    code: 'PRIORITY_FEE',
    shapes: ['tip', 'guards'],
    spoil: (draft) => {
      const asked = 10_000 + draft.drawn.random.integer(1_900_000)
      draft.asked = { ...draft.asked, priorityFeeLamports: lamports(asked) }
      const price = Math.ceil(((asked + 4) * 1e6) / 1_400_000)
      draft.instructions.unshift(...parts.budget(1_400_001 + much(draft), price))
    },
  },
  'a compute budget that is set twice': {
    code: 'COMPUTE_BUDGET',
    spoil: (draft) => {
      const again = parts.budget(1, 1)
      draft.instructions.push(...again, again[draft.drawn.random.integer(2)] as TransactionInstruction)
    },
  },
  'a compute budget that cannot be read': {
    code: 'COMPUTE_BUDGET',
    spoil: inserted(({ drawn: { random } }) => {
      const kind = [0, 5, 6, 7, 255][random.integer(5)] as number
      return parts.instruction(ComputeBudgetProgram.programId, [kind, ...parts.u64(1)], [])
    }),
  },
  'a call of an unknown program': {
    code: 'PROGRAM_UNKNOWN',
    spoil: inserted((draft, thief) =>
      parts.instruction(thief, [1, 2, 3], [parts.signer(draft.payer), ownTokens(draft)]),
    ),
  },
  'a program that looks like pump.fun': {
    code: 'PROGRAM_UNKNOWN',
    shapes: PLAIN,
    spoil: (draft) => {
      const bytes = parts.PUMP.toBytes()
      bytes[draft.drawn.random.integer(32)]! ^= 1 << draft.drawn.random.integer(8)
      tradeOf(draft).programId = new PublicKey(bytes)
    },
  },
  'a program of unknown layout without a limit on what it may take': {
    code: 'OPAQUE_UNBOUNDED',
    shapes: OLD_BUYS,
    spoil: (draft, thief) => {
      const opaque = {
        id: thief.toBase58(),
        decode: 'opaque',
        buy: ['66063d12'],
        sell: [],
        mintIndex: 2,
        userIndex: 6,
      } as const
      draft.policy = { ...draft.policy, programs: [opaque] }
      tradeOf(draft).programId = thief
    },
  },
  'a co-signer as the fee payer': {
    code: 'FEE_PAYER',
    shapes: ['co-signed'],
    spoil: (draft) => {
      draft.payer = CO_SIGNER.publicKey
    },
  },
  'a second signer that the policy does not list': {
    code: 'CO_SIGNER',
    spoil: (draft) => {
      const other = keypair(`other ${draft.drawn.random.integer(20)}`)
      insert(draft, parts.transfer(other.publicKey, draft.payer, 1_000))
      draft.coSigners = [...draft.coSigners, other]
    },
  },
  'a co-signer with a missing or invalid signature': {
    code: 'CO_SIGNER',
    shapes: ['co-signed'],
    spoil: finish((bytes, { drawn }) => {
      const changed = Uint8Array.from(bytes)
      if (drawn.random.integer(2) === 0) changed.fill(0, 65, 129)
      else changed[65 + drawn.random.integer(64)]! ^= 1 << drawn.random.integer(8)
      return changed
    }),
  },
  "a transaction that already contains the wallet's signature": {
    code: 'SIGNATURE_PRESENT',
    spoil: finish((bytes, { drawn }) => {
      const changed = Uint8Array.from(bytes)
      changed[1 + drawn.random.integer(64)] = 1 + drawn.random.integer(255)
      return changed
    }),
  },
  'a transaction of version 1': {
    code: 'TX_VERSION',
    spoil: finish((bytes, { drawn }) => Uint8Array.from([129 + drawn.random.integer(100), ...bytes.subarray(1)])),
  },
  'a message of version 1': {
    code: 'TX_VERSION',
    shapes: ['pump buy for an amount of SOL, with a lookup table', 'seeded wSOL', 'pump buy_v2, Token-2022'],
    spoil: finish((bytes) => {
      const changed = Uint8Array.from(bytes)
      changed[65] = 129
      return changed
    }),
  },
  'bytes after the end of the transaction': {
    code: 'TX_MALFORMED',
    spoil: finish((bytes, { drawn }) =>
      Uint8Array.from([...bytes, ...new Array<number>(1 + drawn.random.integer(64)).fill(0)]),
    ),
  },
  'a transaction whose last bytes are missing': {
    code: 'TX_MALFORMED',
    spoil: finish((bytes, { drawn }) => bytes.subarray(0, drawn.random.integer(bytes.length))),
  },
  'a length that is encoded with more bytes than necessary': {
    code: 'TX_MALFORMED',
    spoil: finish((bytes) => {
      const at = bytes[65] === 128 ? 69 : 68
      return Uint8Array.from([...bytes.subarray(0, at), (bytes[at] as number) | 128, 0, ...bytes.subarray(at + 1)])
    }),
  },
  'an account that the message lists twice': {
    code: 'TX_MALFORMED',
    shapes: PLAIN,
    spoil: finish((bytes) => {
      const changed = Uint8Array.from(bytes)
      const keys = changed[65] === 128 ? 70 : 69
      changed.copyWithin(keys + 32 * 3, keys + 32 * 2, keys + 32 * 3)
      return changed
    }),
  },
}
