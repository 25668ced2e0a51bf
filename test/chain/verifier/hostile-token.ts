import { SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { address } from './draft.ts'
import { openSeeded, RENT, seededAccount } from './honest.ts'
import * as parts from './parts.ts'
import { type Family, inserted, much, ownTokens, SELLS, system, token } from './spoil.ts'

/** Attacks by instructions of Token, Token-2022 and Associated Token. */
export const TOKEN_FAMILIES: Readonly<Record<string, Family>> = {
  'a transfer of SOL from a seeded account of the wallet to a thief': {
    code: 'SOL_TRANSFER',
    spoil: inserted(({ payer }, thief) => {
      const from = seededAccount(payer, 'x')
      const how = {
        fromPubkey: from,
        basePubkey: payer,
        toPubkey: thief,
        lamports: 5,
        seed: 'x',
        programId: parts.TOKEN,
      }
      return SystemProgram.transfer(how)
    }),
  },
  'a seeded account that the wallet pays and a thief owns': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer }, thief) => [
      openSeeded(payer, 'z', RENT),
      token([18, ...thief.toBytes()], [seededAccount(payer, 'z'), parts.WSOL]),
    ]),
  },
  'seeded accounts that the trade does not need': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer, drawn: { random } }) => {
      const seed = `more ${random.integer(50)}`
      const take = token([18, ...payer.toBytes()], [seededAccount(payer, seed), parts.WSOL])
      return [openSeeded(payer, seed, RENT), take]
    }),
  },
  'an InitializeAccount instruction for an account that the transaction did not create': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer }, thief) => token([18, ...payer.toBytes()], [thief, parts.WSOL])),
  },
  'a known instruction with additional bytes or accounts, or with a seed that is too long': {
    code: 'INSTRUCTION_UNKNOWN',
    shapes: ['tip', 'guards', ...SELLS],
    spoil: inserted((draft, thief) => {
      const { payer } = draft
      const [own, wrapped] = [ownTokens(draft), parts.ata(payer, parts.WSOL)]
      const me = parts.signer(payer)
      const seed = (length: number) => [...payer.toBytes(), ...parts.u64(length), ...new Array<number>(length).fill(97)]
      const rest = [...parts.u64(RENT), ...parts.u64(165), ...parts.TOKEN.toBytes()]
      const shapes = [
        () => system(2, parts.u64(5), [me, payer, thief]),
        () => system(2, Uint8Array.from([...parts.u64(5), 0]), [me, payer]),
        () => system(3, Uint8Array.from([...seed(33), ...rest]), [me, thief]),
        () => system(3, Uint8Array.from([...seed(5), ...rest, 0]), [me, thief]),
        () => system(3, Uint8Array.from([...seed(5), ...rest]), [me, thief, payer, thief]),
        () => token([3, ...parts.u64(5)], [own, own, me, thief]),
        () => token([9], [wrapped, payer, me, thief]),
        () => token([18, ...payer.toBytes(), 0], [thief, parts.WSOL]),
      ]
      return (shapes[draft.drawn.random.integer(shapes.length)] as () => TransactionInstruction)()
    }),
  },
  'an Approve instruction that makes a thief the delegate of the tokens': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted((draft, thief) =>
      token([4, ...parts.u64(2n ** 64n - 1n)], [ownTokens(draft), thief, parts.signer(draft.payer)]),
    ),
  },
  'an ApproveChecked instruction of Token-2022 that makes a thief the delegate of the tokens': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted(({ payer, drawn: { user, mint } }, thief) => {
      const keys = [parts.ata(user, mint, parts.TOKEN_2022), mint, thief, parts.signer(payer)]
      return parts.instruction(parts.TOKEN_2022, [13, ...parts.u64(1_000), 6], keys)
    }),
  },
  'a SetAuthority instruction that makes a thief the owner or the close authority': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted((draft, thief) => {
      const kind = 2 + draft.drawn.random.integer(2)
      return token([6, kind, 1, ...thief.toBytes()], [ownTokens(draft), parts.signer(draft.payer)])
    }),
  },
  'a CloseAccount instruction that sends the rent to a thief': {
    code: 'ACCOUNT_CLOSED',
    spoil: inserted((draft, thief) => parts.closeAccount(ownTokens(draft), thief, draft.payer)),
  },
  'a CloseAccount instruction that sends wrapped SOL to a thief': {
    code: 'ACCOUNT_CLOSED',
    shapes: ['wSOL account', 'pump-swap sell'],
    spoil: (draft, thief) => {
      draft.instructions.pop()
      draft.instructions.push(parts.closeAccount(parts.ata(draft.payer, parts.WSOL), thief, draft.payer))
    },
  },
  'a CloseAccount instruction for the account of another token': {
    code: 'ACCOUNT_CLOSED',
    spoil: inserted(({ payer }) => parts.closeAccount(parts.ata(payer, address('other mint')), payer, payer)),
  },
  'a Transfer of the traded token to a thief': {
    code: 'TOKEN_TRANSFER',
    spoil: inserted((draft, thief) =>
      token([3, ...parts.u64(much(draft))], [ownTokens(draft), thief, parts.signer(draft.payer)]),
    ),
  },
  'a TransferChecked of the traded token to a thief': {
    code: 'TOKEN_TRANSFER',
    spoil: inserted((draft, thief) => {
      const keys = [ownTokens(draft), draft.drawn.mint, thief, parts.signer(draft.payer)]
      return token([12, ...parts.u64(much(draft)), 6], keys)
    }),
  },
  'a Transfer of another token to a thief': {
    code: 'TOKEN_TRANSFER',
    spoil: inserted((draft, thief) => {
      const from = parts.ata(draft.payer, address('other mint'))
      return token([3, ...parts.u64(much(draft))], [from, thief, parts.signer(draft.payer)])
    }),
  },
  'a Transfer of wrapped SOL to a thief': {
    code: 'TOKEN_TRANSFER',
    spoil: inserted((draft, thief) => {
      const from = parts.ata(draft.payer, parts.WSOL)
      return token([3, ...parts.u64(much(draft))], [from, thief, parts.signer(draft.payer)])
    }),
  },
  'a Burn of the traded token': {
    code: 'TOKEN_TRANSFER',
    spoil: inserted((draft) => {
      const kind = draft.drawn.random.integer(2) === 0 ? 8 : 15
      return token(
        [kind, ...parts.u64(much(draft)), ...(kind === 15 ? [6] : [])],
        [ownTokens(draft), draft.drawn.mint, parts.signer(draft.payer)],
      )
    }),
  },
  'a Token instruction that no trade needs': {
    code: 'INSTRUCTION_UNKNOWN',
    spoil: inserted((draft, thief) => {
      const kinds = [0, 2, 5, 7, 10, 11, 14, 20, 22, 26, 27, 30, 34, 36, 44, 200]
      const program = draft.drawn.random.integer(2) === 0 ? parts.TOKEN : parts.TOKEN_2022
      const kind = kinds[draft.drawn.random.integer(kinds.length)] as number
      return parts.instruction(
        program,
        [kind, ...thief.toBytes()],
        [ownTokens(draft), thief, parts.signer(draft.payer)],
      )
    }),
  },
  'a new token account of another owner whose rent the wallet pays': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer, drawn: { mint } }, thief) => parts.openAta(payer, thief, mint)),
  },
  'a new account for another token': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer, drawn }) => parts.openAta(payer, payer, address(`other ${drawn.random.integer(50)}`))),
  },
  'a new token account whose rent is paid by a key that does not sign': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer, drawn: { mint } }, thief) => {
      const open = parts.openAta(thief, payer, mint)
      Object.assign(open.keys[0] ?? {}, { isSigner: false })
      return open
    }),
  },
  RecoverNested: {
    code: 'INSTRUCTION_UNKNOWN',
    spoil: inserted((draft, thief) => {
      const keys = [
        ownTokens(draft),
        draft.drawn.mint,
        thief,
        thief,
        draft.drawn.mint,
        parts.signer(draft.payer),
        parts.TOKEN,
      ]
      return parts.instruction(parts.ASSOCIATED, [2], keys)
    }),
  },
}
