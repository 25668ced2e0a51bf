import { draws } from './draws.ts'

/** The details that the service's document leaves open, each with the possible behaviours of the sandbox. The first
 *  behaviour is the simplest one. In all dialects, documented behaviour is the same, `tokensTraded` is in whole tokens,
 *  and a trade's `amount` is in SOL. */
const QUESTIONS = {
  /** Name of the signature field in a trade's answer. */
  signatureField: ['signature', 'txSignature', 'transactionSignature', 'txid', 'txHash', 'hash'],
  /** Position of the signature field in a trade's answer. */
  signatureNesting: ['top', 'data', 'result', 'transaction', 'data.transaction'],
  /** Shape of an error body, in this order: {error: {code, message}} | {code, message} | {success: false, error: code,
   *  message} | {errors: [{code, message}]} | RFC 9457. */
  errorBody: ['nested', 'flat', 'named', 'list', 'problem'],
  /** HTTP status of the three error codes of trades. badRequest: 400 for all. specific: 402, 404 and 409. ok: 200
   *  with the error in the body. The statuses 401, 429, and 400 for invalid parameters are documented and therefore
   *  fixed. */
  errorStatus: ['badRequest', 'specific', 'ok'],
  /** Whether a 400 for invalid parameters and a 401 have a code in their body. */
  unlistedCode: ['named', 'none'],
  /** Unit of a trade's price and market cap. */
  tradePrice: ['sol', 'usd'],
  /** Unit of a price update's price, market cap and volume; `liquidityUsd` is in USD. */
  updatePrice: ['sol', 'usd'],
  /** Unit of a new token's liquidity and market cap. */
  launchValue: ['sol', 'usd'],
  /** Unit of the number in a sale: whole tokens or base units. */
  sellNumber: ['tokens', 'baseUnits'],
  /** Events that a subscription to the address of a mint delivers. */
  mintKey: ['both', 'trades', 'updates', 'nothing'],
  /** Whether an event that matches two subscription keys of a connection is sent once, or once for each key. */
  overlap: ['once', 'twice'],
  /** Contents of `keys` in the answer to a subscription: the keys of the request, or all keys of the connection. */
  subscribedKeys: ['request', 'all'],
  /** Answer to a message that unsubscribes. */
  unsubscribeReply: ['none', 'unsubscribed', 'subscribed'],
  /** Whether the connection stays open after AUTHENTICATION_FAILED or is closed. */
  authenticationFailure: ['open', 'close'],
  /** Messages that count towards the plan's message rate: those from the client (inbound), or those to the client
   *  (outbound; messages above the rate are dropped). */
  messageLimit: ['inbound', 'inbound', 'outbound'],
  /** Whether the 60 s of the request limit are always the last 60 s, or a full minute of the service's clock. */
  window: ['sliding', 'fixed'],
  /** Whether requests that were refused with 429 count towards the limit. */
  refusedCount: ['no', 'yes'],
  /** Headers of a 429 that name the time of the next try. */
  limitHeaders: ['none', 'retryAfter', 'rateLimit'],
  /** Check of the slippage. build: before the order is sent, the service compares the result of the trade with the
   *  result at the price before the trade. chain: only the transaction on the chain compares the result, with the
   *  service's quote. */
  slippage: ['build', 'chain'],
  /** Exact amount of a buy. in: the buy spends exactly its amount. out: the buy receives the tokens that its amount was
   *  worth, for at most amount * (1 + slippage). */
  buyExact: ['in', 'out'],
  /** Fee of the service itself, in hundredths of a percent of the SOL traded. The fee of the curve is charged as
   *  well. */
  serviceFeeBps: [50, 0, 100],
  /** Whether a full sale closes the token account, which returns its rent. */
  closesAccount: ['no', 'yes'],
  /** Token program of the mints; `both`: some mints use one and some the other. */
  tokenProgram: ['token', 'token2022', 'both'],
  /** Form of a built transaction in the answer: the whole body as bytes or text, a JSON text, a list of numbers, or a
   *  named field. */
  builtShape: [
    ...['transaction', 'tx', 'serializedTransaction', 'encodedTransaction', 'swapTransaction', 'data.transaction'],
    ...['result.tx', 'raw', 'bareText', 'bareJson', 'bytes'],
  ],
  /** Encoding of a built transaction that is sent as text. */
  builtEncoding: ['base64', 'base58'],
  /** Whether the answer with a built transaction has `lastValidBlockHeight`. */
  builtHeight: ['told', 'none'],
  /** Version of a built transaction, and whether it uses the service's lookup table. */
  builtVersion: ['v0', 'v0 with a table', 'legacy'],
  /** Whether a key of the service signs too, and pays the rent of new accounts. */
  builtCoSigner: ['no', 'yes'],
  /** Whether the transaction pays a tip. */
  builtTip: ['no', 'yes'],
  /** Spelling of the plan's name in the answer. */
  planName: ['Standard', 'standard', 'STANDARD'],
  /** Shape of token info and portfolio: plain records, or records inside {success, data} with different field names. */
  records: ['plain', 'wrapped'],
  /** Additions to messages that a client must tolerate: undocumented fields, undocumented event types. */
  extras: ['none', 'fields', 'types', 'both'],
} as const

export type Dialect = { -readonly [Question in keyof typeof QUESTIONS]: (typeof QUESTIONS)[Question][number] }

/** Returns the dialect (variant of the protocol) of a seed: one behaviour for each detail that the document leaves
 *  open. Seed 0 gives the first behaviour of each. Other seeds draw each behaviour from its own random stream. */
export function dialectOf(seed: number): Dialect {
  const answers = Object.entries(QUESTIONS).map(([question, variants]) => {
    return [question, seed === 0 ? variants[0] : draws(seed, question).pick<string | number>(variants)]
  })
  return Object.fromEntries(answers) as Dialect
}

export const dialectQuestions: { readonly [question: string]: readonly (string | number)[] } = QUESTIONS
