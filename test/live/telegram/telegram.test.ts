import { expect, test } from 'vitest'
import type { View } from '../../../src/runtime/view/view.ts'
import { TelegramRig, VIEWER } from '../../support/telegram-rig.ts'
import { viewOf } from '../../support/view-sample.ts'

const VIEW: View = viewOf()
const REFUSED = { kind: 'unsent', reason: 'connect ECONNREFUSED' } as const

test.each([
  ['/status', 'feed live, 120 ms behind, 1 gap; plan standard'],
  ['/status@sluice_bot', 'entries stopped (dips): HALTED: halted by hand'],
  ['/positions', 'dips: WIF MintAA..., cost 0.0500 SOL, 0.0620 SOL if sold now (+0.0120 SOL), 90 s'],
  ['/PNL', 'dips: today +0.0100 SOL, in all -0.2000 SOL, 12 trades, 42 % won'],
  ['/orders', 'o7 dips: buy 0.0500 SOL of MintBB..., unknown for 5 s; waits for the block'],
  ['/budget', '97 of 100 requests left in this minute, 1 waiting'],
  ['/help', '/status     feed, plan'],
  ['sell everything', '/status     feed, plan'],
])('a viewer who writes %s receives the answer %s', async (command, text) => {
  const rig = new TelegramRig().serve(VIEW)
  rig.api.write(VIEWER, command)
  await rig.pass(5_000)
  expect(rig.texts).toEqual([expect.stringContaining(text)])
})

const message = (fields: object, from: object = {}) => ({
  message: {
    ...{ message_id: 1, date: 1_795_435_200, text: '/status' },
    from: { id: VIEWER, is_bot: false, ...from },
    chat: { id: VIEWER, type: 'private' },
    ...fields,
  },
})

test.each<[what: string, update: object]>([
  ['a message of a stranger', message({ chat: { id: 502, type: 'private' } }, { id: 502 })],
  ['a message of a stranger in the chat of a viewer', message({}, { id: 502 })],
  [
    'a message of a viewer in a group, whose members would see the answer',
    message({ chat: { id: -5, type: 'group' } }),
  ],
  ['a message of another bot', message({}, { is_bot: true })],
  ['a message without a sender', message({ from: undefined })],
  ['a message whose sender has an id that is text', message({}, { id: `${VIEWER}` })],
  ['a message that is two minutes old', message({ date: Date.UTC(2026, 10, 23, 12) / 1_000 - 121 })],
  ['a message without text', message({ text: undefined })],
  ['a message that is null', { message: null }],
  ['an edit of an earlier message', { edited_message: message({}).message }],
])('the bot does not answer %s, and answers later messages', async (_what, update) => {
  const rig = new TelegramRig().serve(VIEW)
  rig.api.receive(update as Record<string, unknown>)
  await rig.pass(3_000)
  expect({ texts: rig.texts, pending: rig.api.pending }).toEqual({ texts: [], pending: 0 })
  rig.api.write(VIEWER, '/pnl')
  await rig.pass(3_000)
  expect(rig.texts).toHaveLength(1)
})

test('messages of strangers are logged at most once a minute, no matter how many there are', async () => {
  const rig = new TelegramRig().serve(VIEW)
  for (let count = 0; count < 100; count++) rig.api.write(502, 'x'.repeat(4_000))
  await rig.pass(59_000)
  expect(rig.lines).toEqual([
    'telegram: ignored messages of a user who is neither in telegram.viewers nor in telegram.operators',
  ])
})

test('events within two seconds form one message, disabled events are not sent, and a message of silent events makes no sound', async () => {
  const rig = new TelegramRig({ message: 'off', disk: 'silent' })
  const raise = (kind: 'disk' | 'held' | 'message', text: string) => rig.telegram.raise({ kind, bot: 'dips', text })
  raise('disk', 'nearly full')
  raise('message', 'hello')
  await rig.pass(3_000)
  raise('disk', 'has space again')
  raise('held', 'order o3')
  await rig.pass(3_000)
  expect(rig.api.sent).toMatchObject([
    { chat: VIEWER, text: 'disk (dips): nearly full', silent: true, isBlock: true, buttons: [] },
    {
      chat: VIEWER,
      text: 'disk (dips): has space again\nheld (dips): order o3',
      silent: false,
      isBlock: true,
      buttons: [],
    },
  ])
})

test('hostile text is shown in a preformatted block without control characters, and never exceeds the limit', async () => {
  const rig = new TelegramRig()
  for (let count = 0; count < 150; count++)
    rig.telegram.raise({
      kind: 'message',
      bot: '',
      text: `<b>@you</b> \u202e\u0000\n/flatten ${'\ud83d\ude00'.repeat(300)}`,
    })
  await rig.pass(5_000)
  const [text = ''] = rig.texts
  expect(rig.texts).toHaveLength(1)
  expect(text.split('\n')[0]).toMatch(/^message: <b>@you<\/b> \\u202e\\u0000\\u000a\/flatten /)
  expect(text.split('\n').at(-1)).toMatch(/^and \d+ more lines$/)
  expect(text.length).toBeLessThanOrEqual(4_096)
  expect(rig.api.sent[0]?.isBlock).toBe(true)
})

