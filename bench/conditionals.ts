import { join } from 'node:path'
import { z } from 'zod'
import { seededRandom } from '../src/base/random.ts'
import { Engine } from '../src/engine/engine.ts'
import { defineStrategy, type Strategy } from '../src/engine/strategy.ts'
import { openReader } from '../src/journal/reader/reader.ts'
import { openJournal } from '../src/journal/writer/journal.ts'
import { Mints } from '../src/market/mints.ts'
import { botSettings, EngineRig, startInput } from '../test/support/engine-rig.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'
import { base58 } from './frames.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const ORDERS = 1_000
const RUNS = 7

/** A strategy that places a conditional order on each of these tokens. When it receives a signal of the operator, it
 *  passes the number of its orders to `listed`. */
function strategyOf(mints: readonly string[], listed: (count: number) => void): Strategy {
  return defineStrategy({
    ...{ name: 'waiting', about: 'waits', params: z.object({}), keys: ['trades'] },
    start: (_params, bot) => ({
      onTrade: () => {
        for (const mint of mints) bot.limitBuy(mint, { sol: 0.01, atPrice: 1e-9, reason: 'waits', forSeconds: 9_999 })
      },
      onSignal: () => listed(bot.orders().length),
    }),
  }) as unknown as Strategy
}

/** Measures how long a start after a crash takes to restore the conditional orders: from opening the journal until the
 *  strategy can list them and the engine tests them again. */
export async function benchConditionals(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const random = seededRandom(3)
    const mints = Array.from({ length: ORDERS }, () => base58(random, 32))
    let listed = 0
    const strategy = strategyOf(mints, (count) => {
      listed = count
    })
    const settings = botSettings(strategy.name, { name: strategy.name })
    const path = join(folder, 'journal.db')
    const fail = (error: Error): never => {
      throw error
    }
    const journal = openJournal(path, { onFailure: fail })
    const rig = new EngineRig([strategy as never], [settings])
    journal.input(1, rig.now, startInput([settings]))
    rig.trade(1e-6)
    for (const [index, output] of rig.outputs.entries()) journal.output(2, rig.now, index, output)
    await new Promise<void>((resolve) => journal.commit(resolve))
    await journal.close()
    const taken: number[] = []
    for (let run = 0; run < (smoke ? 1 : RUNS); run++) {
      listed = 0
      const began = performance.now()
      const reader = openReader(path)
      const { money } = reader.recover()
      const engine = new Engine(new Mints(), new Map([[strategy.name, strategy]]))
      engine.input(3, rig.now, startInput([settings], money))
      engine.input(4, rig.now, { kind: 'command', command: { name: 'signal', signal: 'list', data: null } })
      taken.push(performance.now() - began)
      reader.close()
      if (listed !== ORDERS) throw new Error(`${listed} of ${ORDERS} orders were restored`)
    }
    const name = `restart that restores ${ORDERS} conditional orders`
    return [{ name, unit: 'ms', goal: 1_000, atMost: true, ...summarize(taken) }]
  })
}

if (isMain(import.meta.url)) printFigures(await benchConditionals())
