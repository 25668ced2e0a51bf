import type { ErrorCode } from '../base/errors.ts'
import { formatSol, lamports } from '../base/units.ts'
import { valueAt } from './accounting/liquidation.ts'
import { newPosition } from './accounting/position.ts'
import { ADOPTED, tripOf, withLoss } from './accounting/trip-sums.ts'
import { endTrip } from './bots/views.ts'
import type { EngineParts } from './engine-parts.ts'
import type { EngineState } from './engine-state.ts'
import { mintRefusal } from './limits/token-checks.ts'
import type { Input } from './messages.ts'
import type { ExecutionReport } from './order.ts'
import type { AccountMoney } from './recovered-money.ts'

type Of<K extends Input['kind']> = Extract<Input, { kind: K }>

/** Largest number of mints whose facts are kept. When there are more, the facts that were stored first are dropped. */
const MINTS_KEPT = 10_000

/** Largest number of foreign transactions of an account that are listed for the operator. Entries stay stopped until
 *  each listed transaction is accepted. */
const MOST_FOREIGN = 5
const LIKELY_CAUSE =
  'Another process may be trading with this wallet (a second container, a deployment that overlaps, another machine): stop it'

/** Codes of reports that raise an alarm. */
const ALARMING: ReadonlySet<string> = new Set<ErrorCode>(['HELD', 'LATE_FILL', 'SERVICE_DUPLICATE', 'REVERSED'])

/** Codes of executions that contradict the evidence: either the service was wrong, or the proof that an attempt could
 *  not execute was wrong. */
const BREACHES: ReadonlySet<string> = new Set<ErrorCode>(['LATE_FILL', 'SERVICE_DUPLICATE'])

/** Reconciles the books with the chain: handles transactions that belong to no order, missing tokens, adopted tokens,
 *  and facts about mints. */
export class WalletReconciler {
  readonly #state: EngineState
  readonly #parts: EngineParts

  constructor(parts: EngineParts) {
    this.#state = parts.state
    this.#parts = parts
  }

  take(input: Of<'foreign'> | Of<'deficit'> | Of<'adopt'> | Of<'mint'>): void {
    if (input.kind === 'foreign') this.#foreign(input)
    else if (input.kind === 'deficit') this.#deficit(input)
    else if (input.kind === 'adopt') this.#adopt(input)
    else this.#mint(input)
  }

  /** Accepts one foreign transaction, or all of them, at the request of the operator. `only`: the account whose
   *  transactions are accepted; undefined for all accounts. */
  accept(signature: string | 'all', only: string | undefined): void {
    for (const account of this.#state.book.accounts.values()) {
      if (only !== undefined && account.account !== only) continue
      const left = (account.foreign ?? []).filter((other) => signature !== 'all' && other !== signature)
      if (left.length === (account.foreign?.length ?? 0)) continue
      account.foreign = left
      this.#state.emitAccount(account)
    }
  }

  /** Ends two stops of an account after `resume`: the refusal to buy mints whose tokens are missing in the wallet
   *  (`quarantined`), and the stop after an execution that contradicts the evidence (`breached`). */
  release(account: AccountMoney): void {
    if (account.quarantined !== undefined) account.quarantined = []
    if (account.breached !== undefined) account.breached = false
  }

  reported({ orderId, attemptId, code, reason, fill }: ExecutionReport): void {
    if (code === '' || !ALARMING.has(code)) return
    this.#state.emit({ kind: 'alarm', bot: fill?.bot ?? '', code, reason: `${attemptId || orderId}: ${reason}` })
    const account = this.#state.book.accounts.get(fill?.account ?? '')
    if (account === undefined || !BREACHES.has(code)) return
    // The transaction is now booked as a fill, so the operator need not accept it as foreign.
    const foreign = account.foreign?.filter((signature) => signature !== fill?.signature)
    if (account.breached === true && foreign?.length === account.foreign?.length) return
    account.breached = true
    if (foreign !== undefined) account.foreign = foreign
    this.#state.emitAccount(account)
  }

