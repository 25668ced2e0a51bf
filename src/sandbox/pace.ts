import type { Clock } from '../core/ports.ts'
import type { Market } from './market.ts'

/** At high speeds the market runs in strides of this much real time, so that timers do not rule the process. */
const STRIDE_MS = 5
/** A market that the process could not keep up with skips no event, but lets everything else run this often. */
const LONGEST_TURN_MS = 20
/** Real time that it fills up in one turn. Where a machine stood still for longer the market goes on later, not faster: filling all of it up
 *  would take the time that everybody else was short of. */
const MOST_BEHIND_MS = 100

/** Runs a market on the clock, `speed` times as fast as life. Returns how to stop it. */
export function runMarket(market: Market, clock: Clock, speed: number): () => void {
  let startedAt = clock.now()
  let cancel = (): void => {}
  const turn = (): void => {
    const turnStartedAt = clock.now()
    const behind = turnStartedAt - startedAt - (market.nextAt ?? Number.POSITIVE_INFINITY) / speed
    if (behind > MOST_BEHIND_MS) startedAt += behind - MOST_BEHIND_MS
    const due = (turnStartedAt - startedAt) * speed
    while (market.nextAt !== undefined && market.nextAt <= due && clock.now() - turnStartedAt < LONGEST_TURN_MS) {
      market.advance(Math.min(market.nextAt + STRIDE_MS * speed, due))
    }
    wait()
  }
  const wait = (): void => {
    if (market.nextAt === undefined) return
    const until = startedAt + market.nextAt / speed - clock.now()
    cancel = clock.after(Math.max(until, speed > 1 ? STRIDE_MS : 0), turn)
  }
  wait()
  return () => cancel()
}
