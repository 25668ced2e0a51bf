import type { Trade } from './reading.ts'

/** Layout of an instruction of a trading program. Fields of type number are account indexes, except `accounts`. */
export interface Layout {
  readonly name: string
  readonly side: Trade['side']
  readonly exact: Trade['exact']
  /** Meaning of the first u64 after the discriminator: an amount of lamports or of tokens. The second u64 is the other
   *  amount. */
  readonly first: 'lamports' | 'tokens'
  /** Minimum and maximum length of the data. Older and newer clients differ in a trailing flag that does not affect
   *  money. */
  readonly bytes: readonly [number, number]
  /** Minimum number of accounts. The accounts whose index is not in this layout are fee recipients and records that the
   *  program itself checks. */
  readonly accounts: number
  readonly mint: number
  /** Mint against which the token is traded; undefined if the program trades against SOL only. */
  readonly quoteMint?: number
  readonly pool: number
  readonly user: number
  /** Index of the user's token account. `tokenProgram`: index of the token program that owns this account. */
  readonly account: number
  readonly tokenProgram: number
  /** Wrapped SOL account of the user. */
  readonly quoteAccount?: number
  readonly wraps: boolean
}

// Sources: github.com/pump-fun/pump-public-docs @1b82215, idl/pump.json and idl/pump_amm.json. Since April 2026,
// instructions have more accounts after those in the IDL.

const pump = { wraps: false, mint: 2, pool: 3, account: 5, user: 6 } as const
const pumpBuy = { ...pump, side: 'buy', bytes: [24, 26], accounts: 16, tokenProgram: 8 } as const
const places = { mint: 1, quoteMint: 2, tokenProgram: 3, pool: 10, user: 13, account: 14, quoteAccount: 15 } as const
const pumpSecond = { ...places, bytes: [24, 24], wraps: false } as const
const swap = {
  pool: 0,
  user: 1,
  mint: 3,
  quoteMint: 4,
  account: 5,
  quoteAccount: 6,
  tokenProgram: 11,
  wraps: true,
} as const
const swapBuy = { ...swap, side: 'buy', bytes: [24, 26], accounts: 23 } as const
const exactTokens = { exact: 'out', first: 'tokens' } as const
const exactLamports = { exact: 'in', first: 'lamports' } as const
const sale = { side: 'sell', exact: 'in', first: 'tokens', bytes: [24, 24] } as const

/** Layouts by discriminator, which is the first eight bytes of the data in hex. */
export const LAYOUTS: Readonly<Record<'pump' | 'pump-swap', Readonly<Record<string, Layout>>>> = {
  pump: {
    '66063d1201daebea': { ...pumpBuy, ...exactTokens, name: 'pump buy' },
    '38fc74089edfcd5f': { ...pumpBuy, ...exactLamports, name: 'pump buy_exact_sol_in' },
    '33e685a4017f83ad': { ...pump, ...sale, name: 'pump sell', accounts: 14, tokenProgram: 9 },
    b817ee6167c5d33d: { ...pumpSecond, ...exactTokens, name: 'pump buy_v2', side: 'buy', accounts: 27 },
    c2ab1c46684d5b2f: {
      ...pumpSecond,
      ...exactLamports,
      name: 'pump buy_exact_quote_in_v2',
      side: 'buy',
      accounts: 27,
    },
    '5df6823ce7e940b2': { ...pumpSecond, ...sale, name: 'pump sell_v2', accounts: 26 },
  },
  'pump-swap': {
    '66063d1201daebea': { ...swapBuy, ...exactTokens, name: 'pump-swap buy' },
    c62e1552b4d9e870: { ...swapBuy, ...exactLamports, name: 'pump-swap buy_exact_quote_in' },
    '33e685a4017f83ad': { ...swap, ...sale, name: 'pump-swap sell', accounts: 21 },
  },
}
