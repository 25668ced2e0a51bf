import { createHash } from 'node:crypto'
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { type Random, seededRandom } from '../../../src/base/random.ts'
import { lamports } from '../../../src/base/units.ts'
import { BUILT_IN_POLICY, type BuilderPolicy, JITO_TIPS } from '../../../src/orders/builder-policy.ts'
import type { AskedTrade } from '../../../src/orders/trade-request.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { address, type Draft, keypair, tableOf } from './draft.ts'
import * as parts from './parts.ts'

export const RENT = 2_039_280n
export const FEES = address('service fees')
export const CO_SIGNER = keypair('co-signer')

/** The policy that a user who knows this builder would write. */
const POLICY: BuilderPolicy = {
  ...BUILT_IN_POLICY,
  feeAccounts: [{ address: FEES.toBase58(), maxPercent: 1, maxLamports: lamports(40_000_000) }],
  tips: { accounts: JITO_TIPS, maxLamports: lamports(1_000_000) },
  coSigners: [CO_SIGNER.publicKey.toBase58()],
}

/** The parts of a draft that are chosen at random. */
export interface Drawn {
  random: Random
  user: PublicKey
  mint: PublicKey
  asked: AskedTrade & { side: 'buy' }
  sale: AskedTrade & { side: 'sell' }
  /** The lamports of a buy: `amount` before the slippage, `most` including it. */
  amount: bigint
  most: bigint
  tokens: bigint
}

export function draw(seed: number): Drawn {
  const random = seededRandom(seed)
  const user = keypair(`wallet ${random.integer(12)}`).publicKey
  const mint = address(`mint ${random.integer(12)}`)
  const amount = BigInt(1_000_000 + random.integer(2_000_000_000))
  const slippagePercent = 1 + random.integer(49)
  const terms = { wallet: user.toBase58(), mint: mint.toBase58(), slippagePercent, priorityFeeLamports: null }
  const most = (amount * BigInt(100 + slippagePercent)) / 100n
  const tokens = BigInt(1_000_000 + random.integer(2_000_000_000)) * 1_000n
  return {
    ...{ random, user, mint, amount, most, tokens },
    asked: { ...terms, side: 'buy', lamports: lamports(Number(amount)) },
    sale: { ...terms, side: 'sell', amount: { kind: 'all' } },
  }
}

type Shape = (drawn: Drawn) => Pick<Draft, 'instructions' | 'asked'> & Partial<Draft>

/** Returns the accounts of an instruction that may be in a lookup table: those that do not sign, except `but`. */
function unsigned({ keys }: TransactionInstruction, but: readonly PublicKey[]): PublicKey[] {
  return keys
    .filter(({ isSigner, pubkey }) => !isSigner && !but.some((one) => one.equals(pubkey)))
    .map(({ pubkey }) => pubkey)
}

const fee = ({ user, amount }: Drawn) => parts.transfer(user, FEES, amount / 100n)
const price = ({ random }: Drawn) => parts.budget(60_000 + random.integer(100_000), random.integer(5_000_000))