  /** Records a foreign transaction and raises an alarm, unless the list is full: a second process that keeps trading
   *  may make thousands of transactions. */
  #foreign({ account: id, signature, lamports: change, attemptId }: Of<'foreign'>): void {
    const account = this.#state.book.accounts.get(id)
    if (account === undefined) return
    const { foreign = [], breached = false } = account
    const isKnown = attemptId === undefined ? foreign.includes(signature) || foreign.length >= MOST_FOREIGN : breached
    if (isKnown) return
    if (attemptId === undefined) account.foreign = [...foreign, signature]
    else account.breached = true
    this.#state.emitAccount(account)
    const [why, then] =
      attemptId === undefined
        ? ['the transaction belongs to no order of this process', `sluice resume --accept ${signature}`]
        : [
            `the transaction seems to execute attempt ${attemptId}, which was not waiting for an execution`,
            'sluice resume',
          ]
    const reason = `${signature} changed the wallet by ${formatSol(change)} SOL: ${why}. ${LIKELY_CAUSE}, then \`${then}\``
    this.#state.emit({ kind: 'alarm', bot: '', code: 'FOREIGN_TX', reason })
  }

  #deficit({ account: id, mint, tokens }: Of<'deficit'>): void {
    const { book } = this.#state
    const account = book.accounts.get(id)
    const position = book.positions.get({ account: id, mint })
    if (account === undefined || position === undefined || position.tokens <= tokens) return
    const reason = `the books of ${position.bot} show ${position.tokens} base units of ${mint}, but the wallet holds ${tokens}: find out who moved the tokens, then run \`sluice resume\``
    const share = Number(tokens) / Number(position.tokens)
    if (book.keepsTrips) position.trip = withLoss(tripOf(position), this.#state.now)
    position.costLamports = lamports(Math.round(position.costLamports * share))
    position.tokens = tokens
    delete position.oversold
    book.settle(position)
    const trip = position.state === 'closed' ? endTrip(position) : undefined
    if (position.state === 'closed') {
      this.#parts.watch.unwatch(position)
      this.#parts.exits.closed(position)
    }
    this.#state.emitPosition(position)
    this.#parts.bots.of(position.bot)?.refresh(mint)
    if (account.quarantined?.includes(mint) !== true) account.quarantined = [...(account.quarantined ?? []), mint]
    this.#state.emitAccount(account)
    this.#state.emit({ kind: 'alarm', bot: position.bot, code: 'QUARANTINED', reason })
    if (position.state !== 'closed') return
    this.#parts.conditionals.positionClosed(position)
    if (trip !== undefined) this.#parts.bots.of(position.bot)?.tripEnded(trip)
  }

  /** Stores facts about a mint. With `tokenChecks.when: after`, the mint may have been bought before; if it fails the
   *  checks, its positions are sold. */
  #mint({ mint, facts }: Of<'mint'>): void {
    const { book, mintFacts } = this.#state
    mintFacts.delete(mint)
    mintFacts.set(mint, facts)
    if (mintFacts.size > MINTS_KEPT) mintFacts.delete(mintFacts.keys().next().value as string)
    for (const position of book.positions.ofMint(mint)) {
      const settings = this.#parts.bots.of(position.bot)?.settings
      if (settings?.tokenChecks.when !== 'after' || settings.account.mode !== 'live') continue
      const refusal = mintRefusal(facts, settings.tokenChecks)
      if (refusal === undefined) continue
      this.#state.emit({ kind: 'alarm', bot: position.bot, ...refusal })
      this.#parts.exits.sell(position, `${refusal.code}: ${refusal.reason}`)
      for (const { order, state } of book.inLane({ ...position, side: 'buy' }))
        if (state === 'accepted') this.#state.emit({ kind: 'cancel', orderId: order.id, code: refusal.code })
    }
  }

  /** Opens a position with the current price as its cost, because the price that was paid is unknown. */
  #adopt({ account, bot, mint, tokens, decimals }: Of<'adopt'>): void {
    const { book, now } = this.#state
    const owner = { account, bot, mint }
    const runner = this.#parts.bots.of(bot)
    const price = this.#state.price(mint)
    const held = book.positions.get(owner) ?? book.positions.ofBot(bot, mint)[0]
    const costLamports = price === undefined ? undefined : valueAt(price, tokens, decimals)
    if (runner === undefined || price === undefined || costLamports === undefined || held !== undefined) {
      const why =
        price === undefined
          ? 'the token has too few prints for a robust price yet; adopt it again later'
          : `at the price of ${price} SOL a token, these tokens would have an impossible value`
      const [code, reason]: [ErrorCode, string] =
        held !== undefined ? ['MINT_OWNED', `the bot ${held.bot} already holds this mint`] : ['PRICE_UNKNOWN', why]
      this.#state.emit({ kind: 'refused', bot, mint, code, reason })
      return
    }
    const position = newPosition(owner, now, runner.settings.exits)
    Object.assign(position, { tokens, bought: tokens, decimals, costLamports, averagePrice: price, highPrice: price })
    if (book.keepsTrips) position.trip = { ...tripOf(position), entryReason: ADOPTED }
    book.positions.set(position)
    book.settle(position)
    this.#parts.watch.watch(position)
    this.#parts.exits.opened(position)
    this.#state.emitPosition(position)
    runner.refresh(mint)
  }
}
