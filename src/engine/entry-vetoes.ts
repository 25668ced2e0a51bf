import type { Lamports, Millis } from '../base/units.ts'
import { DENIED_MINTS } from '../solana/programs.ts'
import type { BuyRequest } from './buy-and-sell-options.ts'
import type { EngineState } from './engine-state.ts'
import { balanceVeto } from './limits/balance-check.ts'
import { checkFilters, hasFilters } from './limits/entry-filters.ts'
import type { Buyer, LimitFigures } from './limits/limit-figures.ts'
import { checkRanges, type Veto } from './limits/order-bounds.ts'
import { mintRefusal } from './limits/token-checks.ts'
import type { BotMoney } from './recovered-money.ts'
import type { BotSettings } from './settings.ts'

/** A bot that requests a buy, with the facts that decide whether the buy is refused. */
export interface Entrant extends Buyer {
  readonly money: Pick<BotMoney, 'status'>
  /** Returns the time at which the bot first saw a token. */
  seenAt(mint: string): Millis
}

/** Decides whether a buy is refused, and why. */
export class EntryVetoes {
  readonly #state: EngineState
  readonly #limits: LimitFigures

  constructor(state: EngineState, limits: LimitFigures) {
    this.#state = state
    this.#limits = limits
  }

  /** Returns the first reason to refuse a buy; undefined if the buy is allowed. `creator`: creator of the token; '' if
   *  it is unknown. */
  veto(client: Entrant, mint: string, request: BuyRequest, creator: string): Veto | undefined {
    const { amount, orders, scaleIn } = request
    return (
      this.#vetoState(client, mint, scaleIn) ??
      checkRanges(amount, orders, this.#state.plan) ??
      this.#vetoToken(client, mint, amount, creator) ??
      this.#limits.veto(client, mint, request, creator) ??
      balanceVeto(this.#state, client.settings, mint, request)
    )
  }

  /** Refuses a buy for all reasons that do not depend on its amount. */
  #vetoState(client: Entrant, mint: string, scaleIn: boolean): Veto | undefined {
    const { book, feed, prices, stopping } = this.#state
    const { account, name, orders } = client.settings
    const veto = (code: Veto['code'], reason: string): Veto => ({ code, reason })
    if (client.money.status === 'exits-only')
      return veto('EXITS_ONLY', 'the strategy threw an error or was stopped, so its bot only closes positions')
    if (stopping) return veto('HALTED', 'the process is stopping, so it accepts no buys')
    if (prices.contradicted)
      return veto(
        'UNIT_CONTRADICTED',
        'our own fills contradict the unit of the feed: stop, and run `sluice doctor FILE --probe-live 0.01 --mint MINT`',
      )
    if (book.accounts.get(account.id)?.halted === true)
      return veto('HALTED', 'entries are halted; `sluice resume` allows them again')
    if (feed === 'refused')
      return veto('KEY_REFUSED', 'the service refuses the API key; entries stop until the key is replaced')
    if (feed !== 'live') return veto('FEED_DOWN', `the feed is ${feed}, so entries stop until it is live again`)
    if (DENIED_MINTS.has(mint)) return veto('MINT_DENIED', `${mint} is a currency, not a token to trade`)
    if (this.#state.price(mint) === undefined)
      return veto(
        'PRICE_UNKNOWN',
        'the token has too few prints for a robust price yet, or the unit of the feed is not proved',
      )
    const age = this.#state.eventAgeMs()
    if (age > orders.maxEventAgeMs)
      return veto('STALE_EVENT', `the event is ${age} ms old, more than orders.maxEventAgeSeconds allows`)
    const ofWallet = walletVeto(this.#state, client.settings, mint)
    if (ofWallet !== undefined) return ofWallet
    const owner = { account: account.id, mint }
    const lane = book.openOrderOf(owner)
    if (lane !== undefined) return veto('LANE_BUSY', `order ${lane.order.id} for this mint is still open`)
    const exit = book.unprovedExit(owner)
    if (exit !== undefined) return veto('EXIT_UNPROVED', `order ${exit.id} may still sell this mint`)
    const sale = book.provisionalSale(owner)
    if (sale !== undefined)
      return veto('EXIT_UNPROVED', `the sale of this mint by order ${sale.orderId} is not final yet`)
    const position = book.positions.get(owner)
    const alone = this.#state.gates.alone(account.id)
    if (position === undefined) return book.positions.ofBot(name, mint).length > 0 ? IN_FORMER_WALLET : alone
    if (position.bot !== name) return veto('MINT_OWNED', `the bot ${position.bot} of the same wallet holds this mint`)
    if (position.exiting !== '') return veto('LANE_BUSY', 'the position is being sold')
    return scaleIn
      ? alone
      : veto('POSITION_OPEN', 'the bot already holds this mint; set scaleIn to add to the position')
  }

  /** Refuses a buy if the token does not pass the filters of the bot. */
  #vetoToken(client: Entrant, mint: string, amount: Lamports, creator: string): Veto | undefined {
    if (!hasFilters(client.settings.filters)) return undefined
    const { lists, launches, mints, now } = this.#state
    return checkFilters(client.settings.filters, lists, {
      ...{ mint, amount, now, creator, launch: launches.of(mints.find(mint)), seenAt: client.seenAt(mint) },
      price: this.#state.price(mint) as number,
    })
  }
}

/** Refusal of a buy if the bot still holds the mint in its former wallet. The timers of exits are stored by bot and
 *  mint, so two positions of one mint would share them. */
const IN_FORMER_WALLET: Veto = { code: 'MINT_OWNED', reason: 'the bot still holds this mint in its former wallet' }

/** Refuses a buy because of the state of the account's wallet or because of the facts about the mint. */
function walletVeto(
  { book, gates, mintFacts }: EngineState,
  { account, tokenChecks }: Pick<BotSettings, 'account' | 'tokenChecks'>,
  mint: string,
): Veto | undefined {
  const { foreign = [], quarantined = [], breached = false } = book.accounts.get(account.id) ?? {}
  const facts = account.mode === 'live' ? mintFacts.get(mint) : undefined
  const closed = gates.veto(account.id)
  if (closed !== undefined) return closed
  if (foreign.length > 0)
    return {
      code: 'FOREIGN_TX',
      reason: `these transactions belong to no order (accept each with \`sluice resume --accept\`): ${foreign.join(', ')}`,
    }
  if (breached)
    return {
      code: 'UNEXPECTED_FILL',
      reason:
        'the wallet executed a trade for which no order was waiting; look for a second process, then run `sluice resume`',
    }
  if (quarantined.includes(mint))
    return {
      code: 'QUARANTINED',
      reason: 'the wallet holds less of this mint than the books show; `sluice resume` allows entries again',
    }
  return facts && mintRefusal(facts, tokenChecks)
}
