/** Money itself, not a token to trade: feeds have named them as the mint of a launch (5 % of launches in a real recording). */
export const DENIED_MINTS: ReadonlySet<string> = new Set([
  'So11111111111111111111111111111111111111112', // wSOL
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', // USDC
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', // USDT
])
