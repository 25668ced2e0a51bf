import { expect } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import { solToLamports } from '../../../src/base/units.ts'
import { openRpcs } from '../../../src/chain/rpc/rpc.ts'
import { LiveWallet } from '../../../src/chain/wallet/live-wallet.ts'
import { Mints } from '../../../src/market/mints.ts'
import { openHttp } from '../../../src/venues/http.ts'
import type { ExecutorParts, FeedParts } from '../../../src/venues/venue.ts'
import { dialWebSocket } from '../../../src/venues/web-socket.ts'
import type { Rig } from '../../sandbox/client.ts'

/** Runs the event loop until the condition is true. Every 20 turns, the sandbox advances by `slots` Solana slots. */
export async function until(rig: Rig, condition: () => boolean, slots = 0): Promise<void> {
  for (let turn = 0; turn < 20_000; turn++) {
    if (condition()) return
    if (turn % 20 === 0 && slots > 0) rig.advance(slots)
    await new Promise(setImmediate)
  }
  expect.fail('the condition never became true')
}

export function feedParts(rig: Rig, apiKey = rig.apiKeys.standard): Omit<FeedParts, 'on'> {
  return {
    url: rig.wsUrl,
    apiKey: () => apiKey,
    dial: dialWebSocket,
    clock: rig.clock,
    random: seededRandom(1),
    mints: new Mints(),
    pace: (job) => job(),
    isHeld: () => true,
    load: () => 0,
  }
}

export interface OpenExecutor {
  readonly parts: ExecutorParts
  readonly wallet: LiveWallet
  close(): Promise<void>
}

/** Returns the parts of an executor whose attempts are resolved on the sandbox's chain. */
export async function openExecutorParts(rig: Rig): Promise<OpenExecutor> {
  const { http, close } = openHttp()
  const { clock, genesisHash: genesis } = rig
  const wallet = new LiveWallet({
    rpcs: openRpcs({ http, clock, urls: [rig.rpcUrl], pace: (_url, _call, run) => run() }),
    ...{ clock, monotonicMs: () => clock.now(), boot: 'b', account: 'a', genesis, wallet: rig.wallet },
    ...{ lateMs: 120_000, secondOpinionLamports: 1e9, past: { cursor: undefined, transactions: [], watches: [] } },
    ...{ booked: () => new Map(), write: () => {}, late: () => expect.fail('late') },
    ...{ paid: () => expect.fail('paid'), standIn: () => expect.fail('stand-in') },
    on: {
      ...{ gate: () => {}, foreign: () => expect.fail('foreign'), deficit: () => expect.fail('deficit') },
      ...{ landed: () => {}, notice: () => {}, alarm: () => expect.fail('alarm'), undecided: () => {} },
    },
  })
  wallet.start()
  await until(rig, () => wallet.baseline() !== null)
  return {
    parts: {
      ...{ http, clock, baseUrl: rig.baseUrl, apiKey: () => rig.apiKeys.standard, wallet: rig.wallet },
      maxBuyLamports: () => solToLamports(100),
      sellUnit: () => 'unproved',
      holding: () => undefined,
      resolve: {
        begin: (attempt, done) => wallet.resolver.begin({ ...attempt, baseline: wallet.baseline() }, done),
        resume: (attempt, done) => wallet.resolver.resume(attempt, done),
      },
    },
    wallet,
    close: async () => {
      wallet.stop()
      await close()
    },
  }
}
