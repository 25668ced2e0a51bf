/** Every error code that a user, a strategy or a journal may see, with its meaning. `docs/errors.md` repeats this table
 *  and adds advice; a test compares the two. An expected failure is returned as a value with a code; a bug throws. */
export const ERRORS = {
  // Requests that the engine refuses.
  PRICE_UNKNOWN: 'no robust price yet: too few prints above the minimum size, or the unit of the price is not proved',
  LANE_BUSY: 'another order for this wallet, mint and side is still open',
  EXIT_UNPROVED: 'a sale of this mint is not final yet, and a full exit could also sell the tokens of this buy',
  POSITION_OPEN: 'the bot already holds this mint; set scaleIn to add to the position',
  NO_POSITION: 'the bot holds no tokens of this mint',
  MINT_OWNED: 'another bot of the same wallet holds this mint',
  MINT_DENIED: 'this mint is a currency (wSOL, USDC or USDT), not a token to trade',
  LIST_UNREAD: 'a filter list of the bot has not been loaded',
  MINT_LISTED: 'the mint is on the deny list (filters.denyMints)',
  MINT_UNLISTED: 'the mint is not on the allow list (filters.allowMints)',
  CREATOR_LISTED: "the token's creator is on the deny list (filters.denyCreators)",
  CREATOR_UNLISTED: "the token's creator is not on the allow list (filters.allowCreators)",
  CREATOR_UNKNOWN: "the token's creator is unknown: its announcement was not seen (filters.unknownCreators)",
  TOKEN_YOUNG: 'the token is younger than filters.minAgeSeconds',
  LIQUIDITY_LOW: 'the pool holds less than filters.minLiquiditySol, as estimated from the price',
  POOL_SHARE: 'the buy is larger than filters.maxPoolSharePercent of the pool',
  MINT_UNREAD: 'the RPC did not return the mint account in time (tokenChecks); the next buy asks again',
  MINT_PROGRAM: 'the account is not a mint of the Token or Token-2022 program',
  FREEZE_AUTHORITY:
    'the mint has a freeze authority, which could freeze the token account (tokenChecks.freezeAuthority)',
  MINT_AUTHORITY: 'the mint has a mint authority, which could increase the supply (tokenChecks.mintAuthority)',
  PERMANENT_DELEGATE:
    'the mint has a permanent delegate, which could take tokens out of any account (tokenChecks.permanentDelegate)',
  TRANSFER_HOOK: 'the mint has a transfer hook: another program decides on each transfer (tokenChecks.transferHook)',
  TRANSFER_FEE: 'the mint has a transfer fee, or an authority that can set one (tokenChecks.transferFee)',
  NON_TRANSFERABLE: 'the token cannot be transferred, so it could not be sold (tokenChecks.nonTransferable)',
  PAUSABLE: 'the mint has an authority that can pause all transfers (tokenChecks.pausable)',
  FROZEN_BY_DEFAULT: 'new accounts of the token are frozen by default (tokenChecks.defaultAccountState)',
  EXTENSION_UNKNOWN: 'the mint has a Token-2022 extension that Sluice does not know (tokenChecks.unknownExtension)',
  REQUEST_INVALID: 'the request of the strategy is invalid; the reason names the field',
  VETOED: 'the strategy vetoed the buy of its conditional order (confirmBuy); the reason comes from the strategy',
  MINT_INVALID: 'the mint is not a base58 public key of 32 bytes',
  TIMER_TOO_SHORT: 'the timer was not set, because it is shorter than 0.1 seconds',
  TIMERS_FULL: 'the timer was not set, because the bot already has 1,000 timers',
  WATCHES_FULL: 'the mint is not watched, because the bot already watches 5,000 mints',
  AMOUNT_RANGE: "the amount is outside the service's range (0.001 SOL up to the plan's maximum)",
  SLIPPAGE_RANGE: "the slippage is outside the service's range (0.1 to 50 percent)",
  FEE_RANGE: "the priority fee is outside the service's range (0.00001 to 0.01 SOL)",
  STALE_EVENT: 'the event that caused the decision is older than orders.maxEventAgeSeconds',
  ORDER_LIMIT: 'the amount is above limits.maxSolPerOrder or below limits.minSolPerOrder',
  SLIPPAGE_LIMIT: 'the slippage is above limits.maxSlippagePercent',
  HOUR_LIMIT: 'limits.maxSolPerHour is reached',
  DAY_LIMIT: 'limits.maxSolPerDay is reached; it resets at 00:00 UTC',
  POSITIONS_LIMIT: 'limits.maxOpenPositions is reached',
  MINT_LIMIT: 'limits.maxSolPerMint is reached',
  CREATOR_LIMIT: 'limits.maxSolPerCreator is reached',
  EXPOSURE_LIMIT: 'limits.maxExposureSol is reached',
  LOSS_LIMIT: 'limits.maxDailyLossSol is reached; entries stop until 00:00 UTC',
  DRAWDOWN_LIMIT:
    'the result is limits.maxDrawdownSol below its peak; entries stop until the result recovers, or until `sluice resume`',
  LOSING_STREAK:
    'limits.maxLosingStreak positions in a row closed at a loss; entries stop for limits.streakPauseSeconds, or until `sluice resume`',
  BALANCE_LOW: 'the free balance of the wallet does not cover the worst-case cost of the order',
  BALANCE_FLOOR: 'the order would leave too little SOL for the fees of exits (wallet.limits.minBalanceSol)',
  BALANCE_UNKNOWN: "the wallet's balance has not been read yet",
  HALTED: 'entries are halted; `sluice resume` allows them again',
  DISK_LOW:
    'the disk that holds the journal is nearly full, so entries stop; they resume by themselves when there is space',
  EXITS_ONLY: 'the strategy threw an error or was stopped, so its bot only closes positions',
  CHAIN_UNREAD: 'no RPC answered, so the state of the wallet is unknown: entries stop, full exits continue',
  FOREIGN_TX:
    'a transaction of the wallet belongs to no order: another process may be trading with the wallet. Entries stop; stop that process, then `sluice resume --accept SIGNATURE`',
  UNEXPECTED_FILL:
    'the wallet executed a trade for which no order was waiting: another process may be trading with the wallet, or the service executed an order twice. Entries stop; stop that process, then run `sluice resume`',
  FIRST_BUY:
    'the first buy after a start is sent alone; other buys wait some seconds, until the chain shows that no other process buys with the wallet',
  QUARANTINED: 'the wallet holds less of this mint than the journal recorded; `sluice resume` allows entries again',
  FEED_DOWN: 'the feed is not live, so entries stop',
  KEY_REFUSED: 'the service refuses the API key; entries stop until the key is replaced',
  PLAN_REFUSED: 'the service refuses this request under the current plan',
  WARMING: 'the strategy is warming up; orders are ignored',
  // Failed readings of the pool of a held token without a recent price (exits.whenStale: poll).
  POOL_SILENT:
    'no RPC returned the pool of a held token without recent trades; the position stays open, other exits continue, and the pool is read again',
  POOL_BEHIND:
    'the RPC node that returned the pool of a held token without recent trades is behind, or a clock is wrong; the position stays open and the pool is read again',
  POOL_UNREADABLE:
    'the pool of a held token without recent trades was not found or has an unknown layout; the position stays open and the pool is read again',
  UNIT_CONTRADICTED:
    "our own fills, or the known start of new curves, contradict the unit of the feed's prices; entries stop",
  // Orders that were accepted and then not sent.
  LIMIT_WAIT: 'the request limit of the plan left no room for the order within 2 seconds, or within its time to live',
  TTL: 'the order could not be sent within its time to live',
  CHASED: 'the price rose too far before the order was sent (orders.maxChasePercent)',
  CANCELLED: 'the order was cancelled before it was sent',
  TOO_LATE: 'the order was already being sent, so it cannot be cancelled',
  // Errors that the service reports. The texts follow its documentation.
  INSUFFICIENT_BALANCE: 'the service says: not enough SOL for trade plus fees',
  INVALID_MINT: 'the service says: mint address invalid or the token does not exist',
  SLIPPAGE_EXCEEDED: 'the price moved by more than the slippage limit of the order',
  RATE_LIMIT: 'the service says: too many requests',
  INVALID_PARAMETERS: 'the service says: invalid parameters',
  AUTHENTICATION_FAILED: 'the service says: invalid API key',
  SUBSCRIPTION_FAILED: 'the service says: invalid subscription key',
  RATE_LIMIT_EXCEEDED: 'the service says: too many messages',
  CONNECTION_LIMIT: 'the service says: too many concurrent connections',
  // Outcomes of an attempt.
  UNSENT: 'no byte of the request was sent',
  ANSWER_LOST: 'the request was sent, but no answer arrived',
  ANSWER_UNREADABLE: "the service's answer contains neither a signature nor a known error code",
  REVERTED: 'the transaction landed and failed; its fee was paid',
  ABSENT: 'it is proved that the transaction can no longer execute',
  DEPTH_UNKNOWN: 'in simulation: too few prints to estimate the depth of the pool, so the paper buy did not execute',
  UNSELLABLE:
    'sales of the token fail repeatedly; in simulation: many wallets bought the token and none sold it, so the paper sale did not execute',
  CRASHED: 'the process ended before the attempt could execute',
  REVERSED: 'a fork removed the transaction',
  HELD: 'the attempt may or may not have executed, because the chain contradicts itself; run `sluice resolve ORDER` for the options',
  LATE_FILL:
    'an order executed after it was considered dead: another process may be trading with the wallet, or the service executed it late. The fill is booked; entries stop until `sluice resume`',
  SERVICE_DUPLICATE:
    'one order executed twice: another process may be trading with the wallet, or the service executed it twice. Both fills are booked; entries stop until `sluice resume`',
  RESOLVED: 'an operator decided that the order did not execute',
  // Transactions that the service built and Sluice did not sign.
  BUILDER_SILENT: 'the service returned no transaction; nothing was signed',
  EXPIRY_IMPLAUSIBLE: "the expiry height in the builder's answer is impossible or already past",
  SAME_BYTES: 'the service built the same transaction that was already sent',
  GUARDS: 'the guards that the policy requires do not fit: the transaction has other signers or is too large',
  REPLY_UNREADABLE: "the builder's answer contains no transaction, or several",
  TX_MALFORMED: 'the bytes are not exactly one transaction',
  TX_VERSION: 'the version of the transaction is not supported: only legacy and version 0 are signed',
  READERS_DISAGREE: 'our reader and @solana/web3.js read the transaction differently, so it is not signed',
  FEE_PAYER: 'the fee payer is not the wallet',
  CO_SIGNER: "a signer is not in the policy's coSigners, or its signature is missing or wrong",
  SIGNATURE_PRESENT: "the wallet's signature slot is not empty",
  LOOKUP_TABLE: 'a lookup table is not allowed, inactive, too short, or could not be read',
  BLOCKHASH_UNKNOWN: 'the RPC does not know the blockhash: it is too old, or belongs to another chain',
  DURABLE_NONCE: 'the transaction uses a durable nonce, so it would never expire',
  PROGRAM_UNKNOWN: 'the transaction calls a program that the policy does not list',
  INSTRUCTION_UNKNOWN: 'an instruction of a known program is not needed for a trade, or has an unknown layout',
  OPAQUE_UNBOUNDED: 'a program with unknown instructions could take the whole balance of the wallet',
  AUTHORITY_CHANGE: 'the transaction would give another account authority over the wallet or one of its accounts',
  SOL_TRANSFER: 'the transaction would transfer SOL to an account that the policy does not allow',
  TOKEN_TRANSFER: 'the transaction would transfer tokens out of the wallet outside the trade',
  FEE_OVER: "the service's fee is above its cap in the policy",
  TIP_OVER: 'the tips are higher than the policy allows',
  PRIORITY_FEE: 'the priority fee is above the maximum of the order or the policy',
  COMPUTE_BUDGET: 'the compute budget is set twice or cannot be read',
  ACCOUNT_FOREIGN: "the trade uses an account that does not belong to the wallet in place of the wallet's own",
  ACCOUNT_OPENED: 'the transaction would open an account for another owner, or leave one without an owner',
  ACCOUNT_CLOSED: 'the transaction would close an account that the trade needs, or send its rent to another owner',
  TRADE_COUNT: 'the transaction does not contain exactly one trade',
  WRONG_SIDE: 'the transaction buys where the order sells, or sells where the order buys',
  WRONG_MINT: 'the transaction trades another token, or trades against another currency than SOL',
  AMOUNT_OVER: 'the transaction would trade more than the order allows',
  MIN_OUT: 'the minimum output is zero, or lower than the slippage limit of the order allows',
  POOL_UNKNOWN: "the transaction trades with a pool that is neither the mint's own nor listed in the policy",
  SELL_UNBOUNDED: 'the number of tokens to sell is unknown, because the unit of the sell amount is not proved',
  CHAIN_SILENT: 'no RPC answered, so the effect of the transaction is unknown',
  SIMULATION_FAILED: 'the transaction fails in simulation',
  SIMULATION_LOSS: 'in simulation, more SOL or tokens leave the wallet, or fewer arrive, than the order allows',
  ACCOUNT_CHANGED: 'in simulation, the owner, delegate or close authority of the wallet or one of its accounts changes',
  INNER_PROGRAM: 'in simulation, the transaction calls an inner program that the policy does not list',
  // Failures of the signer process.
  SIGNER_DOWN: 'the signer does not answer, so nothing was signed; it is restarted at most three times a minute',
  SIGNER_CAP: "the transaction would exceed the signer's cap per transaction, hour or day",
  SIGNER_REFUSED: 'the signer checked the message itself and refused to sign; see the reason',
} as const

