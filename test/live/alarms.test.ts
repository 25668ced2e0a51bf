import { expect, test } from 'vitest'
import type { ErrorCode } from '../../src/base/errors.ts'
import type { Alert } from '../../src/live/alerts.ts'
import { raiseAlarms } from '../../src/live/alerts.ts'
import { ViewModel } from '../../src/runtime/view/view-model.ts'

test.each<[ErrorCode, Alert['kind']]>([
  ['POOL_SILENT', 'pool-unread'],
  ['POOL_BEHIND', 'pool-unread'],
  ['POOL_UNREADABLE', 'pool-unread'],
  ['UNSELLABLE', 'unsellable'],
  ['FOREIGN_TX', 'foreign'],
  ['QUARANTINED', 'foreign'],
  ['HELD', 'held'],
  ['SERVICE_DUPLICATE', 'late-fill'],
  ['REVERSED', 'reversed'],
  ['FREEZE_AUTHORITY', 'mint-refused'],
  ['MINT_PROGRAM', 'mint-refused'],
])('an alarm of code %s is sent as %s', (code, kind) => {
  const told: Alert[] = []
  const model = new ViewModel()
  raiseAlarms({ model, past: { onRemainder() {} }, machine: { clock: { now: () => 1 } } } as never, (alert) =>
    told.push(alert),
  )
  model.hearOutput(1, 1, 0, { kind: 'alarm', bot: 'a', code, reason: 'why' })
  expect(told).toEqual([{ kind, bot: 'a', text: `${code}: why`, time: 1 }])
})

test('a message of a strategy is sent as an alert without a change', () => {
  const told: Alert[] = []
  const model = new ViewModel()
  raiseAlarms({ model, past: { onRemainder() {} }, machine: { clock: { now: () => 1 } } } as never, (alert) =>
    told.push(alert),
  )
  model.hearOutput(1, 1, 0, { kind: 'message', bot: 'a', text: 'look' })
  model.hearOutput(1, 1, 0, { kind: 'log', bot: 'a', level: 'warn', text: 'not sent' })
  expect(told).toEqual([{ kind: 'message', bot: 'a', text: 'look', time: 1 }])
})

test('if the proof of a lost order cannot continue, an alert reports that its outcome is unknown', () => {
  const told: Alert[] = []
  const chain = { onUndecided: (_text: string) => {} }
  const parts = { model: new ViewModel(), past: { onRemainder() {} }, machine: { clock: { now: () => 1 } }, chain }
  raiseAlarms(parts as never, (alert) => told.push(alert))
  chain.onUndecided('the RPC cannot be asked')
  expect(told).toEqual([{ kind: 'unknown', bot: '', text: 'the RPC cannot be asked', time: 1 }])
})
