import { type Random, seededRandom } from '../src/base/random.ts'
import { encodeBase58 } from '../src/solana/base58.ts'

const TOKENS = 2_000
const TRADERS = 3_000
/** The stamp in a frame is the time of the clock, nanoseconds, modulo this number. The number is longer than a day, and
 *  small enough that a double holds every stamp exactly. */
const STAMP = 10n ** 15n

/** Messages of a busy market in the service's format: trades, with a few price updates and new tokens. All are
 *  different. */
export function marketTexts(count: number, seed = 7): string[] {
  const random = seededRandom(seed)
  const mints = Array.from({ length: TOKENS }, () => base58(random, 32))
  const traders = Array.from({ length: TRADERS }, () => base58(random, 32))
  const prices = mints.map(() => 1e-7 * (1 + random.next()))
  return Array.from({ length: count }, (_, index) => {
    const token = random.integer(TOKENS)
    const mint = mints[token] as string
    const price = (prices[token] as number) * (0.98 + 0.04 * random.next())
    prices[token] = price
    const chance = random.next()
    if (chance < 0.03) return JSON.stringify(priceUpdate(mint, price, index, random))
    if (chance < 0.05) return JSON.stringify(newToken(mint, traders[random.integer(TRADERS)] as string, price, index))
    return tradeText(mint, base58(random, 64), traders[random.integer(TRADERS)] as string, price, random)
  })
}

/** One trade as JSON text. The number in `marketCap` is long enough to be replaced by a stamp. */
export function tradeText(mint: string, signature: string, trader: string, price: number, random: Random): string {
  const amount = Math.round(1e9 * (random.next() < 0.3 ? 0.005 * random.next() : random.next() + 0.02)) / 1e9
  return JSON.stringify({
    ...{
      type: 'trade',
      mint,
      signature,
      trader,
      amount,
      tokensTraded: Math.round((amount / price) * 1e6) / 1e6,
      price,
    },
    ...{ marketCap: Number(STAMP), timestamp: Date.now(), side: random.next() < 0.55 ? 'buy' : 'sell' },
    ...{ slippage: 10, priorityFee: 0.0001 },
  })
}

function priceUpdate(mint: string, price: number, index: number, random: Random): object {
  const numbers = { price, priceChange: random.next() * 10 - 5, marketCap: Number(STAMP), volume24h: 10 + index }
  return { type: 'priceUpdate', mint, ...numbers, liquidityUsd: 40_000 + index, timestamp: Date.now() }
}

function newToken(mint: string, creator: string, price: number, index: number): object {
  const metadata = {
    description: 'A token like any other',
    image: 'https://cdn.example/1.png',
    website: '',
    twitter: '',
  }
  const texts = { symbol: `T${index}`, name: `Token ${index}`, creator, metadata }
  return {
    type: 'newToken',
    mint,
    ...texts,
    initialLiquidity: price * 1e9,
    marketCap: Number(STAMP),
    timestamp: Date.now(),
  }
}

export function base58(random: Random, bytes: number): string {
  return encodeBase58(Uint8Array.from({ length: bytes }, () => 1 + random.integer(255)))
}

/** Encodes texts as unmasked WebSocket frames, as a server sends them. Returns them in one buffer, with the offset of
 *  each frame's end. */
export function encodeFrames(texts: readonly string[]): { bytes: Buffer; ends: number[] } {
  const parts = texts.map((text) => {
    const payload = Buffer.from(text)
    const short = payload.length < 126
    const head = Buffer.alloc(short ? 2 : 4)
    head[0] = 0x81
    head[1] = short ? payload.length : 126
    if (!short) head.writeUInt16BE(payload.length, 2)
    return Buffer.concat([head, payload])
  })
  let end = 0
  return { ends: parts.map(({ length }) => (end += length)), bytes: Buffer.concat(parts) }
}

/** Offset of the digits of `marketCap` in each frame. */
export function stampPlaces(bytes: Buffer, ends: readonly number[]): number[] {
  const key = '"marketCap":'
  return ends.map((_, index) => bytes.indexOf(key, index === 0 ? 0 : (ends[index - 1] as number)) + key.length)
}

/** Time on the machine's monotonic clock, which all processes share, in the form of a frame's stamp. */
export function stampNow(): number {
  return Number(STAMP + (process.hrtime.bigint() % STAMP))
}
