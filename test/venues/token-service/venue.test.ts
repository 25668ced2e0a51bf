import { venueOf } from '../../../src/venues/registry.ts'
import { venueContract } from '../../contracts/venue.contract.ts'
import { openRig } from '../../sandbox/client.ts'
import { MINT } from '../../sandbox/still-market.ts'
import { feedParts, openExecutorParts, until } from './sandbox-rig.ts'

venueContract('the token service on the sandbox', async () => {
  const rig = await openRig({ chain: 'runtime' })
  const { parts, close } = await openExecutorParts(rig)
  return {
    venue: venueOf({ kind: 'sandbox' }),
    ...{ mint: MINT, plan: 'Standard', feed: feedParts(rig), executor: parts, builder: parts },
    trade: () => void rig.still.trade('buy', 100_000_000n),
    until: (condition) => until(rig, condition, 2),
    close: async () => {
      await close()
      await rig.close()
    },
  }
})
