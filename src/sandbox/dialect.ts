import { draws } from './draws.ts'

/**
 * Every question that the service's document leaves open ("not shown"), with the answers the sandbox can give. The
 * first is the plain one. What never varies: what the document says, `tokensTraded` in whole tokens, and a trade's
 * `amount` in SOL.
 */
const QUESTIONS = {
  /** Under which name a trade's answer carries its signature. */
  signatureField: ['signature', 'txSignature', 'transactionSignature', 'txid', 'txHash', 'hash'],
  /** Where in the answer that field stands. */
  signatureNesting: ['top', 'data', 'result', 'transaction', 'data.transaction'],
  /**
   * {error: {code, message}} | {code, message} | {success: false, error: code, message} | {errors: [{code, message}]} |
   * RFC 9457.
   */
  errorBody: ['nested', 'flat', 'named', 'list', 'problem'],
  /**
   * The status of the three trade codes: 400 | 402, 404 and 409 | 200 with the error in the body. 401, 429 and 400 for
   * parameters are documented.
   */
  errorStatus: ['badRequest', 'specific', 'ok'],
  /** The code in the body of a 400 for invalid parameters and of a 401. */
  unlistedCode: ['named', 'none'],
  /** The unit of a trade's price and market cap. */
  tradePrice: ['sol', 'usd'],
  /** The unit of a price update's price, market cap and volume; `liquidityUsd` is in USD. */
  updatePrice: ['sol', 'usd'],
  /** The unit of a new token's liquidity and market cap. */
  launchValue: ['sol', 'usd'],
  /** A sale's number: whole tokens or base units. */
  sellNumber: ['tokens', 'baseUnits'],
  /** Which events a mint address as a subscription key delivers. */
  mintKey: ['both', 'trades', 'updates', 'nothing'],
  /** An event that two keys of one connection cover comes once, or once a key. */
  overlap: ['once', 'twice'],
  /** `keys` of a subscribed message: those of the request, or all that the connection has now. */
  subscribedKeys: ['request', 'all'],
  /** The reply to unsubscribe. */
  unsubscribeReply: ['none', 'unsubscribed', 'subscribed'],
  /** What follows AUTHENTICATION_FAILED: the connection stays open or is closed. */
  authenticationFailure: ['open', 'close'],
  /** Which messages the plan's messages a second count: the client's, or those sent to it (the rest is dropped). */
  messageLimit: ['inbound', 'inbound', 'outbound'],
  /** The 60 s of the request limit slide, or start anew at each full minute of the service's clock. */
  window: ['sliding', 'fixed'],
  /** Whether requests refused with 429 count too. */
  refusedCount: ['no', 'yes'],
  /** What a 429 says about when to come back. */
  limitHeaders: ['none', 'retryAfter', 'rateLimit'],
  /**
   * Slippage against the price before our own impact, refused before anything is sent; or only on chain, against the
   * service's quote.
   */
  slippage: ['build', 'chain'],
  /** A buy spends exactly its amount; or buys what the amount was worth for at most amount * (1 + slippage). */
  buyExact: ['in', 'out'],
  /** Hundredths of a percent of the SOL traded, on top of the curve's fee. */
  serviceFeeBps: [50, 0, 100],
  /** Whether a sale of everything closes the token account, which returns its rent. */
  closesAccount: ['no', 'yes'],
  /** The token program of the mints; `both`: some of each. */
  tokenProgram: ['token', 'token2022', 'both'],
  /** Where a built transaction stands: the body itself as bytes or text, a JSON text, a list of numbers, or under a
   *  name. */
  builtShape: [
    ...['transaction', 'tx', 'serializedTransaction', 'encodedTransaction', 'swapTransaction', 'data.transaction'],
    ...['result.tx', 'raw', 'bareText', 'bareJson', 'bytes'],
  ],
  /** How it is written where it is text. */
  builtEncoding: ['base64', 'base58'],
  /** Whether `lastValidBlockHeight` is told beside it. */
  builtHeight: ['told', 'none'],
  /** Its version, and whether it uses the service's lookup table. */
  builtVersion: ['v0', 'v0 with a table', 'legacy'],
  /** Whether a key of the service signs too, and pays the rent of what is opened. */
  builtCoSigner: ['no', 'yes'],
  /** Whether a tip goes to whoever lands it. */
  builtTip: ['no', 'yes'],
  /** How the plan's name is written. */
  planName: ['Standard', 'standard', 'STANDARD'],
  /** Token info and portfolio: plain records, or inside {success, data} with other names. */
  records: ['plain', 'wrapped'],
  /** Additions that a client must bear: fields nobody announced, event types nobody announced. */
  extras: ['none', 'fields', 'types', 'both'],
} as const

export type Dialect = { -readonly [Question in keyof typeof QUESTIONS]: (typeof QUESTIONS)[Question][number] }

/** 0: every plain answer. Any other seed draws one answer for each question, each from a stream of its own. */
export function dialectOf(seed: number): Dialect {
  const answers = Object.entries(QUESTIONS).map(([question, variants]) => {
    return [question, seed === 0 ? variants[0] : draws(seed, question).pick<string | number>(variants)]
  })
  return Object.fromEntries(answers) as Dialect
}

export const dialectQuestions: { readonly [question: string]: readonly (string | number)[] } = QUESTIONS
