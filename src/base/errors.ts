/** Every code that a user, a strategy or a journal can meet, with what it means and what to do. One table: the
 *  documents are checked against it. Expected outcomes are values that carry one of these; a bug throws instead. */
export const ERRORS = {
  // an order that the engine did not let pass
  PRICE_UNKNOWN: 'no robust price yet: too few prints of a sensible size, or their unit is not proved',
  LANE_BUSY: 'another order of this wallet, mint and side is still open',
  EXIT_UNPROVED: 'a sale of it is not final yet: one of everything could sell what is bought now',
  POSITION_OPEN: 'the bot already holds this mint; set scaleIn to add to it',
  NO_POSITION: 'the bot holds nothing of this mint',
  MINT_OWNED: 'another bot of the same wallet holds this mint',
  MINT_DENIED: 'this mint is money itself (wSOL, USDC, USDT), not a token to trade',
  LIST_UNREAD: 'a list that a filter of the bot goes by was never read',
  MINT_LISTED: 'a list that the bot may not buy from names it (filters.denyMints)',
  MINT_UNLISTED: 'the list that the bot may buy from does not name it (filters.allowMints)',
  CREATOR_LISTED: 'a list that the bot may not buy from names who made it (filters.denyCreators)',
  CREATOR_UNLISTED: 'the list that the bot may buy from does not name who made it (filters.allowCreators)',
  CREATOR_UNKNOWN: 'nobody saw it announced, so who made it is not known (filters.unknownCreators)',
  TOKEN_YOUNG: 'younger than filters.minAgeSeconds',
  LIQUIDITY_LOW: 'less than filters.minLiquiditySol in its pool, as its price tells',
  POOL_SHARE: 'more than filters.maxPoolSharePercent of its pool',
  MINT_UNREAD: 'our RPC did not tell in time what the mint allows (tokenChecks); the next buy asks again',
  MINT_PROGRAM: 'the mint belongs to neither Token nor Token-2022, or is none',
  FREEZE_AUTHORITY: 'somebody can freeze the account that would hold it (tokenChecks.freezeAuthority)',
  MINT_AUTHORITY: 'somebody can make more of it at will (tokenChecks.mintAuthority)',
  PERMANENT_DELEGATE: 'somebody can take it out of any account (tokenChecks.permanentDelegate)',
  TRANSFER_HOOK: 'a program of somebody decides whether it may be transferred (tokenChecks.transferHook)',
  TRANSFER_FEE: 'a part of each transfer is kept back, or can be (tokenChecks.transferFee)',
  NON_TRANSFERABLE: 'it cannot be transferred, so it could not be sold (tokenChecks.nonTransferable)',
  PAUSABLE: 'somebody can stop all its transfers (tokenChecks.pausable)',
  FROZEN_BY_DEFAULT: 'every new account of it is frozen (tokenChecks.defaultAccountState)',
  EXTENSION_UNKNOWN: 'the mint has an extension of Token-2022 that is not known here (tokenChecks.unknownExtension)',
  REQUEST_INVALID: 'the strategy asked for something that is no request: see the reason for what is wrong with it',
  MINT_INVALID: 'the mint is not a base58 key of 32 bytes',
  TIMER_TOO_SHORT: 'the strategy asked for a timer of less than 0.1 seconds; it was not set',
  TIMERS_FULL: 'the bot has 1,000 timers already; this one was not set',
  WATCHES_FULL: 'the bot watches 5,000 mints already; this one is not watched',
  AMOUNT_RANGE: "the amount is outside what the service accepts (0.001 SOL up to the plan's maximum)",
  SLIPPAGE_RANGE: 'the slippage is outside what the service accepts (0.1 to 50 percent)',
  FEE_RANGE: 'the priority fee is outside what the service accepts (0.00001 to 0.01 SOL)',
  STALE_EVENT: 'the event that it was decided on is too old (orders.maxEventAgeSeconds)',
  ORDER_LIMIT: 'more than limits.maxSolPerOrder, or less than limits.minSolPerOrder',
  SLIPPAGE_LIMIT: 'more than limits.maxSlippagePercent',
  HOUR_LIMIT: 'limits.maxSolPerHour is reached',
  DAY_LIMIT: 'limits.maxSolPerDay is reached; it begins anew at 00:00 UTC',
  POSITIONS_LIMIT: 'limits.maxOpenPositions is reached',
  MINT_LIMIT: 'limits.maxSolPerMint is reached',
  CREATOR_LIMIT: 'limits.maxSolPerCreator is reached',
  EXPOSURE_LIMIT: 'limits.maxExposureSol is reached',
  LOSS_LIMIT: 'limits.maxDailyLossSol is reached; entries stop until 00:00 UTC',
  DRAWDOWN_LIMIT:
    'the result is limits.maxDrawdownSol below its highest; entries stop until it recovers, or `sluice resume`',
  LOSING_STREAK:
    'limits.maxLosingStreak positions in a row lost; entries stop for limits.streakPauseSeconds, or until `sluice resume`',
  BALANCE_LOW: 'the wallet does not cover the order at its worst cost',
  BALANCE_FLOOR: 'after the order too little would be left for the fees of exits (wallet.limits.minBalanceSol)',
  BALANCE_UNKNOWN: "the wallet's balance has not been read yet",
  HALTED: 'entries are halted; `sluice resume` lets them go on',
  DISK_LOW:
    'the disk that holds the journal is nearly full, so nothing is bought; make room and entries go on by themselves',
  EXITS_ONLY: 'the strategy threw an error or had to be stopped, so its bot only closes what it holds',
  CHAIN_UNREAD: 'no RPC has told the state of the wallet, so nothing is bought; full exits go',
  FOREIGN_TX:
    'no order here made this transaction of the wallet: another process may be trading with it. Entries stop; stop that process, then `sluice resume --accept SIGNATURE`',
  UNEXPECTED_FILL:
    'the wallet executed what no order was waiting for: another process may be trading with it, or the service executed an order twice. Entries stop; stop that process, then `sluice resume`',
  FIRST_BUY:
    'the first buy after a start goes alone until the chain shows that no other process buys beside it, some seconds later',
  QUARANTINED: 'the wallet holds less of this mint than was booked; `sluice resume` lets entries go on',
  FEED_DOWN: 'the feed is not live, so nothing is bought',
  KEY_REFUSED: 'the service refuses the key; entries stop until it is replaced',
  PLAN_REFUSED: 'the service refuses this request under the present plan',
  WARMING: 'the bot is being shown the past; nothing is ordered',
  // the pool of a token that is held and quiet (exits.whenStale: poll)
  POOL_SILENT: 'no RPC told the pool of a quiet token; it is held and asked for again, its other exits go on',
  POOL_BEHIND:
    'the node that told the pool of a quiet token is behind, or a clock is wrong; it is held and asked for again',
  POOL_UNREADABLE:
    'where the pool of a quiet token should be is none that is known here; it is held and asked for again',
  UNIT_CONTRADICTED: "our own fills contradict the unit of the feed's prices; entries stop",
  // an order that was accepted and not sent
  LIMIT_WAIT: 'no free request under the plan within 2 seconds, or within its time to live',
  TTL: 'it could not be sent within its time to live',
  CHASED: 'the price ran away before it could be sent (orders.maxChasePercent)',
  CANCELLED: 'cancelled before it was sent',
  TOO_LATE: 'it was already being sent, so it cannot be cancelled',
  // what the service says, in the document's words
  INSUFFICIENT_BALANCE: 'the service says: not enough SOL for trade plus fees',
  INVALID_MINT: 'the service says: mint address invalid or the token does not exist',
  SLIPPAGE_EXCEEDED: 'the price moved beyond the accepted slippage',
  RATE_LIMIT: 'the service says: too many requests',
  INVALID_PARAMETERS: 'the service says: invalid parameters',
  AUTHENTICATION_FAILED: 'the service says: invalid API key',
  SUBSCRIPTION_FAILED: 'the service says: invalid subscription key',
  RATE_LIMIT_EXCEEDED: 'the service says: too many messages',
  CONNECTION_LIMIT: 'the service says: too many concurrent connections',
  // what became of an attempt
  UNSENT: 'not a byte of the request was written',
  ANSWER_LOST: 'the request was written and its answer is not known',
  ANSWER_UNREADABLE: 'the service answered with something that is neither a signature nor one known code',
  REVERTED: 'the transaction landed and failed; its fee is paid',
  ABSENT: 'proved: it cannot execute any more',
  DEPTH_UNKNOWN: 'simulated: too few prints tell how deep its pool is, so nothing is bought there on paper',
  UNSELLABLE:
    'sales of it fail again and again; simulated: many have bought it and nobody has sold it, so it cannot be sold on paper either',
  CRASHED: 'the process ended before anything of it could execute',
  REVERSED: 'a fork took the transaction back',
  HELD: 'it may or may not have executed, and the chain contradicts itself; `sluice resolve ORDER` says what a person can do',
  LATE_FILL:
    'an order executed after it was thought not to: another process may be trading with this wallet, or the service executed it late. It is booked; entries stop until `sluice resume`',
  SERVICE_DUPLICATE:
    'one order executed twice: another process may be trading with this wallet, or the service executed it twice. Both are booked; entries stop until `sluice resume`',
  RESOLVED: 'a person decided that it did not execute',
  // a transaction that somebody else built, and that is not signed
  BUILDER_SILENT: 'the service gave no transaction to sign; nothing was signed',
  EXPIRY_IMPLAUSIBLE: 'the builder says that it expires at a height that cannot be, or that is over',
  SAME_BYTES: 'the service built the very transaction that is out already',
  GUARDS: 'the policy requires guards, and they do not fit: it has other signers, or is too large',
  REPLY_UNREADABLE: 'the answer of the builder holds no transaction, or more than one',
  TX_MALFORMED: 'the bytes are not exactly one transaction',
  TX_VERSION: 'a transaction of a version that is not signed here: legacy and version 0 are',
  FEE_PAYER: 'somebody else than the wallet pays the fee, so the transaction has his signature for a name',
  CO_SIGNER: 'somebody signs who is not in coSigners, or his signature is missing or wrong',
  SIGNATURE_PRESENT: "the wallet's own place for a signature is not empty",
  LOOKUP_TABLE: 'a lookup table is not allowed, not active, too short, or was not read',
  BLOCKHASH_UNKNOWN: 'our RPC does not know the blockhash: too old, or of another chain',
  DURABLE_NONCE: 'it would never expire: it could be sent years later',
  PROGRAM_UNKNOWN: 'it calls a program that the policy does not name',
  INSTRUCTION_UNKNOWN: 'an instruction of a known program that no trade needs, or of another layout',
  OPAQUE_UNBOUNDED: 'a program whose instructions are not understood could take all that the wallet holds',
  AUTHORITY_CHANGE: 'it would give somebody else a right to the wallet or to one of its accounts',
  SOL_TRANSFER: 'SOL would go where the policy does not let it',
  TOKEN_TRANSFER: 'tokens would leave the wallet outside of the trade',
  FEE_OVER: 'the fee of the service is above its cap in the policy',
  TIP_OVER: 'the tips are above their cap in the policy',
  PRIORITY_FEE: 'the priority fee is above what the order or the policy allows',
  COMPUTE_BUDGET: 'the compute budget is set twice, or cannot be read',
  ACCOUNT_FOREIGN: "the trade uses an account in the wallet's place that is not the wallet's own",
  ACCOUNT_OPENED: 'it would open an account for somebody else, or one that stays without an owner',
  ACCOUNT_CLOSED: 'it would close an account that the trade needs open, or to somebody else',
  TRADE_COUNT: 'there is not exactly one trade in it',
  WRONG_SIDE: 'it buys where a sale was asked for, or the other way round',
  WRONG_MINT: 'it trades another token, or against other money than SOL',
  AMOUNT_OVER: 'it would trade more than the order allows',
  MIN_OUT: 'what the trade must give at least is nothing, or further below the market than the slippage of the order',
  POOL_UNKNOWN: "it trades with a pool that is neither the mint's own nor in the policy",
  SELL_UNBOUNDED: 'how many tokens the order means is not known',
  CHAIN_SILENT: 'the chain could not be asked, so it is not known what the transaction does',
  SIMULATION_FAILED: 'simulated on the chain as it is now, it fails',
  SIMULATION_LOSS: 'simulated, more leaves the wallet than the bound, or less arrives',
  ACCOUNT_CHANGED:
    'simulated, the wallet or one of its accounts has another owner, delegate or right to close afterwards',
  INNER_PROGRAM: 'simulated, it calls a program from inside that the policy does not name',
  // the process that holds the key
  SIGNER_DOWN: 'the signer does not answer, so nothing was signed; it is started again, at most three times a minute',
  SIGNER_CAP: 'it would go beyond what the signer may sign away in one transaction, an hour or a day',
  SIGNER_REFUSED: 'the signer read the message itself, and does not sign it: see the reason',
} as const

export type ErrorCode = keyof typeof ERRORS

/** Something that is not done, and why. */
export interface Refusal {
  readonly code: ErrorCode
  /** One line for a person. */
  readonly reason: string
}

/** A failure that ends a command: shown as one message without a stack, with this exit code. */
export class SluiceError extends Error {
  readonly exitCode: ExitCode
  constructor(message: string, exitCode: ExitCode = ExitCode.failed) {
    super(message)
    this.name = 'SluiceError'
    this.exitCode = exitCode
  }
}

/** 0 done; 1 failed; 2 configuration or arguments are wrong; 3 key or plan refused; 4 refused for safety; 130 ended by
 *  hand before it was done. */
export const ExitCode = { done: 0, failed: 1, usage: 2, refused: 3, unsafe: 4, interrupted: 130 } as const
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode]

/** An invariant. A breach is a bug: it throws, the process ends, and recovery is a restart. Stays on in production. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`)
}