test('an outage of Telegram is logged once, and the message after it has a limited number of events and counts the others', async () => {
  const rig = new TelegramRig().serve(VIEW)
  rig.instead = () => REFUSED
  for (let minute = 0; minute < 60; minute++) {
    for (let count = 0; count < 5; count++) rig.telegram.raise({ kind: 'held', bot: '', text: `${minute}/${count}` })
    await rig.pass(60_000)
  }
  expect(rig.lines.toSorted()).toEqual([
    'telegram: messages cannot be sent: connect ECONNREFUSED; Sluice keeps them and tries again',
    'telegram: questions are not answered: connect ECONNREFUSED; Sluice tries again. Trading continues',
  ])
  rig.instead = () => undefined
  rig.api.write(VIEWER, '/pnl')
  await rig.pass(120_000)
  expect(rig.texts[0]).toContain('held: 0/0')
  expect(rig.texts.join('\n')).toContain('and 195 more')
  expect(rig.lines.slice(2).toSorted()).toEqual([
    'telegram: messages are delivered again',
    'telegram: questions are answered again',
  ])
})

test('after a 429 of Telegram, requests pause for the time that Telegram names', async () => {
  const rig = new TelegramRig()
  rig.api.floods = 2
  rig.telegram.raise({ kind: 'held', bot: '', text: 'one' })
  await rig.pass(2_000 + 5_900)
  expect(rig.texts).toEqual([])
  await rig.pass(200)
  expect(rig.texts).toEqual(['held: one'])
})

const CONFLICT = /^telegram: questions are not answered: 409 Conflict: .* another program answers .*Trading continues$/

test('if two processes use the token of one bot, the conflict and its end are reported once, in the log and to the users', async () => {
  const one = new TelegramRig().serve(VIEW)
  await one.pass(60_000)
  const other = new TelegramRig({}, { beside: one }).serve(VIEW)
  await one.pass(3_600_000)
  expect(one.lines).toEqual([expect.stringMatching(CONFLICT)])
  expect(other.lines).toEqual([expect.stringMatching(CONFLICT)])
  const told = one.shownTo(VIEWER)
  expect(told).toHaveLength(2)
  for (const text of told)
    expect(text).toMatch(/^This process does not receive your messages\.\nanother program answers .* with @BotFather/)
  other.telegram.stop()
  await one.pass(600_000)
  expect(one.lines.slice(1)).toEqual(['telegram: questions are answered again'])
  one.api.write(VIEWER, '/status')
  await one.pass(2_000)
  expect(one.shownTo(VIEWER)).toHaveLength(3)
})

test('a webhook of the bot is reported, with the way to delete it', async () => {
  const rig = new TelegramRig()
  rig.api.setWebhook(true)
  rig.serve(VIEW)
  await rig.pass(60_000)
  expect(rig.lines).toEqual([expect.stringContaining('delete it (method deleteWebhook)')])
  rig.api.setWebhook(false)
  await rig.pass(600_000)
  expect(rig.lines.at(-1)).toBe('telegram: questions are answered again')
})

test.each([
  [401, 'Unauthorized', 'check telegram.token'],
  [502, 'Bad Gateway', 'Sluice tries again'],
])(
  'a poll that is refused with %i is logged once with its remedy, and is repeated',
  async (status, description, remedy) => {
    const rig = new TelegramRig()
    let polls = 0
    const body = JSON.stringify({ ok: false, error_code: status, description })
    rig.instead = () => {
      polls++
      return { kind: 'answered', status, headers: {}, body }
    }
    rig.serve(VIEW)
    await rig.pass(600_000)
    expect(rig.lines).toEqual([expect.stringContaining(remedy)])
    expect(polls).toBeGreaterThanOrEqual(10)
    expect(polls).toBeLessThanOrEqual(61)
  },
)

test('that a user has blocked the bot is logged once, and does not delay messages to other users', async () => {
  const rig = new TelegramRig()
  rig.api.blockedBy.add(VIEWER)
  for (const text of ['one', 'two']) {
    rig.telegram.raise({ kind: 'held', bot: '', text })
    await rig.pass(5_000)
  }
  expect(rig.lines).toEqual([
    expect.stringContaining('a user cannot be reached (Forbidden: bot was blocked by the user)'),
  ])
  rig.api.blockedBy.clear()
  rig.telegram.raise({ kind: 'held', bot: '', text: 'three' })
  await rig.pass(5_000)
  expect(rig.texts).toEqual(['held: three'])
})

test('the daily summary is sent at the end of each UTC day, before the results of the day are reset', async () => {
  const rig = new TelegramRig().serve(VIEW)
  await rig.pass(11.9 * 3_600_000)
  expect(rig.texts).toEqual([])
  await rig.pass(0.2 * 3_600_000)
  expect(rig.texts).toEqual([expect.stringContaining('dips: today +0.0100 SOL')])
  await rig.pass(24 * 3_600_000)
  expect(rig.texts).toHaveLength(2)
})

test('after the stop, no request is sent to Telegram', async () => {
  const rig = new TelegramRig().serve(VIEW)
  rig.telegram.stop()
  rig.api.write(VIEWER, '/pnl')
  await rig.pass(120_000)
  expect(rig.texts).toEqual([])
})
