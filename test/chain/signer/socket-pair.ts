import { type Duplex, duplexPair } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'

/** As two sockets that are connected: the end of the one is the end of the other. */
export function socketPair(): [Duplex, Duplex] {
  const [one, other] = duplexPair({ allowHalfOpen: false })
  one.once('close', () => other.destroy())
  other.once('close', () => one.destroy())
  return [one, other]
}

/** Everything that waits for nothing but its turn has happened. */
export const settle = async (): Promise<void> => {
  for (let turns = 0; turns < 10; turns++) await turn()
}
