import { expect, test } from 'vitest'
import { accountOf } from '../../src/engine/account.ts'
import type { Input } from '../../src/engine/messages.ts'
import type { SpaceReport } from '../../src/journal/writer/space.ts'
import { Operator } from '../../src/live/control/operator.ts'
import { DiskRoom } from '../../src/live/disk-alerts.ts'
import { EntryStops } from '../../src/runtime/view/entry-stops.ts'
import { ViewModel } from '../../src/runtime/view/view-model.ts'
import { botSettings } from '../support/engine-rig.ts'

const MIB = 2 ** 20

function watched() {
  const inputs: Input[] = []
  const said: string[] = []
  const room = new DiskRoom({
    gateway: { diskLow: (isLow) => said.push(`stopped: ${isLow}`) },
    post: (input) => inputs.push(input),
    alert: (text) => said.push(`alert: ${text}`),
    log: {
      info: (text: string) => said.push(`info: ${text}`),
      warn: (text: string) => said.push(`warn: ${text}`),
      error: (text: string) => said.push(`error: ${text}`),
    } as never,
  })
  const take = (state: SpaceReport['state'], mib: number) => {
    said.length = 0
    room.take({ state, freeBytes: mib * MIB })
    return [...said]
  }
  return { inputs, take }
}

test('each level of free disk space is reported once, with a remedy; entries stop at a low level and continue at a higher one', () => {
  const { inputs, take } = watched()
  expect(take('noTape', 400)).toEqual([
    'warn: 400 MiB free on the disk that holds the journal: the market is not recorded until 640 MiB are free',
  ])
  const low =
    '100 MiB free on the disk that holds the journal (less than 128 MiB): entries are stopped, exits continue. Free some space there; entries continue automatically once 160 MiB are free'
  expect(take('noEntries', 100)).toEqual(['stopped: true', `error: DISK_LOW: ${low}`, `alert: ${low}`])
  expect(take('noEntries', 90)).toEqual([])
  expect(take('full', 0).at(-1)).toMatch(/^alert: 0 MiB free .*exits continue in the space that the journal reserved/)
  expect(take('stuck', 0).at(-1)).toMatch(/^alert: .*NOTHING CAN BE SOLD until there is space/)
  const open = '700 MiB free on the disk that holds the journal: the disk no longer stops entries'
  expect(take('ample', 700)).toEqual(['stopped: false', `info: ${open}`, `alert: ${open}`])
  expect(inputs.map((input) => input.kind === 'gate' && [input.account, input.code, input.open])).toEqual([
    ['', 'DISK_LOW', false],
    ['', 'DISK_LOW', false],
    ['', 'DISK_LOW', false],
    ['', 'DISK_LOW', true],
  ])
})

test('`status` shows for every bot since when and why the disk stops entries', () => {
  const stops = new EntryStops()
  const { inputs, take } = watched()
  const bots = ['a', 'b'].map((name) => ({ name, account: accountOf('paper', 'test', 'cluster', name) }))
  take('noEntries', 100)
  take('full', 0)
  for (const [index, input] of inputs.entries()) stops.hear(1_000 + index, input)
  expect(stops.of(bots, 5_000)).toMatchObject([{ code: 'DISK_LOW', bots: ['a', 'b'], since: 1_000, until: null }])
  expect(stops.of(bots, 5_000)[0]?.text).toMatch(/refused a write.*Free some space there/)
  take('ample', 700)
  stops.hear(2_000, inputs.at(-1) as Input)
  expect(stops.of(bots, 5_000)).toEqual([])
})

test('the answer to `resume` names the causes that still stop entries', () => {
  const model = new ViewModel()
  const bots = [botSettings('eager')]
  const operator = new Operator({
    ...{ haltPath: '', post: () => {}, model, bots, chain: undefined, priceOf: () => undefined, now: () => 0 },
    view: () => {
      throw new Error('not asked')
    },
  })
  expect(operator.carryOut({ command: 'resume' })).toEqual({ text: 'entries continue' })
  model.stops.hear(0, { kind: 'gate', account: '', open: false, code: 'DISK_LOW', reason: 'make room' })
  expect(operator.carryOut({ command: 'resume' })).toEqual({
    text: 'your halt is lifted, but entries are still stopped by causes that `resume` cannot end: DISK_LOW (eager): make room',
  })
})
