import { expect, test } from 'vitest'
import { Executions } from '../../../src/chain/resolver/executions.ts'
import { WatchList } from '../../../src/chain/resolver/watch-list.ts'
import type { Outcome } from '../../../src/orders/ports.ts'
import { sellAttempt } from '../../support/attempts.ts'
import { MINT } from '../../support/engine-rig.ts'
import { fillOf } from '../../support/gateway-world.ts'

const never = (): never => expect.fail('the test expects no other call')

test('a trade of our wallet that only the feed shows is not assigned to an attempt that another transaction has executed', () => {
  const watches = new WatchList(() => {})
  const said: string[] = []
  const executions = new Executions({
    ...{ watches, wallet: 'w', now: () => 0, doubt: never, unexpected: never, paid: never, standIn: never },
    ...{ follow: () => {}, notice: () => {}, late: (_attempt, _fill, code) => said.push(code) },
  })
  const attempt = sellAttempt(MINT, { id: 'o2.1', orderId: 'o2' })
  const one = watches.of(attempt)
  one.done = ({ kind }: Outcome) => said.push(kind)
  const filled = (signature: string): Outcome => {
    const outcome = fillOf(attempt, true) as Extract<Outcome, { kind: 'filled' }>
    return { ...outcome, fill: { ...outcome.fill, signature } }
  }
  let isFollowed = true
  one.followed.set('of the next sale', () => {
    isFollowed = false
  })
  watches.claim('its own', one)
  executions.takeOutcome(one, 'its own', filled('its own'))
  executions.takeOutcome(one, 'of the next sale', filled('of the next sale'))
  expect({ said, isFollowed, owner: watches.ownerOf('of the next sale') }).toEqual({
    ...{ said: ['filled'], isFollowed: false, owner: undefined },
  })
})
