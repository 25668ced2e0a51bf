import { PublicKey } from '@solana/web3.js'
import { address } from './draft.ts'
import { CO_SIGNER, FEES, RENT } from './honest.ts'
import * as parts from './parts.ts'
import {
  account,
  amount,
  type Family,
  insert,
  inserted,
  much,
  OLD_BUYS,
  ownTokens,
  PLAIN,
  replaceTrade,
  SELLS,
  tradeOf,
} from './spoil.ts'

/** Attacks in which the trade differs from the order or costs more than allowed. */
export const TRADE_FAMILIES: Readonly<Record<string, Family>> = {
  'a share of an unknown balance': {
    code: 'SELL_UNBOUNDED',
    shapes: ['pump sell of a share'],
    spoil: (draft) => {
      draft.facts = { rentLamports: RENT }
    },
  },
  'a number in an unknown unit': {
    code: 'SELL_UNBOUNDED',
    shapes: ['pump sell_v2 of a number'],
    spoil: (draft) => {
      draft.policy = { ...draft.policy, sellNumber: null }
    },
  },
  'a minimum output of zero': {
    code: 'MIN_OUT',
    shapes: [...OLD_BUYS, ...SELLS, 'pump buy_v2, Token-2022', 'pump-swap sell'],
    spoil: (draft) => amount(draft, draft.asked.side === 'buy' ? 8 : 16, 0n),
  },
  'costs more than the slippage allows': {
    code: 'AMOUNT_OVER',
    shapes: [...OLD_BUYS, 'pump buy_v2, Token-2022'],
    spoil: (draft) => amount(draft, 16, draft.drawn.most + 4n + BigInt(much(draft))),
  },
  'spends more than was ordered': {
    code: 'AMOUNT_OVER',
    shapes: ['pump buy of SOL, lookup table', 'pump buy_exact_quote_in_v2 with a memo'],
    spoil: (draft) => amount(draft, 8, draft.drawn.amount + 1n + BigInt(much(draft))),
  },
  'spends one lamport more than rounding explains': {
    code: 'AMOUNT_OVER',
    shapes: ['pump buy of SOL, lookup table', 'pump buy_exact_quote_in_v2 with a memo'],
    spoil: (draft) => amount(draft, 8, draft.drawn.amount + 2n),
  },
  'costs one lamport more than rounding explains': {
    code: 'AMOUNT_OVER',
    shapes: [...OLD_BUYS, 'pump buy_v2, Token-2022'],
    // Rounding explains less than 4 lamports: the rounding of the draft, one lamport for the slippage, and one for the
    // sum.
    spoil: (draft) => amount(draft, 16, draft.drawn.most + 4n),
  },
  'sells more than was ordered': {
    code: 'AMOUNT_OVER',
    shapes: ['pump sell of a share', 'pump sell_v2 of a number'],
    spoil: (draft) => amount(draft, 8, draft.drawn.tokens + 1n + BigInt(much(draft))),
  },
  'sells one base unit more than rounding explains': {
    code: 'AMOUNT_OVER',
    shapes: ['pump sell of a share'],
    spoil: (draft) => amount(draft, 8, draft.drawn.tokens + 2n),
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
  'a quote currency other than SOL': {
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
  'a trade of another wallet': {
    code: 'ACCOUNT_FOREIGN',
    shapes: ['co-signed'],
    spoil: (draft) => account(draft, 6, CO_SIGNER.publicKey),
  },
  'the wallet in the place of another account': {
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
  'another instruction of the trading program': {
    code: 'INSTRUCTION_UNKNOWN',
    shapes: PLAIN,
    spoil: (draft) => {
      const { data } = tradeOf(draft)
      data[draft.drawn.random.integer(8)]! ^= 1 << draft.drawn.random.integer(8)
    },
  },
  'a trade with missing or additional bytes or accounts': {
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
  'the quote currency in place of the token': {
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
  'a fee above its percentage, in several transfers': {
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
  'a program without a layout that sells in place of a buy': {
    code: 'WRONG_SIDE',
    shapes: OLD_BUYS,
    spoil: (draft, thief) => {
      const layout = { buy: [], sell: ['66063d12'], mintIndex: 2, userIndex: 6 }
      draft.policy = { ...draft.policy, programs: [{ ...layout, id: thief.toBase58(), decode: 'opaque' }] }
      tradeOf(draft).programId = thief
    },
  },
}
