import { afterEach, expect, test } from 'vitest'
import { DeskRig } from '../support/desk-rig.ts'

let rig: DeskRig
afterEach(() => rig.close())

test('the health of a run is answered without a session while the main thread speaks, and says nothing else', async () => {
  rig = await DeskRig.start()
  expect(await rig.ask({ path: '/health' })).toMatchObject({ status: 200, body: '{"ok":true}' })
  rig.now += 10_000
  expect(await rig.ask({ path: '/health' })).toMatchObject({ status: 503, body: expect.stringContaining('STALLED') })
  rig.desk.take({ kind: 'alive' })
  expect((await rig.ask({ path: '/health' })).status).toBe(200)
})

test('a desk that only shows a journal does not claim that bots run', async () => {
  rig = await DeskRig.start({}, { isRun: false })
  expect(await rig.ask({ path: '/health' })).toMatchObject({
    status: 503,
    body: expect.stringContaining('NOT_RUNNING'),
  })
})

test('the health is answered to the own names only', async () => {
  rig = await DeskRig.start()
  expect((await rig.ask({ path: '/health', headers: { host: 'rebound.example' } })).status).toBe(403)
})
