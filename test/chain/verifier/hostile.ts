import { ComputeBudgetProgram, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import type { ErrorCode } from '../../../src/core/errors.ts'
import { lamports } from '../../../src/core/units.ts'
import { address, type Draft, keypair, tableOf } from './draft.ts'
import { CO_SIGNER, type Drawn, FEES, honest, openSeeded, RENT, type SHAPES, seededAccount } from './honest.ts'
import * as parts from './parts.ts'

export type Hostile = Draft & { drawn: Drawn }

/** One way to steal, mislead or stall, written into honest transactions of some shapes. */
export interface Family {
  readonly code: ErrorCode
  /** Shapes that it is written into; default: all that are not co-signed, or whose tables and sizes would hide it. */
  readonly shapes?: readonly string[]
  readonly spoil: (draft: Hostile, thief: PublicKey) => void
}

const BUYS = ['pump buy', 'tip', 'guards', 'pump buy_v2, Token-2022', 'pump buy_exact_quote_in_v2 with a memo']
const SELLS = ['pump sell of everything', 'pump sell of a share']
const PLAIN = [...BUYS, ...SELLS]
const OLD_BUYS = ['pump buy', 'tip', 'guards']

/** At a place of its own, since order must not hide it. */
function insert(draft: Hostile, ...added: TransactionInstruction[]): void {
  draft.instructions.splice(draft.drawn.random.integer(draft.instructions.length + 1), 0, ...added)
}

const inserted =
  (make: (draft: Hostile, thief: PublicKey) => TransactionInstruction | TransactionInstruction[]): Family['spoil'] =>
  (draft, thief) =>
    insert(draft, ...[make(draft, thief)].flat())

function tradeOf({ instructions }: Draft): TransactionInstruction {
  const found = instructions.find(({ programId }) => programId.equals(parts.PUMP) || programId.equals(parts.PUMP_SWAP))
  if (!found) throw new Error('no trade in the draft')
  return found
}

/** Another amount in the trade: 8 or 16 is its place. */
function amount(draft: Draft, at: 8 | 16, value: bigint): void {
  tradeOf(draft).data.writeBigUInt64LE(value < 2n ** 64n ? value : 2n ** 64n - 1n, at)
}

/** Another account in the trade. */
function account(draft: Draft, at: number, pubkey: PublicKey): void {
  const { keys } = tradeOf(draft)
  keys[at] = {
    isSigner: false,
    isWritable: true,
    ...keys[at],
    ...(keys[at]?.isSigner ? { isSigner: false } : {}),
    pubkey,
  }
}

function replaceTrade(draft: Hostile, trade: TransactionInstruction): void {
  draft.instructions[draft.instructions.indexOf(tradeOf(draft))] = trade
}

const system = (kind: number, rest: Uint8Array, keys: Parameters<typeof parts.instruction>[2]) =>
  parts.instruction(SystemProgram.programId, [kind, 0, 0, 0, ...rest], keys)

const token = (data: readonly number[], keys: Parameters<typeof parts.instruction>[2]) =>
  parts.instruction(parts.TOKEN, data, keys)

const ownTokens = ({ drawn: { user, mint } }: Hostile) => parts.ata(user, mint)
const much = ({ drawn: { random } }: Hostile) => 1 + random.integer(2_000_000_000)
const finish = (change: (bytes: Uint8Array, draft: Hostile) => Uint8Array): Family['spoil'] => {
  return (draft) => {
    draft.finish = (bytes) => change(bytes, draft)
  }
}

export const FAMILIES: Readonly<Record<string, Family>> = {
  'the wallet is assigned to a program': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted(({ payer }, thief) => SystemProgram.assign({ accountPubkey: payer, programId: thief })),
  },
  'the wallet gets data': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted(({ payer }) => SystemProgram.allocate({ accountPubkey: payer, space: 200 })),
  },
  'a seeded account is assigned': {
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
  'SOL to a stranger': {
    code: 'SOL_TRANSFER',
    spoil: inserted((draft, thief) => parts.transfer(draft.payer, thief, much(draft))),
  },
  'one lamport to a stranger': {
    code: 'SOL_TRANSFER',
    spoil: inserted(({ payer }, thief) => parts.transfer(payer, thief, 1)),
  },
  'SOL to a stranger out of a lookup table': {
    code: 'SOL_TRANSFER',
    spoil: (draft, thief) => {
      insert(draft, parts.transfer(draft.payer, thief, much(draft)))
      Object.assign(draft, { version: 0, tables: [...draft.tables, tableOf(thief.toBase58(), [thief])] })
    },
  },
  'SOL to an address that looks like that of the fees': {
    code: 'SOL_TRANSFER',
    spoil: inserted((draft) => {
      const bytes = FEES.toBytes()
      bytes[draft.drawn.random.integer(32)]! ^= 1 << draft.drawn.random.integer(8)
      return parts.transfer(draft.payer, new PublicKey(bytes), much(draft))
    }),
  },
  'SOL of a seeded account': {
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
  'an account with a key of its own': {
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
  'a seeded account of a strange program': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted((draft, thief) => openSeeded(draft.payer, 'x', BigInt(much(draft)), thief)),
  },
  'a seeded account that nobody takes': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer }) => openSeeded(payer, 'y', RENT)),
  },
  'a seeded account that a thief takes': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer }, thief) => [
      openSeeded(payer, 'z', RENT),
      token([18, ...thief.toBytes()], [seededAccount(payer, 'z'), parts.WSOL]),
    ]),
  },
  'a seeded account of somebody else': {
    code: 'ACCOUNT_OPENED',
    shapes: ['co-signed'],
    spoil: inserted(({ payer }) => openSeeded(payer, 'x', RENT, parts.TOKEN, CO_SIGNER.publicKey)),
  },
  'seeded accounts that the trade does not need': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer, drawn: { random } }) => {
      const seed = `more ${random.integer(50)}`
      const take = token([18, ...payer.toBytes()], [seededAccount(payer, seed), parts.WSOL])
      return [openSeeded(payer, seed, RENT), take]
    }),
  },
  'the seeded account of the trade is left without an owner': {
    code: 'ACCOUNT_OPENED',
    shapes: ['seeded wSOL'],
    spoil: (draft) => {
      draft.instructions = draft.instructions.filter(({ data }) => data[0] !== 18)
    },
  },
  'SOL of somebody who does not sign': {
    code: 'SOL_TRANSFER',
    spoil: inserted(({ payer }, thief) => system(2, parts.u64(5), [thief, payer])),
  },
  'an account that nobody opened is made': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer }, thief) => token([18, ...payer.toBytes()], [thief, parts.WSOL])),
  },
  'the SOL of a stranger is counted': {
    code: 'INSTRUCTION_UNKNOWN',
    spoil: inserted((_draft, thief) => parts.syncNative(thief)),
  },
  'an instruction of another shape': {
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
  'a durable nonce': {
    code: 'DURABLE_NONCE',
    spoil: (draft, thief) => {
      draft.instructions.unshift(SystemProgram.nonceAdvance({ noncePubkey: thief, authorizedPubkey: draft.payer }))
    },
  },
  'a nonce that is handed over, emptied or upgraded': {
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
  'a System instruction that nobody knows': {
    code: 'INSTRUCTION_UNKNOWN',
    spoil: inserted(({ payer, drawn }, thief) => {
      return system(13 + drawn.random.integer(240), parts.u64(5), [parts.signer(payer), thief])
    }),
  },
  'Approve of a delegate': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted((draft, thief) =>
      token([4, ...parts.u64(2n ** 64n - 1n)], [ownTokens(draft), thief, parts.signer(draft.payer)]),
    ),
  },
  'ApproveChecked of a delegate, Token-2022': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted(({ payer, drawn: { user, mint } }, thief) => {
      const keys = [parts.ata(user, mint, parts.TOKEN_2022), mint, thief, parts.signer(payer)]
      return parts.instruction(parts.TOKEN_2022, [13, ...parts.u64(1_000), 6], keys)
    }),
  },
  'SetAuthority: owner, or who may close': {
    code: 'AUTHORITY_CHANGE',
    spoil: inserted((draft, thief) => {
      const kind = 2 + draft.drawn.random.integer(2)
      return token([6, kind, 1, ...thief.toBytes()], [ownTokens(draft), parts.signer(draft.payer)])
    }),
  },
  'CloseAccount to a thief': {
    code: 'ACCOUNT_CLOSED',
    spoil: inserted((draft, thief) => parts.closeAccount(ownTokens(draft), thief, draft.payer)),
  },
  'CloseAccount of wrapped SOL to a thief': {
    code: 'ACCOUNT_CLOSED',
    shapes: ['wSOL account', 'pump-swap sell'],
    spoil: (draft, thief) => {
      draft.instructions.pop()
      draft.instructions.push(parts.closeAccount(parts.ata(draft.payer, parts.WSOL), thief, draft.payer))
    },
  },
  'CloseAccount of another token': {
    code: 'ACCOUNT_CLOSED',
    spoil: inserted(({ payer }) => parts.closeAccount(parts.ata(payer, address('other mint')), payer, payer)),
  },
  'tokens by Transfer': {
    code: 'TOKEN_TRANSFER',
    spoil: inserted((draft, thief) =>
      token([3, ...parts.u64(much(draft))], [ownTokens(draft), thief, parts.signer(draft.payer)]),
    ),
  },
  'tokens by TransferChecked': {
    code: 'TOKEN_TRANSFER',
    spoil: inserted((draft, thief) => {
      const keys = [ownTokens(draft), draft.drawn.mint, thief, parts.signer(draft.payer)]
      return token([12, ...parts.u64(much(draft)), 6], keys)
    }),
  },
  'another token by Transfer': {
    code: 'TOKEN_TRANSFER',
    spoil: inserted((draft, thief) => {
      const from = parts.ata(draft.payer, address('other mint'))
      return token([3, ...parts.u64(much(draft))], [from, thief, parts.signer(draft.payer)])
    }),
  },
  'wrapped SOL by Transfer': {
    code: 'TOKEN_TRANSFER',
    spoil: inserted((draft, thief) => {
      const from = parts.ata(draft.payer, parts.WSOL)
      return token([3, ...parts.u64(much(draft))], [from, thief, parts.signer(draft.payer)])
    }),
  },
  'tokens burnt': {
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
  'an account for somebody else, at our rent': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer, drawn: { mint } }, thief) => parts.openAta(payer, thief, mint)),
  },
  'an account for another token': {
    code: 'ACCOUNT_OPENED',
    spoil: inserted(({ payer, drawn }) => parts.openAta(payer, payer, address(`other ${drawn.random.integer(50)}`))),
  },
  'an account that somebody pays who does not sign': {
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
  'a priority fee beyond the cap': {
    code: 'PRIORITY_FEE',
    shapes: ['pump-swap sell', 'tip', 'guards'],
    spoil: (draft) => {
      draft.instructions.unshift(...parts.budget(1_400_000, 1_500_000 + much(draft)))
    },
  },
  'a price without a limit': {
    code: 'PRIORITY_FEE',
    shapes: ['pump-swap sell', 'tip', 'guards'],
    spoil: (draft) => {
      draft.instructions.push(...parts.budget(1, 5_000_000 + much(draft)).slice(1))
    },
  },
  'a priority fee beyond that of the order': {
    code: 'PRIORITY_FEE',
    shapes: ['tip', 'guards'],
    spoil: (draft) => {
      draft.asked = { ...draft.asked, priorityFeeLamports: lamports(10_000) }
      draft.instructions.unshift(...parts.budget(100_000, 100_001 + draft.drawn.random.integer(1_000_000)))
    },
  },
  'a compute budget twice': {
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
  'a compute budget with bytes behind it': {
    code: 'INSTRUCTION_UNKNOWN',
    shapes: ['tip', 'guards'],
    spoil: inserted(() => parts.instruction(ComputeBudgetProgram.programId, [2, 1, 0, 0, 0, 1], [])),
  },
  'a share of nobody knows what': {
    code: 'SELL_UNBOUNDED',
    shapes: ['pump sell of a share'],
    spoil: (draft) => {
      draft.facts = { rentLamports: RENT }
    },
  },
  'a number of nobody knows what': {
    code: 'SELL_UNBOUNDED',
    shapes: ['pump sell_v2 of a number'],
    spoil: (draft) => {
      draft.policy = { ...draft.policy, sellNumber: null }
    },
  },
  'content with nothing': {
    code: 'MIN_OUT',
    shapes: [...OLD_BUYS, ...SELLS, 'pump buy_v2, Token-2022', 'pump-swap sell'],
    spoil: (draft) => amount(draft, draft.asked.side === 'buy' ? 8 : 16, 0n),
  },
  'costs more than the slippage allows': {
    code: 'AMOUNT_OVER',
    shapes: [...OLD_BUYS, 'pump buy_v2, Token-2022'],
    spoil: (draft) => amount(draft, 16, draft.drawn.most + 1n + BigInt(much(draft))),
  },
  'spends more than was ordered': {
    code: 'AMOUNT_OVER',
    shapes: ['pump buy of SOL, lookup table', 'pump buy_exact_quote_in_v2 with a memo'],
    spoil: (draft) => amount(draft, 8, draft.drawn.amount + 1n),
  },
  'sells more than was ordered': {
    code: 'AMOUNT_OVER',
    shapes: ['pump sell of a share', 'pump sell_v2 of a number'],
    spoil: (draft) => amount(draft, 8, draft.drawn.tokens + 1n + BigInt(much(draft))),
  },
  'wraps more than the trade needs': {
    code: 'AMOUNT_OVER',
    spoil: inserted((draft) =>
      parts.transfer(draft.payer, parts.ata(draft.payer, parts.WSOL), 2_000_000 + much(draft)),
    ),
  },
  'another token': {
    code: 'WRONG_MINT',
    shapes: OLD_BUYS,
    spoil: (draft) => {
      const { user, tokens: one, most: two, random } = draft.drawn
      replaceTrade(draft, parts.pumpBuy({ user, mint: address(`other ${random.integer(50)}`), one, two }))
    },
  },
  'other money than SOL': {
    code: 'WRONG_MINT',
    shapes: ['pump buy_v2, Token-2022', 'pump sell_v2 of a number'],
    spoil: (draft, thief) => account(draft, 2, thief),
  },
  'a sale in place of a buy': {
    code: 'WRONG_SIDE',
    shapes: OLD_BUYS,
    spoil: (draft) => {
      const { user, mint, tokens: one } = draft.drawn
      replaceTrade(draft, parts.pumpSell({ user, mint, one, two: 1n }))
    },
  },
  'a buy in place of a sale': {
    code: 'WRONG_SIDE',
    shapes: SELLS,
    spoil: (draft) => {
      const { user, mint, tokens: one, most: two } = draft.drawn
      replaceTrade(draft, parts.pumpBuy({ user, mint, one, two }))
    },
  },
  'two trades': {
    code: 'TRADE_COUNT',
    shapes: [...OLD_BUYS, ...SELLS],
    spoil: (draft) => insert(draft, tradeOf(draft)),
  },
  'no trade': {
    code: 'TRADE_COUNT',
    spoil: (draft) => void draft.instructions.splice(draft.instructions.indexOf(tradeOf(draft)), 1),
  },
  'the tokens go to a thief': {
    code: 'ACCOUNT_FOREIGN',
    shapes: [...OLD_BUYS, 'pump buy_v2, Token-2022', 'pump buy_exact_quote_in_v2 with a memo'],
    spoil: (draft, thief) => {
      const at = tradeOf(draft).keys.findIndex(({ pubkey }) => {
        const { user, mint } = draft.drawn
        return [parts.TOKEN, parts.TOKEN_2022].some((program) => pubkey.equals(parts.ata(user, mint, program)))
      })
      account(draft, at, draft.drawn.random.integer(2) === 0 ? thief : parts.ata(thief, draft.drawn.mint))
    },
  },
  'the SOL goes to a thief': {
    code: 'ACCOUNT_FOREIGN',
    shapes: ['pump-swap sell'],
    spoil: (draft, thief) =>
      account(draft, 6, draft.drawn.random.integer(2) === 0 ? thief : parts.ata(thief, parts.WSOL)),
  },
  'somebody else trades': {
    code: 'ACCOUNT_FOREIGN',
    shapes: ['co-signed'],
    spoil: (draft) => account(draft, 6, CO_SIGNER.publicKey),
  },
  'the wallet stands where it does not belong': {
    code: 'ACCOUNT_FOREIGN',
    shapes: PLAIN,
    spoil: (draft) => {
      const { keys } = tradeOf(draft)
      keys.push({
        pubkey: draft.drawn.random.integer(2) === 0 ? draft.payer : ownTokens(draft),
        isSigner: false,
        isWritable: true,
      })
    },
  },
  'a pool of the builder': {
    code: 'POOL_UNKNOWN',
    spoil: (draft, thief) => {
      const { mint } = draft.drawn
      const at = tradeOf(draft).keys.findIndex(({ pubkey }) =>
        [parts.curveOf(mint), parts.poolOf(mint)].some((pool) => pool.equals(pubkey)),
      )
      account(draft, at, thief)
    },
  },
  'something else of the trading program': {
    code: 'INSTRUCTION_UNKNOWN',
    shapes: PLAIN,
    spoil: (draft) => {
      const { data } = tradeOf(draft)
      data[draft.drawn.random.integer(8)]! ^= 1 << draft.drawn.random.integer(8)
    },
  },
  'a trade with bytes or accounts too few or too many': {
    code: 'INSTRUCTION_UNKNOWN',
    shapes: PLAIN,
    spoil: (draft) => {
      const trade = tradeOf(draft)
      const way = draft.drawn.random.integer(3)
      if (way === 0) trade.data = trade.data.subarray(0, 9 + draft.drawn.random.integer(14))
      else if (way === 1) trade.data = Buffer.concat([trade.data, Buffer.alloc(4)])
      else trade.keys.length = 10
    },
  },
  'money itself in place of a token': {
    code: 'MINT_DENIED',
    shapes: OLD_BUYS,
    spoil: (draft) => {
      draft.asked = { ...draft.asked, mint: parts.WSOL.toBase58() }
    },
  },
  'a fee above its cap': {
    code: 'FEE_OVER',
    spoil: inserted((draft) => parts.transfer(draft.payer, FEES, 40_000_001 + much(draft))),
  },
  'a fee above its percentage, in pieces': {
    code: 'FEE_OVER',
    shapes: ['pump buy', 'tip'],
    spoil: inserted(({ payer, drawn: { amount: sum } }) =>
      [1, 2, 3].map(() => parts.transfer(payer, FEES, sum / 200n)),
    ),
  },
  'a fee of a sale, multiplied by its slippage': {
    code: 'FEE_OVER',
    shapes: ['pump sell of a share'],
    spoil: (draft) => {
      const { most } = draft.drawn
      draft.asked = { ...draft.asked, slippagePercent: 99.9 }
      insert(draft, parts.transfer(draft.payer, FEES, (most * 3n) / 100n))
    },
  },
  'tips above their cap': {
    code: 'TIP_OVER',
    spoil: inserted(({ payer, policy, drawn }) => {
      const to = new PublicKey(policy.tips.accounts[drawn.random.integer(8)] as string)
      return [600_000, 600_000].map((each) => parts.transfer(payer, to, each))
    }),
  },
  'a program that nobody knows': {
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
  'a program without a layout, and no bound': {
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
  'a program without a layout that sells in place of a buy': {
    code: 'WRONG_SIDE',
    shapes: OLD_BUYS,
    spoil: (draft, thief) => {
      const layout = { buy: [], sell: ['66063d12'], mintIndex: 2, userIndex: 6 }
      draft.policy = { ...draft.policy, programs: [{ ...layout, id: thief.toBase58(), decode: 'opaque' }] }
      tradeOf(draft).programId = thief
    },
  },
  'somebody else pays, and so names it': {
    code: 'FEE_PAYER',
    shapes: ['co-signed'],
    spoil: (draft) => {
      draft.payer = CO_SIGNER.publicKey
    },
  },
  'a second signer that nobody listed': {
    code: 'CO_SIGNER',
    spoil: (draft) => {
      const other = keypair(`other ${draft.drawn.random.integer(20)}`)
      insert(draft, parts.transfer(other.publicKey, draft.payer, 1_000))
      draft.coSigners = [...draft.coSigners, other]
    },
  },
  'a co-signer who has not signed, or something else': {
    code: 'CO_SIGNER',
    shapes: ['co-signed'],
    spoil: finish((bytes, { drawn }) => {
      const changed = Uint8Array.from(bytes)
      if (drawn.random.integer(2) === 0) changed.fill(0, 65, 129)
      else changed[65 + drawn.random.integer(64)]! ^= 1 << drawn.random.integer(8)
      return changed
    }),
  },
  'our own signature stands there': {
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
    shapes: ['pump buy of SOL, lookup table', 'seeded wSOL', 'pump buy_v2, Token-2022'],
    spoil: finish((bytes) => {
      const changed = Uint8Array.from(bytes)
      changed[65] = 129
      return changed
    }),
  },
  'bytes after its end': {
    code: 'TX_MALFORMED',
    spoil: finish((bytes, { drawn }) =>
      Uint8Array.from([...bytes, ...new Array<number>(1 + drawn.random.integer(64)).fill(0)]),
    ),
  },
  'bytes that are missing': {
    code: 'TX_MALFORMED',
    spoil: finish((bytes, { drawn }) => bytes.subarray(0, drawn.random.integer(bytes.length))),
  },
  'a length that is longer than it has to be': {
    code: 'TX_MALFORMED',
    spoil: finish((bytes) => {
      const at = bytes[65] === 128 ? 69 : 68
      return Uint8Array.from([...bytes.subarray(0, at), (bytes[at] as number) | 128, 0, ...bytes.subarray(at + 1)])
    }),
  },
  'an account that stands in it twice': {
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

/** Families by name and the shapes that each is written into. */
export function spoiled(name: string, seed: number): Hostile {
  const { shapes = PLAIN, spoil } = FAMILIES[name] as Family
  const shape = shapes[seed % shapes.length] as keyof typeof SHAPES
  const draft = honest(shape, seed)
  // Mutators write into what the honest draft shares with nobody.
  draft.instructions = [...draft.instructions]
  spoil(draft, address(`thief ${draft.drawn.random.integer(100)}`))
  return draft
}
