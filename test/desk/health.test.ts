import { afterEach, expect, test } from 'vitest'
import { DeskRig } from '../support/desk-rig.ts'

let rig: DeskRig
afterEach(() => rig.close())

test("while the main thread responds, the desk answers requests for the run's health without a session, and the answer contains nothing else", async () => {
  rig = await DeskRig.start()
  expect(await rig.ask({ path: '/health' })).toMatchObject({ status: 200, body: '{"ok":true}' })
  rig.now += 10_000
  expect(await rig.ask({ path: '/health' })).toMatchObject({ status: 503, body: expect.stringContaining('STALLED') })
  rig.desk.take({ kind: 'alive' })
  expect((await rig.ask({ path: '/health' })).status).toBe(200)
})

test('the health of a desk that only shows a journal does not report that bots run', async () => {
  rig = await DeskRig.start({}, { isRun: false })
  expect(await rig.ask({ path: '/health' })).toMatchObject({
    status: 503,
    body: expect.stringContaining('NOT_RUNNING'),
  })
})

test('the desk answers health requests only for its own host names', async () => {
  rig = await DeskRig.start()
  expect((await rig.ask({ path: '/health', headers: { host: 'rebound.example' } })).status).toBe(403)
})
