import { tradesOf } from '../../src/backtest/report/bot-trades.ts'
import { Api } from '../../src/desk/api/routes.ts'
import type { MoneyAnswer } from '../../src/desk/api/types.ts'
import { isReal } from '../../src/engine/account.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { recordedView } from '../../src/runtime/view/recorded-view.ts'
import { worthsIn } from '../../src/runtime/view/view-worths.ts'

export interface Sums {
  readonly bot: string
  /** The result since the beginning of the journal, as the view shows it, lamports. */
  readonly header: number
  /** If the journal has only one start: the result since this start, as the view shows it. Otherwise the same as
   *  `header`. */
  readonly start: number
  /** The result on the page Money. */
  readonly money: number
  readonly report: number
  /** The result of the last day, lamports. */
  readonly today: number
  /** The number of open positions. */
  readonly held: number
}

const lamports = (sol: number): number => Math.round(sol * 1e9)

/** Returns the net result of each bot in the recorded view, on the page Money and in the report, lamports. */
export function sumsOf(path: string): Sums[] {
  const reader = openReader(path)
  try {
    const view = recordedView(reader, 't')
    const api = new Api(reader, [], () => worthsIn(view))
    return tradesOf(reader).map(({ bot, mode, account, netSol, held }) => {
      const shown = view.bots.find(({ name }) => name === bot)
      if (shown === undefined) throw new Error(`the view does not contain the bot ${bot}`)
      const query = { bot, mode: mode === 'live' && !isReal(account) ? 'sandbox' : mode }
      const { body } = api.answer('money', Object.entries(query))
      const header = lamports(shown.sinceBeginning.netSol)
      return {
        ...{ bot, header, held: held.count, report: lamports(netSol), today: lamports(shown.today.netSol) },
        start: view.beganAt === view.startedAt ? lamports(shown.sinceStart.netSol) : header,
        money: (body as MoneyAnswer).waterfall.at(-1)?.lamports ?? 0,
      }
    })
  } finally {
    reader.close()
  }
}
