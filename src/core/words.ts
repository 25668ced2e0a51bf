import { DAY, HOUR, type Millis } from './units.ts'

// How times are said in reasons. Intl and Date are no part of the core.

/** `14:03:12 UTC (in 5 min)`. */
export function formatInstant(time: Millis, now: Millis): string {
  const sinceMidnight = ((time % DAY) + DAY) % DAY
  const [hours, minutes, seconds] = [sinceMidnight / HOUR, (sinceMidnight / 60_000) % 60, (sinceMidnight / 1000) % 60]
  const clock = [hours, minutes, seconds].map((part) => String(Math.floor(part)).padStart(2, '0')).join(':')
  return `${clock} UTC (in ${formatSpan(time - now)})`
}

/** `12 s`, `5 min`, `2 h 10 min`, `3 days`: rounded up, so that nobody comes too early. */
function formatSpan(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / 1000)
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  if (minutes >= 2 * 24 * 60) return `${Math.ceil(minutes / 60 / 24)} days`
  const rest = minutes % 60
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`
}
