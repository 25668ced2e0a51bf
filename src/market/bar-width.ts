import type { Millis } from '../base/units.ts'

/** Width of a bar: a time (`15s`, `1m`, `4h`, `1d`), a number of trades (`500 trades`, `1 trade`), or a volume in SOL
 *  (`20 SOL`). */
export type Width = `${number}${'s' | 'm' | 'h' | 'd'}` | `${number} trades` | '1 trade' | `${number} SOL`

/** A parsed width. A bar closes at the next multiple of `everyMs` since the Unix epoch, or with the print that
 *  completes this number of trades or this volume. Exactly one of the three numbers is finite. */
export interface BarWidth {
  readonly name: Width
  readonly everyMs: Millis
  readonly trades: number
  readonly volumeSol: number
}

const UNIT_MS: Readonly<Record<string, Millis>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const LONGEST_MS = 86_400_000
const MOST_TRADES = 1_000_000
const LEAST_SOL = 0.01
const MOST_SOL = 1_000_000

/** Description of the valid widths, for messages. */
export const WIDTHS =
  'a time from 1s to 1d such as 15s, 1m or 4h, a number of trades such as 500 trades, or a volume such as 20 SOL'

/** Parses a width; undefined if the text is not a width. */
export function parseWidth(text: string): BarWidth | undefined {
  const none = {
    everyMs: Number.POSITIVE_INFINITY,
    trades: Number.POSITIVE_INFINITY,
    volumeSol: Number.POSITIVE_INFINITY,
  }
  const name = text as Width
  const [, number = '', unit = ''] = /^([1-9]\d*|\d+\.\d+)(s|m|h|d| trade| trades| SOL)$/.exec(text) ?? []
  const size = Number(number)
  if (unit === ' SOL') return size >= LEAST_SOL && size <= MOST_SOL ? { name, ...none, volumeSol: size } : undefined
  if (!Number.isInteger(size)) return undefined
  if (unit === ' trade' || unit === ' trades')
    return size <= MOST_TRADES && (unit === ' trade') === (size === 1) ? { name, ...none, trades: size } : undefined
  const everyMs = size * (UNIT_MS[unit] ?? Number.NaN)
  return everyMs <= LONGEST_MS ? { name, ...none, everyMs } : undefined
}

/** Returns the width that an invalid text probably means; undefined if the text resembles no width. */
export function meantWidth(text: string): Width | undefined {
  const [, number = '', unit = ''] = /^\s*(\d+(?:\.\d+)?)[\s_-]*([a-z]+)\s*$/i.exec(text) ?? swapped(text)
  const long = unit.toLowerCase()
  const size = Number(number)
  for (const [begin, meant] of [
    ...[
      ['sol', ' SOL'],
      ['tr', size === 1 ? ' trade' : ' trades'],
      ['ti', size === 1 ? ' trade' : ' trades'],
    ],
    ...[
      ['s', 's'],
      ['m', 'm'],
      ['h', 'h'],
      ['d', 'd'],
    ],
  ] as const) {
    if (long === '' || !long.startsWith(begin)) continue
    const width = parseWidth(`${size}${meant}`)
    if (width !== undefined) return width.name
  }
  return undefined
}

/** Other platforms write the unit before the number: `M1`, `H4`. */
function swapped(text: string): readonly string[] {
  const [, unit = '', number = ''] = /^\s*([smhd])(\d+)\s*$/i.exec(text) ?? []
  return ['', number, unit]
}
