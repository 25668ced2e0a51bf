import { styleText } from 'node:util'
import type { Examination } from '../chain/verifier/examine.ts'
import { sol as solText } from '../chain/verifier/reading.ts'
import type { AskedTrade } from '../core/asked-trade.ts'
import { ERRORS } from '../core/errors.ts'
import { printable } from '../core/printable.ts'
import { formatSol, lamportsToSol } from '../core/units.ts'

/** All that is to be said of one answer of a builder. */
export interface Examined extends Omit<Examination, 'transaction' | 'guarded' | 'lastHeight' | 'closed'> {
  readonly asked: AskedTrade
  /** Name of the policy. */
  readonly policy: string
  readonly lastValidBlockHeight: number | undefined
}

/** For people: the verdict first, then what it rests on. */
export function verdictText(examined: Examined): string {
  const { refusals, bound, parts, notUnderstood, simulated, trade, policy, lastValidBlockHeight } = examined
  const isRefused = refusals.length > 0
  const verdict = isRefused ? styleText(['bold', 'red'], 'REFUSED') : styleText(['bold', 'green'], 'ACCEPTED')
  const spent = parts.map(({ what, lamports }) => `${what} ${solText(lamports)}`).join(', ')
  return [
    `${verdict} ${askedText(examined.asked)}`,
    ...refusals.flatMap(({ code, reason }) => [`  ${code}: ${ERRORS[code]}`, `    ${printable(reason)}`]),
    row(
      'trade',
      trade === undefined ? 'none that can be read' : `${trade.name}, ${trade.tokens} base units, ${limitText(trade)}`,
    ),
    row('SOL out', bound === null ? 'no bound holds' : `at most ${solText(bound)}${spent === '' ? '' : ` (${spent})`}`),
    row(
      'simulated',
      simulated === undefined ? 'no' : `${solText(simulated.lamports)} SOL, ${simulated.tokens} base units`,
    ),
    ...notUnderstood.map((what) => row('not known', printable(what))),
    row('policy', printable(policy)),
    ...(lastValidBlockHeight === undefined ? [] : [row('builder says', `valid up to block ${lastValidBlockHeight}`)]),
  ].join('\n')
}

/** What `--json` prints: amounts of SOL as numbers, of tokens as texts of base units. */
export function verdictJson(examined: Examined): object {
  const { refusals, bound, parts, notUnderstood, simulated, trade, policy, lastValidBlockHeight } = examined
  return {
    ok: refusals.length === 0,
    refusals: refusals.map(({ code, reason }) => ({ code, means: ERRORS[code], reason })),
    boundSol: bound === null ? null : number(bound),
    parts: parts.map(({ what, lamports }) => ({ what, sol: number(lamports) })),
    notUnderstood,
    trade:
      trade === undefined
        ? null
        : {
            name: trade.name,
            side: trade.side,
            mint: trade.mint,
            exact: trade.exact,
            sol: number(trade.lamports),
            tokens: String(trade.tokens),
          },
    simulated: simulated === undefined ? null : { sol: number(simulated.lamports), tokens: String(simulated.tokens) },
    policy,
    lastValidBlockHeight: lastValidBlockHeight ?? null,
  }
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(12)} ${text}`
}

function askedText(asked: AskedTrade): string {
  const slippage = `slippage ${asked.slippagePercent} %`
  if (asked.side === 'buy') return `buy ${asked.mint} for ${formatSol(asked.lamports)} SOL, ${slippage}`
  const { amount } = asked
  const much = amount.kind === 'all' ? 'all' : amount.kind === 'percent' ? `${amount.percent} %` : amount.decimal
  return `sell ${much} of ${asked.mint}, ${slippage}`
}

function limitText({ side, lamports }: NonNullable<Examination['trade']>): string {
  return side === 'buy' ? `for at most ${solText(lamports)} SOL` : `for at least ${solText(lamports)} SOL`
}

function number(lamports: bigint): number {
  return lamportsToSol(Number(lamports))
}
