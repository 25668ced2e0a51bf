import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../docs/${path}`, import.meta.url), 'utf8')
const page = read('from-other-frameworks.md')
const references = `${read('api.md')}${read('configuration.md')}`

/**
 * Methods that a strategy may override, from the sources of each framework: freqtrade/strategy/interface.py and its
 * documentation, jesse/strategies/Strategy.py, and nautilus_trader/common/actor.pyx with trading/strategy.pyx.
 */
const CALLBACKS: Readonly<Record<string, string>> = {
  freqtrade: `populate_indicators populate_entry_trend populate_exit_trend populate_buy_trend populate_sell_trend
    informative_pairs bot_start bot_loop_start check_entry_timeout check_exit_timeout check_buy_timeout
    check_sell_timeout confirm_trade_entry confirm_trade_exit order_filled custom_stoploss custom_roi
    custom_entry_price custom_exit_price custom_exit custom_sell custom_stake_amount adjust_trade_position
    adjust_entry_price adjust_exit_price adjust_order_price leverage version plot_annotations lock_pair unlock_pair
    feature_engineering_expand_all feature_engineering_expand_basic feature_engineering_standard set_freqai_targets`,
  Jesse: `before after should_long should_short go_long go_short should_cancel_entry update_position filters
    hyperparameters dna on_cancel on_open_position on_close_position on_increased_position on_reduced_position
    on_route_open_position on_route_close_position on_route_increased_position on_route_reduced_position
    on_route_canceled update_chart before_terminate terminate watch_list candles_pipeline ml_features`,
  NautilusTrader: `on_start on_stop on_resume on_reset on_dispose on_degrade on_fault on_save on_load
    on_instrument_status on_instrument_close on_instrument on_order_book on_order_book_deltas on_order_book_depth
    on_quote_tick on_trade_tick on_mark_price on_index_price on_funding_rate on_option_greeks on_option_chain on_bar
    on_data on_signal on_historical_data on_event on_market_exit post_market_exit on_order_event on_order_initialized
    on_order_denied on_order_emulated on_order_released on_order_submitted on_order_rejected on_order_accepted
    on_order_canceled on_order_expired on_order_triggered on_order_pending_update on_order_pending_cancel
    on_order_modify_rejected on_order_cancel_rejected on_order_updated on_order_filled on_position_event
    on_position_opened on_position_changed on_position_closed`,
}

/** Returns the rows of the table about a framework. Each row is the texts of its two columns. */
function rowsOf(framework: string): readonly (readonly [string, string])[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(framework)) ?? ''
  return [...section.matchAll(/^\| (.*?) \| (.*) \|$/gm)].map(([, theirs = '', ours = '']) => [theirs, ours])
}

describe.each(Object.entries(CALLBACKS))(
  'the table about %s on the page about other frameworks',
  (framework, names) => {
    test('the table names the counterpart of every callback', () => {
      const named = rowsOf(framework).flatMap(([theirs]) => theirs.match(/[a-z_]+/g) ?? [])
      expect(names.split(/\s+/).filter((name) => !named.includes(name))).toEqual([])
    })

    test('the table names only options, keys and types that Sluice has', () => {
      const ours = rowsOf(framework).flatMap(([, cell]) =>
        [...cell.matchAll(/`([a-z][A-Za-z]+)`/g)].map(([, name]) => name),
      )
      const unknown = ours.filter((name) => !new RegExp(`\\b${name}\\b`).test(references))
      expect(unknown).toEqual([])
    })
  },
)
