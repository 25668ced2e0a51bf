import { expect, test } from 'vitest'
import { BotApi } from '../../../src/sandbox/telegram/bot-api.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'

// The sandbox must answer each of these calls as the documentation of Telegram's Bot API specifies.

const TOKEN = '1:secret'

function served() {
  const clock = new SimulatedClock(0)
  const api = new BotApi({ token: TOKEN, clock, users: [7] })
  const call = async (method: string, given: object = {}, token = TOKEN) => {
    const answer = await api.handle({
      method: 'POST',
      path: `/telegram/bot${token}/${method}`,
      headers: {},
      body: JSON.stringify(given),
    })
    return { status: answer?.status, ...JSON.parse(String(answer?.body)) }
  }
  return { api, call, clock }
}

const send = { chat_id: 7, text: 'hello' }
const button = (data: string) => ({
  ...send,
  reply_markup: { inline_keyboard: [[{ text: 'yes', callback_data: data }]] },
})

test.each<[what: string, method: string, given: object, status: number, description: string]>([
  ['an unknown method', 'sellEverything', {}, 404, 'Not Found'],
  ['an empty text', 'sendMessage', { ...send, text: ' ' }, 400, 'message text is empty'],
  [
    'a text of more than 4,096 characters',
    'sendMessage',
    { ...send, text: 'x'.repeat(4_097) },
    400,
    'message is too long',
  ],
  ['button data of more than 64 bytes', 'sendMessage', button('\u00e9'.repeat(33)), 400, 'BUTTON_DATA_INVALID'],
  [
    'an entity that ends after the text',
    'sendMessage',
    { ...send, entities: [{ type: 'pre', offset: 0, length: 6 }] },
    400,
    'entity',
  ],
  ['a user who has not opened the bot', 'sendMessage', { ...send, chat_id: 8 }, 400, 'chat not found'],
])('the Bot API of the sandbox refuses %s', async (_what, method, given, status, description) => {
  const { call, api } = served()
  expect(await call(method, given)).toMatchObject({
    ok: false,
    status,
    error_code: status,
    description: expect.stringContaining(description),
  })
  expect(api.sent).toEqual([])
})

test('the Bot API of the sandbox accepts the longest text and the longest button data', async () => {
  const { call } = served()
  expect((await call('sendMessage', { ...button('x'.repeat(64)), text: 'x'.repeat(4_096) })).ok).toBe(true)
})

test('the Bot API of the sandbox refuses a wrong token, and a message to a user who has blocked the bot', async () => {
  const { call, api } = served()
  expect(await call('getMe', {}, '1:other')).toMatchObject({ ok: false, status: 401 })
  api.blockedBy.add(7)
  expect(await call('sendMessage', send)).toMatchObject({ ok: false, status: 403 })
})

test('an update is delivered until a later offset confirms it, and a poll waits for the next update', async () => {
  const { call, api, clock } = served()
  api.write(7, '/status')
  const first = await call('getUpdates', { timeout: 25 })
  expect(first.result).toMatchObject([{ update_id: 1, message: { from: { id: 7 }, text: '/status' } }])
  expect((await call('getUpdates')).result).toHaveLength(1)
  const waiting = call('getUpdates', { offset: 2, timeout: 25 })
  api.write(7, '/pnl')
  expect((await waiting).result).toMatchObject([{ update_id: 2 }])
  const silent = call('getUpdates', { offset: 3, timeout: 25 })
  clock.advanceTo(25_000)
  expect((await silent).result).toEqual([])
  expect(api.pending).toBe(0)
})

test('in the Bot API of the sandbox, a second poll ends the first one with 409', async () => {
  const { call, api } = served()
  const first = call('getUpdates', { timeout: 25 })
  const second = call('getUpdates', { timeout: 25 })
  expect(await first).toMatchObject({
    status: 409,
    description: expect.stringContaining('terminated by other getUpdates'),
  })
  api.write(7, 'x')
  expect((await second).ok).toBe(true)
})

test('the Bot API of the sandbox refuses too many messages with the time to wait, and accepts them after this time', async () => {
  const { call, api, clock } = served()
  for (let count = 0; count < 5; count++) expect((await call('sendMessage', send)).ok).toBe(true)
  const refused = await call('sendMessage', send)
  expect(refused).toMatchObject({ status: 429, parameters: { retry_after: 1 } })
  clock.advanceTo(1_000)
  expect((await call('sendMessage', send)).ok).toBe(true)
  expect(api.sent).toHaveLength(6)
})

test('a user of the sandbox writes to the bot and reads its messages', async () => {
  const { call, api } = served()
  const user = async (body: object) => {
    const answer = await api.handle({ method: 'POST', path: '/telegram/user', headers: {}, body: JSON.stringify(body) })
    return JSON.parse(String(answer?.body)).result
  }
  expect(await user({ from: 9, text: '/start' })).toEqual([])
  await call('sendMessage', { chat_id: 9, text: 'hello' })
  expect(await user({ from: 9 })).toMatchObject([{ chat: 9, text: 'hello' }])
  expect(api.pending).toBe(1)
})
