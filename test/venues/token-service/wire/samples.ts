import fc from 'fast-check'
import { encodeBase58 } from '../../../../src/solana/base58.ts'

export const keyOf = (byte: number): string => encodeBase58(new Uint8Array(32).fill(byte))
export const signatureOf = (byte: number): string => encodeBase58(new Uint8Array(64).fill(byte))

export const MINT = keyOf(7)
export const WALLET = keyOf(9)

export const TRADE = {
  type: 'trade',
  mint: MINT,
  signature: signatureOf(3),
  trader: keyOf(5),
  amount: 0.25,
  tokensTraded: 1_000_000.5,
  price: 2.5e-7,
  marketCap: 250,
  timestamp: 1_782_611_393_000,
  side: 'buy',
  slippage: 10,
  priorityFee: 0.0001,
}

export const NEW_TOKEN = {
  type: 'newToken',
  mint: MINT,
  symbol: 'SYM',
  name: 'A "name" with ünïcode 🐕',
  creator: keyOf(6),
  initialLiquidity: 30.5,
  marketCap: 28,
  timestamp: 1_782_611_393_001,
  metadata: { description: 'd\n\u0000', image: 'https://i.invalid', website: '', twitter: '@t' },
}

export const PRICE_UPDATE = {
  type: 'priceUpdate',
  mint: MINT,
  price: 3.1e-8,
  priceChange: -12.5,
  priceChange24h: 300,
  marketCap: 31,
  volume24h: 1_234.5,
  liquidityUsd: 99.5,
  timestamp: 1_782_611_393_002,
}

const money = fc.oneof(
  fc.double({ min: 0, max: 1e12, noNaN: true }),
  fc.integer({ min: 0, max: 1_000_000 }),
  fc.double({ min: 1e-320, max: 1e-5, noNaN: true }),
)
const price = money.filter((value) => value > 0)
const anything = fc.double({ noNaN: true, noDefaultInfinity: true })
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((one) => encodeBase58(one))
const stamp = fc.integer({ min: 0, max: 2e12 })
const text = fc.string({ unit: 'binary', maxLength: 30 })

/** Documented records with arbitrary values. */
export const anyTrade = fc.record({
  type: fc.constant('trade'),
  mint: bytes(32),
  signature: bytes(64),
  trader: bytes(32),
  amount: money,
  tokensTraded: money,
  price,
  marketCap: anything,
  timestamp: stamp,
  side: fc.constantFrom('buy', 'sell'),
  slippage: anything,
  priorityFee: anything,
})
export const anyPriceUpdate = fc.record({
  type: fc.constant('priceUpdate'),
  mint: bytes(32),
  price,
  priceChange: anything,
  priceChange24h: anything,
  marketCap: anything,
  volume24h: anything,
  liquidityUsd: anything,
  timestamp: stamp,
})
export const anyNewToken = fc.record({
  type: fc.constant('newToken'),
  mint: bytes(32),
  symbol: text,
  name: text,
  creator: bytes(32),
  initialLiquidity: anything,
  marketCap: anything,
  timestamp: stamp,
  metadata: fc.record({ description: text, image: text, website: text, twitter: text }),
})
