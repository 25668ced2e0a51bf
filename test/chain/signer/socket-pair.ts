import { type Duplex, duplexPair } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'

/** Returns two connected sockets. When one of them ends, the other ends too. */
export function socketPair(): [Duplex, Duplex] {
  const [one, other] = duplexPair({ allowHalfOpen: false })
  one.once('close', () => other.destroy())
  other.once('close', () => one.destroy())
  return [one, other]
}

/** Waits until all pending callbacks have run. */
export const settle = async (): Promise<void> => {
  for (let turns = 0; turns < 10; turns++) await turn()
}
