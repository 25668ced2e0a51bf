import { draws } from './draws.ts'

/** Questions that the service's document leaves open ("not shown"), with the answers that the sandbox can give. The
 *  first answer is the plain one. Constant in all dialects: documented behaviour, `tokensTraded` in whole tokens, and
 *  a trade's `amount` in SOL. */
const QUESTIONS = {
  /** Name of the signature field in a trade's answer. */
  signatureField: ['signature', 'txSignature', 'transactionSignature', 'txid', 'txHash', 'hash'],
  /** Position of that field in the answer. */
  signatureNesting: ['top', 'data', 'result', 'transaction', 'data.transaction'],
  /** Shape of an error body: {error: {code, message}} | {code, message} | {success: false, error: code, message} |
   *  {errors: [{code, message}]} | RFC 9457. */
  errorBody: ['nested', 'flat', 'named', 'list', 'problem'],
  /** HTTP status of the three trade codes: 400 | 402, 404 and 409 | 200 with the error in the body. 401, 429 and 400
   *  for invalid parameters are documented. */
  errorStatus: ['badRequest', 'specific', 'ok'],
  /** Whether a 400 for invalid parameters and a 401 have a code in their body. */
  unlistedCode: ['named', 'none'],
  /** Unit of a trade's price and market cap. */
  tradePrice: ['sol', 'usd'],
  /** Unit of a price update's price, market cap and volume; `liquidityUsd` is in USD. */
  updatePrice: ['sol', 'usd'],
  /** Unit of a new token's liquidity and market cap. */
  launchValue: ['sol', 'usd'],
  /** Unit of a sale's number: whole tokens or base units. */
  sellNumber: ['tokens', 'baseUnits'],
  /** Events that a mint address as a subscription key delivers. */
  mintKey: ['both', 'trades', 'updates', 'nothing'],
  /** Whether an event that two keys of a connection cover is sent once, or once per key. */
  overlap: ['once', 'twice'],
  /** `keys` of a subscribed message: those of the request, or all keys of the connection. */
  subscribedKeys: ['request', 'all'],
  /** Reply to unsubscribe. */
  unsubscribeReply: ['none', 'unsubscribed', 'subscribed'],
  /** Whether the connection stays open after AUTHENTICATION_FAILED or is closed. */
  authenticationFailure: ['open', 'close'],
  /** Messages that count for the plan's message rate: the client's, or those sent to the client (the excess is
   *  dropped). */
  messageLimit: ['inbound', 'inbound', 'outbound'],
  /** Whether the 60 s of the request limit slide, or start at each full minute of the service's clock. */
  window: ['sliding', 'fixed'],
  /** Whether requests refused with 429 count. */
  refusedCount: ['no', 'yes'],
  /** Headers of a 429 that announce when to retry. */
  limitHeaders: ['none', 'retryAfter', 'rateLimit'],
  /** Slippage check: against the price before the order's own impact, before anything is sent; or only on chain,
   *  against the service's quote. */
  slippage: ['build', 'chain'],
  /** in: a buy spends exactly its amount. out: a buy takes the tokens that the amount was worth, for at most amount *
   *  (1 + slippage). */
  buyExact: ['in', 'out'],
  /** Service fee in hundredths of a percent of the SOL traded, in addition to the curve's fee. */
  serviceFeeBps: [50, 0, 100],
  /** Whether a full sale closes the token account, which returns its rent. */
  closesAccount: ['no', 'yes'],
  /** Token program of the mints; `both`: a mix. */
  tokenProgram: ['token', 'token2022', 'both'],
  /** Place of a built transaction: the whole body as bytes or text, a JSON text, a number list, or a named field. */
  builtShape: [
    ...['transaction', 'tx', 'serializedTransaction', 'encodedTransaction', 'swapTransaction', 'data.transaction'],
    ...['result.tx', 'raw', 'bareText', 'bareJson', 'bytes'],
  ],
  /** Encoding of a transaction that is text. */
  builtEncoding: ['base64', 'base58'],
  /** Whether the answer has `lastValidBlockHeight`. */
  builtHeight: ['told', 'none'],
  /** Version of a built transaction, and whether it uses the service's lookup table. */
  builtVersion: ['v0', 'v0 with a table', 'legacy'],
  /** Whether a key of the service signs too, and pays the rent of new accounts. */
  builtCoSigner: ['no', 'yes'],
  /** Whether the transaction pays a tip. */
  builtTip: ['no', 'yes'],
  /** Spelling of the plan's name. */
  planName: ['Standard', 'standard', 'STANDARD'],
  /** Token info and portfolio: plain records, or inside {success, data} with other field names. */
  records: ['plain', 'wrapped'],
  /** Additions that a client must tolerate: undocumented fields, undocumented event types. */
  extras: ['none', 'fields', 'types', 'both'],
} as const

export type Dialect = { -readonly [Question in keyof typeof QUESTIONS]: (typeof QUESTIONS)[Question][number] }

/** Dialect of a seed. 0 gives the plain answers. Other seeds draw each answer from its own random stream. */
export function dialectOf(seed: number): Dialect {
  const answers = Object.entries(QUESTIONS).map(([question, variants]) => {
    return [question, seed === 0 ? variants[0] : draws(seed, question).pick<string | number>(variants)]
  })
  return Object.fromEntries(answers) as Dialect
}

export const dialectQuestions: { readonly [question: string]: readonly (string | number)[] } = QUESTIONS
