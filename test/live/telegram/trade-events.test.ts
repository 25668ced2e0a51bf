import { expect, test } from 'vitest'
import type { Output } from '../../../src/engine/messages.ts'
import type { TelegramEvent } from '../../../src/live/telegram/telegram.ts'
import { raiseTrades } from '../../../src/live/telegram/trade-events.ts'
import { ViewModel } from '../../../src/runtime/view/view-model.ts'

const order = {
  ...{ id: 'o7', bot: 'dips', account: 'a', side: 'buy', class: 'entry', mint: 'MintA', reason: 'fell 10 %' },
  ...{ size: { kind: 'sol', lamports: 50_000_000 }, time: 1 },
}
const state = (orderId: string, to: string) =>
  ({ kind: 'orderState', orderId, state: to, code: '', reason: '' }) as unknown as Output

test('an order causes one Telegram event when it has executed, and none if it failed or belongs to an earlier process', () => {
  const model = new ViewModel()
  const raised: TelegramEvent[] = []
  raiseTrades(model, (event) => raised.push(event))
  const outputs = [
    { kind: 'order', order } as unknown as Output,
    state('o7', 'working'),
    state('o7', 'filled'),
    state('o7', 'filled'),
    { kind: 'order', order: { ...order, id: 'o8' } } as unknown as Output,
    state('o8', 'failed'),
    state('o3', 'filled'),
  ]
  for (const [index, output] of outputs.entries()) model.hearOutput(1, 1, index, output)
  expect(raised).toEqual([{ kind: 'trade', bot: 'dips', text: 'bought MintA (o7): fell 10 %' }])
})