/** Shapes of honest trades, by name. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  'pump buy': (drawn) => {
    const { user, mint, tokens: one, most: two, asked } = drawn
    const open = parts.openAta(user, user, mint)
    return { asked, instructions: [...price(drawn), open, parts.pumpBuy({ user, mint, one, two }), fee(drawn)] }
  },
  'pump buy for an amount of SOL, with a lookup table': (drawn) => {
    const { user, mint, tokens: two, amount: one, asked } = drawn
    const buy = parts.pumpBuy({ user, mint, one, two }, true)
    const table = tableOf('pump', [...unsigned(buy, [mint]), FEES])
    const open = parts.openAta(user, user, mint, parts.TOKEN, false)
    return { asked, version: 0, tables: [table], instructions: [...price(drawn), open, buy, fee(drawn)] }
  },
  'co-signed': (drawn) => {
    const { user, mint, tokens: one, most: two, asked } = drawn
    const pays = parts.openAta(CO_SIGNER.publicKey, user, mint)
    const gives = parts.transfer(CO_SIGNER.publicKey, user, 5_000)
    return {
      asked,
      version: 0,
      coSigners: [CO_SIGNER],
      instructions: [pays, parts.pumpBuy({ user, mint, one, two }), gives],
    }
  },
  'seeded wSOL': (drawn) => {
    const { user, mint, tokens: one, most: two, asked } = drawn
    const seed = `s${drawn.random.integer(1e6)}`
    const account = seededAccount(user, seed)
    const buy = parts.pumpSwap('buy', { user, mint, one, two, quote: account })
    const table = tableOf('swap', unsigned(buy, [mint, account]))
    return {
      ...{ asked, version: 0, tables: [table] },
      instructions: [
        ...price(drawn),
        openSeeded(user, seed, two + RENT),
        parts.instruction(parts.TOKEN, [18, ...user.toBytes()], [account, parts.WSOL]),
        parts.openAta(user, user, mint),
        buy,
        parts.closeAccount(account, user, user),
      ],
    }
  },
  'wSOL account': (drawn) => {
    const { user, mint, tokens: two, amount: one, asked } = drawn
    const account = parts.ata(user, parts.WSOL)
    return {
      asked,
      instructions: [
        ...price(drawn),
        parts.openAta(user, user, parts.WSOL),
        parts.transfer(user, account, one),
        parts.syncNative(account),
        parts.openAta(user, user, mint),
        parts.pumpSwap('exactIn', { user, mint, one, two }),
        parts.closeAccount(account, user, user),
      ],
    }
  },
  tip: (drawn) => {
    const { user, mint, tokens: one, most: two, asked, random } = drawn
    const account = new PublicKey(JITO_TIPS[random.integer(JITO_TIPS.length)] as string)
    const tip = parts.transfer(user, account, 1_000 + random.integer(999_000))
    return {
      asked,
      instructions: [parts.openAta(user, user, mint), parts.pumpBuy({ user, mint, one, two }), fee(drawn), tip],
    }
  },
  guards: (drawn) => {
    const { user, mint, tokens: one, most: two, asked } = drawn
    const account = parts.ata(user, mint)
    const holds = parts.instruction(
      parts.TOKEN,
      [12, ...parts.u64(one), 6],
      [account, mint, account, parts.signer(user)],
    )
    const floor = parts.transfer(user, user, 1_000_000)
    return {
      asked,
      instructions: [parts.openAta(user, user, mint), parts.pumpBuy({ user, mint, one, two }), floor, holds],
    }
  },
  'pump buy_v2, Token-2022': (drawn) => {
    const { user, mint, tokens: one, most: two, asked } = drawn
    const buy = parts.pumpSecond('buy', { user, mint, one, two })
    const open = parts.openAta(user, user, mint, parts.TOKEN_2022)
    return {
      asked,
      version: 0,
      tables: [tableOf('second', unsigned(buy, [mint]))],
      instructions: [...price(drawn), open, buy],
    }
  },
  'pump buy_exact_quote_in_v2 with a memo': (drawn) => {
    const { user, mint, tokens: two, amount: one, asked } = drawn
    const memo = parts.instruction(new PublicKey(PROGRAMS.memo), Buffer.from('order 7'), [parts.signer(user)])
    const buy = parts.pumpSecond('exactIn', { user, mint, one, two })
    const open = parts.openAta(user, user, mint, parts.TOKEN_2022)
    return { asked, version: 0, tables: [tableOf('second', unsigned(buy, [mint]))], instructions: [open, buy, memo] }
  },
  'pump sale of the whole balance': (drawn) => {
    const { user, mint, tokens: one, most: two, sale } = drawn
    const close = parts.closeAccount(parts.ata(user, mint), user, user)
    const cut = parts.transfer(user, FEES, two / 100n)
    return { asked: sale, instructions: [...price(drawn), parts.pumpSell({ user, mint, one, two }), close, cut] }
  },
  'pump sale of a share of the balance': (drawn) => {
    const { user, mint, tokens, most: two, sale } = drawn
    const asked = { ...sale, amount: { kind: 'percent', percent: 50 } as const }
    const account = parts.ata(user, mint).toBase58()
    const holding = { tokens: tokens * 2n, decimals: 6, program: PROGRAMS.token, account }
    const facts = { rentLamports: RENT, holding }
    return { asked, facts, instructions: [...price(drawn), parts.pumpSell({ user, mint, one: tokens, two })] }
  },
  'pump sell_v2 of a number of tokens': (drawn) => {
    const { user, mint, tokens, most: two, sale } = drawn
    const asked = { ...sale, amount: { kind: 'number', decimal: String(tokens) } as const }
    const policy = { ...POLICY, sellNumber: 'baseUnits' as const }
    return { asked, policy, instructions: [parts.pumpSecond('sell', { user, mint, one: tokens, two })] }
  },
  'pump-swap sell': (drawn) => {
    const { user, mint, tokens: one, most: two, sale } = drawn
    const account = parts.ata(user, parts.WSOL)
    return {
      asked: sale,
      instructions: [
        parts.openAta(user, user, parts.WSOL),
        parts.pumpSwap('sell', { user, mint, one, two }),
        parts.closeAccount(account, user, user),
      ],
    }
  },
}

export function honest(shape: string, seed: number): Draft & { drawn: Drawn } {
  const drawn = draw(seed)
  const made = (SHAPES[shape] as Shape)(drawn)
  return {
    ...{ name: shape, payer: drawn.user, tables: [], coSigners: [], version: 'legacy', policy: POLICY },
    ...{ blockhash: address(`blockhash ${seed}`).toBase58(), facts: { rentLamports: RENT } },
    ...made,
    drawn,
  }
}

const seededKeys = new Map<string, PublicKey>()
/** The synchronous form of web3.js's createWithSeed. A test compares the addresses that both return. */
export function seededAccount(user: PublicKey, seed: string, owner = parts.TOKEN): PublicKey {
  const key = `${user} ${seed} ${owner}`
  const known = seededKeys.get(key) ?? seededOf(user, seed, owner)
  seededKeys.set(key, known)
  return known
}

function seededOf(user: PublicKey, seed: string, owner: PublicKey): PublicKey {
  return new PublicKey(createHash('sha256').update(user.toBytes()).update(seed).update(owner.toBytes()).digest())
}

export function openSeeded(user: PublicKey, seed: string, amount: bigint, owner = parts.TOKEN, base = user) {
  return SystemProgram.createAccountWithSeed({
    ...{ fromPubkey: user, basePubkey: base, seed, space: 165, programId: owner, lamports: Number(amount) },
    newAccountPubkey: seededAccount(base, seed, owner),
  })
}
