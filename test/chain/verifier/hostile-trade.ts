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
  'a sale of a share of a balance that is unknown': {
    code: 'SELL_UNBOUNDED',
    shapes: ['pump sale of a share of the balance'],
    spoil: (draft) => {
      draft.facts = { rentLamports: RENT }
    },
  },
  'a sale of a number of tokens in an unknown unit': {
    code: 'SELL_UNBOUNDED',
    shapes: ['pump sell_v2 of a number of tokens'],
    spoil: (draft) => {
      draft.policy = { ...draft.policy, sellNumber: null }
    },
  },
  'a trade with a minimum output of zero': {
    code: 'MIN_OUT',
    shapes: [...OLD_BUYS, ...SELLS, 'pump buy_v2, Token-2022', 'pump-swap sell'],
    spoil: (draft) => amount(draft, draft.asked.side === 'buy' ? 8 : 16, 0n),
  },
  'a buy that may cost more than the slippage allows': {
    code: 'AMOUNT_OVER',
    shapes: [...OLD_BUYS, 'pump buy_v2, Token-2022'],
    spoil: (draft) => amount(draft, 16, draft.drawn.most + 4n + BigInt(much(draft))),
  },
  'a buy that spends more SOL than was ordered': {
    code: 'AMOUNT_OVER',
    shapes: ['pump buy for an amount of SOL, with a lookup table', 'pump buy_exact_quote_in_v2 with a memo'],
    spoil: (draft) => amount(draft, 8, draft.drawn.amount + 1n + BigInt(much(draft))),
  },
  'a buy that spends one lamport more than rounding can explain': {
    code: 'AMOUNT_OVER',
    shapes: ['pump buy for an amount of SOL, with a lookup table', 'pump buy_exact_quote_in_v2 with a memo'],
    spoil: (draft) => amount(draft, 8, draft.drawn.amount + 2n),
  },
  'a buy that may cost one lamport more than slippage and rounding can explain': {
    code: 'AMOUNT_OVER',
    shapes: [...OLD_BUYS, 'pump buy_v2, Token-2022'],
    // Rounding explains at most 3 lamports: one for the amount of the draft, one for the slippage, and one for the sum.
    spoil: (draft) => amount(draft, 16, draft.drawn.most + 4n),
  },
  'a sale of more tokens than were ordered': {
    code: 'AMOUNT_OVER',
    shapes: ['pump sale of a share of the balance', 'pump sell_v2 of a number of tokens'],
    spoil: (draft) => amount(draft, 8, draft.drawn.tokens + 1n + BigInt(much(draft))),
  },
  'a sale of one base unit more than rounding can explain': {
    code: 'AMOUNT_OVER',
    shapes: ['pump sale of a share of the balance'],
    spoil: (draft) => amount(draft, 8, draft.drawn.tokens + 2n),
  },
  'a transfer that wraps more SOL than the trade needs': {
    code: 'AMOUNT_OVER',
    spoil: inserted((draft) =>
      parts.transfer(draft.payer, parts.ata(draft.payer, parts.WSOL), 2_000_000 + much(draft)),
    ),
  },
  'a buy of another token': {
    code: 'WRONG_MINT',
    shapes: OLD_BUYS,
    spoil: (draft) => {
      const { user, tokens: one, most: two, random } = draft.drawn
      replaceTrade(draft, parts.pumpBuy({ user, mint: address(`other ${random.integer(50)}`), one, two }))
    },
  },
  'a trade with a quote currency other than SOL': {
    code: 'WRONG_MINT',
    shapes: ['pump buy_v2, Token-2022', 'pump sell_v2 of a number of tokens'],
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
  'a transaction with two trades': {
    code: 'TRADE_COUNT',
    shapes: [...OLD_BUYS, ...SELLS],
    spoil: (draft) => insert(draft, tradeOf(draft)),
  },
  'a transaction without a trade': {
    code: 'TRADE_COUNT',
    spoil: (draft) => void draft.instructions.splice(draft.instructions.indexOf(tradeOf(draft)), 1),
  },
  'a buy whose tokens go to a thief': {
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
  'a sale whose SOL goes to a thief': {
    code: 'ACCOUNT_FOREIGN',
    shapes: ['pump-swap sell'],
    spoil: (draft, thief) =>
      account(draft, 6, draft.drawn.random.integer(2) === 0 ? thief : parts.ata(thief, parts.WSOL)),
  },
  'a trade for another wallet': {
    code: 'ACCOUNT_FOREIGN',
    shapes: ['co-signed'],
    spoil: (draft) => account(draft, 6, CO_SIGNER.publicKey),
  },
  'a trade with the wallet or its token account as an additional account': {
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
  'a trade in a pool that belongs to the builder': {
    code: 'POOL_UNKNOWN',
    spoil: (draft, thief) => {
      const { mint } = draft.drawn
      const at = tradeOf(draft).keys.findIndex(({ pubkey }) =>
        [parts.curveOf(mint), parts.poolOf(mint)].some((pool) => pool.equals(pubkey)),
      )
      account(draft, at, thief)
    },
  },
  'a call of another instruction of the trading program': {
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
  'an order whose token is wrapped SOL itself': {
    code: 'MINT_DENIED',
    shapes: OLD_BUYS,
    spoil: (draft) => {
      draft.asked = { ...draft.asked, mint: parts.WSOL.toBase58() }
    },
  },
  'a service fee above its cap in SOL': {
    code: 'FEE_OVER',
    spoil: inserted((draft) => parts.transfer(draft.payer, FEES, 40_000_001 + much(draft))),
  },
  'a service fee above its percentage, split into several transfers': {
    code: 'FEE_OVER',
    shapes: ['pump buy', 'tip'],
    spoil: inserted(({ payer, drawn: { amount: sum } }) =>
      [1, 2, 3].map(() => parts.transfer(payer, FEES, sum / 200n)),
    ),
  },
  'a service fee of a sale that only its very large slippage could explain': {
    code: 'FEE_OVER',
    shapes: ['pump sale of a share of the balance'],
    spoil: (draft) => {
      const { most } = draft.drawn
      draft.asked = { ...draft.asked, slippagePercent: 99.9 }
      insert(draft, parts.transfer(draft.payer, FEES, (most * 3n) / 100n))
    },
  },
  'tips that together exceed their cap': {
    code: 'TIP_OVER',
    spoil: inserted(({ payer, policy, drawn }) => {
      const to = new PublicKey(policy.tips.accounts[drawn.random.integer(8)] as string)
      return [600_000, 600_000].map((each) => parts.transfer(payer, to, each))
    }),
  },
  'a program of unknown layout that sells in place of a buy': {
    code: 'WRONG_SIDE',
    shapes: OLD_BUYS,
    spoil: (draft, thief) => {
      const layout = { buy: [], sell: ['66063d12'], mintIndex: 2, userIndex: 6 }
      draft.policy = { ...draft.policy, programs: [{ ...layout, id: thief.toBase58(), decode: 'opaque' }] }
      tradeOf(draft).programId = thief
    },
  },
}