/** Code of an error. docs/errors.md lists all of them with their remedies. */
export type ErrorCode = keyof typeof ERRORS

/** The code and the reason of a refusal. */
export interface Refusal {
  readonly code: ErrorCode
  /** One line for the user. */
  readonly reason: string
}

/** An error that ends a command. The command prints the message without a stack and exits with `exitCode`. */
export class SluiceError extends Error {
  readonly exitCode: ExitCode
  constructor(message: string, exitCode: ExitCode = ExitCode.failed) {
    super(message)
    this.name = 'SluiceError'
    this.exitCode = exitCode
  }
}

/** The message of a thread whose work failed. `exitCode` is null if the failure is a bug. */
export interface Failed {
  readonly kind: 'failed'
  readonly message: string
  readonly exitCode: ExitCode | null
}

/** Returns the message that reports an error thrown in a thread. For a bug, the message contains the stack. */
export function failedOf(error: unknown): Failed {
  const { message, stack } = error as Error
  return error instanceof SluiceError
    ? { kind: 'failed', message, exitCode: error.exitCode }
    : { kind: 'failed', message: stack ?? message, exitCode: null }
}

/** Rebuilds the error from the message of a thread. */
export function errorOf({ message, exitCode }: Failed): Error {
  return exitCode === null ? new Error(message) : new SluiceError(message, exitCode)
}

/** Exit codes of commands. 0: done. 1: failed. 2: wrong configuration or arguments. 3: the service refused the key or
 *  the plan. 4: refused for safety. 130: interrupted by the user. */
export const ExitCode = { done: 0, failed: 1, usage: 2, refused: 3, unsafe: 4, interrupted: 130 } as const
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode]

/** Checks an invariant, in production too. A violation is a bug: `assert` throws, which ends the process, and the next
 *  start recovers from the journal. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`)
}
