import type { Metric } from '../metric.ts'
import { dateTimeOf } from '../time.ts'

/** How figures are written for a person. */

const NONE = 'n/a'

/** With its sign, to the ten-thousandth. */
export function signedSol(sol: number | null | undefined): string {
  if (sol === null || sol === undefined) return NONE
  const text = sol.toFixed(4)
  return Number(text) === 0 ? '0' : sol > 0 ? `+${text}` : `−${text.slice(1)}`
}

export function plain(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined) return NONE
  return value
    .toFixed(digits)
    .replace(/^-(?=[\d.]*[1-9])/, '−')
    .replace(/^-/, '')
}

export function percentText(value: number | null | undefined, digits = 1): string {
  return value === null || value === undefined ? NONE : `${plain(value, digits)} %`
}

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE
  if (value < 120) return `${plain(value, value < 10 ? 1 : 0)} s`
  if (value < 7_200) return `${plain(value / 60, 0)} min`
  return value < 172_800 ? `${plain(value / 3_600, 1)} h` : `${plain(value / 86_400, 1)} d`
}

/** The first and the last characters of a key. */
export function shortMint(mint: string): string {
  return mint.length > 12 ? `${mint.slice(0, 5)}…${mint.slice(-4)}` : mint
}

export function metricText({ unit, value }: Metric): string {
  if (value === null) return NONE
  if (typeof value === 'string') return shortMint(value)
  switch (unit) {
    case 'SOL':
      return value === 0 ? '0' : plain(value, 4)
    case '%':
      return percentText(value)
    case 's':
      return seconds(value)
    case 'time':
      return dateTimeOf(value)
    case 'count':
      return Number.isInteger(value) ? String(value) : plain(value, 1)
    default:
      return plain(value)
  }
}
