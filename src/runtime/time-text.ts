import type { Millis } from '../base/units.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Returns the local time: `12:03:04.120`. */
export function clockOf(time: Millis): string {
  return isoOf(time, 'ms').slice(11)
}

/** Returns the local date: `2026-11-22`. */
export function localDateOf(time: Millis): string {
  return isoOf(time).slice(0, 10)
}

/** Returns the local time and its offset: `2026-11-22 12:03:04.120 +01:00`. */
export function stampOf(time: Millis): string {
  const ahead = -new Date(time).getTimezoneOffset()
  const two = (value: number): string => String(value).padStart(2, '0')
  const zone = `${ahead < 0 ? '-' : '+'}${two(Math.floor(Math.abs(ahead) / 60))}:${two(Math.abs(ahead) % 60)}`
  return `${isoOf(time, 'ms').replace('T', ' ')} ${zone}`
}

/** Returns the local time in the form that `--at` accepts, to the second or to the millisecond. */
export function isoOf(time: Millis, to: 's' | 'ms' = 's'): string {
  const local = new Date(time - new Date(time).getTimezoneOffset() * MINUTE_MS)
  return local.toISOString().slice(0, to === 's' ? 19 : 23)
}

/** Returns a time span: `+340 ms`, `+1.24 s`, `+4m05s`, `-2h14m`. */
export function spanOf(ms: number): string {
  const sign = ms < 0 ? '-' : '+'
  return `${sign}${durationOf(Math.abs(ms))}`
}

export function durationOf(ms: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`
  if (ms < 100 * SECOND_MS) return `${Number((ms / SECOND_MS).toFixed(2))} s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m${two((ms % MINUTE_MS) / SECOND_MS)}s`
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)}h${two((ms % HOUR_MS) / MINUTE_MS)}m`
  return `${Math.floor(ms / DAY_MS)}d${two((ms % DAY_MS) / HOUR_MS)}h`
}

/** Returns the UTC date: `2026-01-31`. */
export function utcDateOf(time: Millis): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Returns the UTC date and time: `2026-01-31 14:03:12`. */
export function dateTimeOf(time: Millis): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ')
}
