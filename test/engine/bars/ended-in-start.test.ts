import { expect, test } from 'vitest'
import { above, defineStrategy, sma, z } from '../../../src/index.ts'
import { botSettings, EngineRig, orders } from '../../support/engine-rig.ts'

const strategyOf = (name: string, throws: boolean) =>
  defineStrategy({
    ...{ name, about: '', params: z.object({}), keys: ['trades'], bars: { '1 trade': 1 } },
    indicators: () => ({ average: sma('1 trade', 2) }),
    when: ({ average }) => above(average, 0),
    start: (_params, bot) => {
      if (throws) throw new Error('no sensors')
      return { onCondition: (_bar, token) => void bot.buy(token, { sol: 0.01, reason: 'above 0' }) }
    },
  })

test.each([
  ['before', ['bad', 'good']],
  ['after', ['good', 'bad']],
])(
  'a bot trades on its conditions if a bot with the same indicators that starts %s it throws in `start`',
  (_, names) => {
    const rig = new EngineRig(
      [strategyOf('bad', true) as never, strategyOf('good', false) as never],
      names.map((name) => botSettings(name)),
    )
    for (let print = 0; print < 10; print++) rig.settle(1e-6)
    const alarms = rig.outputs.filter(({ kind }) => kind === 'alarm')
    expect(alarms).toMatchObject([{ bot: 'bad', code: 'STRATEGY_THREW' }])
    expect(orders(rig.outputs).map(({ bot }) => bot)).toEqual(['good'])
  },
)
