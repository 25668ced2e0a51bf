import { afterEach, expect, test } from 'vitest'
import { DeskRig } from '../support/desk-rig.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { tradedJournal } from '../support/traded-journal.ts'
import { viewOf } from '../support/view-sample.ts'

const { path } = temporaryFolder()
let rig: DeskRig
afterEach(() => rig.close())

test('before the process sent its first view, the desk refuses requests, and after that a stream begins with the view', async () => {
  rig = await DeskRig.start({}, { journal: `${path}/none.db` })
  const cookie = await rig.login()
  for (const at of ['/api/view', '/events'])
    expect(await rig.ask({ path: at, headers: { cookie } })).toMatchObject({
      status: 503,
      body: expect.stringContaining('STALLED'),
    })
  rig.desk.take({ kind: 'view', view: viewOf() })
  const seen = JSON.parse((await rig.ask({ path: '/api/view', headers: { cookie } })).body)
  // The copy of the view asks the journal for the symbols. Here the journal cannot be read, so the symbol stays empty.
  expect(seen).toMatchObject({ id: '1-1', positions: [{ symbol: '' }] })

  const stop = new AbortController()
  const { body } = await fetch(`${rig.origin}/events`, { headers: { cookie }, signal: stop.signal })
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  const heard = async (part: string): Promise<void> => {
    while (!text.includes(part)) text += new TextDecoder().decode((await reader.read()).value)
  }
  await heard('id: 1-1\nevent: view\n')
  rig.desk.take({ kind: 'change', change: { from: '1-1', id: '1-2', set: { rows: 11 } } })
  await heard('id: 1-2\nevent: change\ndata: {"from":"1-1","id":"1-2","set":{"rows":11}}')
  stop.abort()
  expect(JSON.parse((await rig.ask({ path: '/api/view', headers: { cookie } })).body).rows).toBe(11)
})

test('the view of a recorded journal shows the state at its end', async () => {
  rig = await DeskRig.start({}, { journal: tradedJournal(), isRun: false })
  const cookie = await rig.login(true)
  const { status, body } = await rig.ask({ path: '/api/view', headers: { cookie } })
  expect(status).toBe(200)
  expect(JSON.parse(body)).toMatchObject({ source: 'recorded', feed: 'recorded' })
})

test('the view and its stream are served only to a session', async () => {
  rig = await DeskRig.start()
  rig.desk.take({ kind: 'view', view: viewOf() })
  for (const at of ['/api/view', '/events']) expect((await rig.ask({ path: at })).status).toBe(401)
})
