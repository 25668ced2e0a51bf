import { defineStrategy, type NewToken, type Token, z } from 'sluice'

/** Mints of currencies. Feeds have announced them as new tokens. The engine refuses to buy them, and the strategy does
 *  not watch them. */
const MONEY = new Set([
  'So11111111111111111111111111111111111111112', // wSOL
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', // USDC
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', // USDT
])

/** Number of creators that are kept. The creator seen longest ago is dropped first. */
const CREATORS_KEPT = 50_000
/** Number of characters of a name that the pattern searches. It is limited because names are untrusted text. */
const NAME_SEARCHED = 64

interface Candidate {
  /** Time until which the token may be bought, ms; 0 if it is not a candidate. */
  until: number
}

export default defineStrategy({
  name: 'launch-sniper',
  about: 'Buys new tokens that pass its filters at their first robust price, once, while they are young.',
  params: z.object({
    sizeSol: z.number().min(0.001).max(10).default(0.05).describe('size of a buy, SOL'),
    maxAgeSeconds: z.number().min(1).max(300).default(30).describe('maximum age of the token at the buy, seconds'),
    // A bonding curve of pump.fun starts with 30 (virtual) SOL.
    minLiquidity: z.number().min(0).max(1_000_000).default(1).describe('minimum initial liquidity, SOL'),
    maxLiquidity: z.number().min(0).max(1_000_000).default(1_000).describe('maximum initial liquidity, SOL'),
    // A quarter of all launches come from creators who launch many tokens.
    maxLaunchesPerCreator: z
      .number()
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe('maximum number of launches by the creator so far, this one included'),
    namePattern: z
      .string()
      .max(200)
      .refine(isPattern, 'not a regular expression')
      .default('')
      .describe("regular expression for name or symbol, case-insensitive; '' matches all"),
  }),
  keys: ['newTokens'],
  exits: { stopLossPercent: 25, takeProfitPercent: 60, trailingPercent: 25, maxHoldSeconds: 300 },
  token: (): Candidate => ({ until: 0 }),

  start(params, bot) {
    const maxAgeMs = params.maxAgeSeconds * 1000
    const pattern = new RegExp(params.namePattern, 'iu')
    const launches = new Map<string, number>()
    /** Watched tokens that were not bought, oldest first. */
    const waiting: Token<Candidate>[] = []

    /** Counts the launches of a creator, including this one. Returns 0 if the creator is unknown. */
    function countLaunch(creator: string): number {
      if (creator === '') return 0
      const count = (launches.get(creator) ?? 0) + 1
      launches.delete(creator) // moves the creator to the end, so that the first key is the creator seen longest ago
      launches.set(creator, count)
      if (launches.size > CREATORS_KEPT) launches.delete(launches.keys().next().value as string)
      return count
    }

    /** Returns the reason why a token may not be bought; undefined if it may be bought. */
    function objection(event: NewToken, launchesOfCreator: number): string | undefined {
      const ageMs = bot.now() - event.timestamp
      const liquidity = event.initialLiquidity
      if (MONEY.has(event.mint)) return 'its mint is a currency'
      if (!(ageMs <= maxAgeMs)) return `${(ageMs / 1000).toFixed(1)} s old, ${params.maxAgeSeconds} s at most`
      if (!(liquidity >= params.minLiquidity)) return `liquidity ${liquidity} is below ${params.minLiquidity}`
      if (liquidity > params.maxLiquidity) return `liquidity ${liquidity} is above ${params.maxLiquidity}`
      if (launchesOfCreator > params.maxLaunchesPerCreator) return `launch ${launchesOfCreator} of its creator`
      const isMatch = [event.name, event.symbol].some((text) => pattern.test(text.slice(0, NAME_SEARCHED)))
      if (!isMatch) return 'neither name nor symbol match'
      return undefined
    }

    function drop(token: Token<Candidate>): void {
      token.state.until = 0
      bot.unwatch(token.mint)
    }

    function dropExpired(): void {
      for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
        if (first.state.until >= bot.now()) return
        waiting.shift()
        if (first.state.until === 0) continue
        bot.note(first.mint, `no robust price within ${params.maxAgeSeconds} s`)
        drop(first)
      }
    }

    return {
      onNewToken(event, token) {
        dropExpired()
        const why = objection(event, countLaunch(event.creator)) ?? (token.position && 'already held')
        if (why !== undefined) return bot.note(event.mint, why)
        if (token.state.until > 0) return // announced twice
        if (!bot.watch(event.mint)) return bot.note(event.mint, 'its mint is not a public key')
        // A timestamp in the future must not make the token count as young for longer.
        token.state.until = Math.min(event.timestamp, bot.now()) + maxAgeMs
        waiting.push(token)
      },

      onTrade(_trade, token) {
        if (token.state.until === 0 || token.price === undefined) return
        const young = bot.now() <= token.state.until
        drop(token) // one try; from now on the engine watches the position
        if (!young) bot.note(token.mint, `first robust price after ${params.maxAgeSeconds} s`)
        else if (!token.position) bot.buy(token, { sol: params.sizeSol, reason: 'launched, first robust price' })
      },
    }
  },
})

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'iu')
    return true
  } catch {
    return false
  }
}
