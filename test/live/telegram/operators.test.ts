import { describe, expect, test } from 'vitest'
import { SluiceError } from '../../../src/base/errors.ts'
import { OPERATOR, TelegramRig, VIEWER } from '../../support/telegram-rig.ts'
import { viewOf, viewOfWallets } from '../../support/view-sample.ts'

const VIEW = viewOf()
const MINT = VIEW.positions[0]?.mint as string
const STRANGER = 701
const served = (): TelegramRig => new TelegramRig({}, { operators: [OPERATOR] }).serve(VIEW)

/** Returns a Telegram rig whose operator has written a command and seen its preview. */
async function asked(text: string): Promise<TelegramRig> {
  const rig = served()
  rig.api.write(OPERATOR, text)
  await rig.pass(2_000)
  return rig
}

async function press(rig: TelegramRig, user: number, button: string): Promise<void> {
  expect(rig.api.press(user, button)).toBe(true)
  await rig.pass(2_000)
}

/** Returns the data of a button of the last message that has buttons. */
function dataOf(rig: TelegramRig, index: number): { data: string; message: number } {
  const message = rig.api.sent.findLast(({ buttons }) => buttons.length > 0)
  return { data: message?.buttons[index]?.data as string, message: message?.id as number }
}

describe('an operator', () => {
  test.each([
    ['/halt', { command: 'halt' }],
    ['/resume', { command: 'resume' }],
    ['/FLATTEN@sluice_bot', { command: 'flatten' }],
    [`/sell ${MINT.slice(0, 6)}...`, { command: 'sell', mint: MINT }],
    ['/sell So11111111111111111111111111111111111111112', expect.objectContaining({ command: 'sell' })],
  ])('an operator who writes %s gets a preview, and confirms it with a button', async (text, command) => {
    const rig = await asked(text)
    expect(rig.shownTo(OPERATOR)).toEqual([
      expect.stringMatching(/preview of \w+\nNote: at the market\nConfirm within 60 seconds\.$/),
    ])
    expect(rig.commands).toEqual([])
    await press(rig, OPERATOR, 'Confirm')
    expect(rig.commands).toEqual([{ command, by: `telegram:${OPERATOR}`, update: expect.any(Number) }])
    expect(rig.shownTo(OPERATOR)).toEqual([expect.stringMatching(/ is done$/)])
    expect(rig.api.sent.at(-1)?.buttons).toEqual([])
    expect(rig.api.answers).toHaveLength(1)
  })

  test.each([
    ['/halt side', { command: 'halt', wallet: 'side' }],
    ['/flatten main', { command: 'flatten', wallet: 'main' }],
    [`/sell ${MINT.slice(0, 6)} side`, { command: 'sell', mint: MINT, wallet: 'side' }],
  ])('a command %s that an operator writes applies only to the wallet that it names', async (text, command) => {
    const rig = new TelegramRig({}, { operators: [OPERATOR] }).serve(viewOfWallets())
    rig.api.write(OPERATOR, text)
    await rig.pass(2_000)
    await press(rig, OPERATOR, 'Confirm')
    expect(rig.commands).toMatchObject([{ command }])
  })

  test('if an operator presses "Do nothing", the question ends', async () => {
    const rig = await asked('/flatten')
    const { data, message } = dataOf(rig, 0)
    await press(rig, OPERATOR, 'Do nothing')
    expect(rig.shownTo(OPERATOR)).toEqual(['Nothing was done.'])
    rig.api.pressData(OPERATOR, data, message)
    await rig.pass(3_000)
    expect(rig.commands).toEqual([])
  })

  test('an operator receives the reason for which a command is refused', async () => {
    const rig = served()
    rig.handle = () => {
      throw new SluiceError('the file HALT is there')
    }
    rig.api.write(OPERATOR, '/resume')
    await rig.pass(2_000)
    await press(rig, OPERATOR, 'Confirm')
    expect(rig.shownTo(OPERATOR)).toEqual(['resume: the file HALT is there'])
  })

  test.each([
    ['/sell', 'send /sell and the mint'],
    ['/sell abc', 'send /sell and the mint'],
    ['/sell Nothing9', 'send /sell and the mint'],
  ])('an operator who writes %s receives a message about the missing part', async (text, answer) => {
    const rig = await asked(text)
    expect(rig.shownTo(OPERATOR)).toEqual([expect.stringContaining(answer)])
    expect(rig.api.sent.at(-1)?.buttons).toEqual([])
  })

  test('/help shows an operator the commands for operators, and does not show them to a viewer', async () => {
    const rig = await asked('/help')
    rig.api.write(VIEWER, '/help')
    await rig.pass(2_000)
    expect(rig.shownTo(OPERATOR)[0]).toContain('/flatten')
    expect(rig.shownTo(VIEWER)[0]).not.toContain('/flatten')
  })
})

describe('a button of the bot', () => {
  test('a button of the bot works only once', async () => {
    const rig = await asked('/halt')
    const { data, message } = dataOf(rig, 0)
    for (let count = 0; count < 3; count++) rig.api.pressData(OPERATOR, data, message)
    await rig.pass(5_000)
    expect(rig.commands).toHaveLength(1)
    expect(rig.shownTo(OPERATOR).at(-1)).toContain('This press had no effect')
  })

  test('a button of the bot is valid for 60 seconds, and Telegram may deliver the press an hour later', async () => {
    const rig = await asked('/flatten')
    rig.instead = () => ({ kind: 'unsent', reason: 'connect ECONNREFUSED' })
    await rig.pass(30_000) // the poll that is open ends
    rig.api.press(OPERATOR, 'Confirm')
    await rig.pass(3_600_000)
    rig.instead = () => undefined
    await rig.pass(120_000)
    expect(rig.commands).toEqual([])
    expect(rig.shownTo(OPERATOR)).toEqual([
      'The confirmation arrived too late. Nothing was done: send the command again.',
    ])
  })

  test.each<[who: string, user: number]>([
    ['a viewer', VIEWER],
    ['a stranger', STRANGER],
  ])('%s cannot use a button of the bot, and the operator still can', async (_who, user) => {
    const rig = await asked('/halt')
    const { data, message } = dataOf(rig, 0)
    rig.api.pressData(user, data, message)
    await rig.pass(3_000)
    expect(rig.commands).toEqual([])
    await press(rig, OPERATOR, 'Confirm')
    expect(rig.commands).toHaveLength(1)
  })

  test('another operator cannot use a button of the bot, and such a press makes it invalid', async () => {
    const rig = new TelegramRig({}, { operators: [OPERATOR, 602] }).serve(VIEW)
    rig.api.write(OPERATOR, '/halt')
    await rig.pass(2_000)
    const { data, message } = dataOf(rig, 0)
    for (const user of [602, OPERATOR]) {
      rig.api.pressData(user, data, message)
      await rig.pass(3_000)
    }
    expect(rig.commands).toEqual([])
  })

  test('a button of the bot cannot be used in a group', async () => {
    const rig = await asked('/halt')
    const { data, message } = dataOf(rig, 0)
    const chat = { id: -5, type: 'group' }
    rig.api.pressData(OPERATOR, data, message, { message: { message_id: message, date: 1, chat } })
    await rig.pass(3_000)
    expect(rig.commands).toEqual([])
  })

  test('after a restart, an old button does nothing, and a command that the journal contains is reported as carried out', async () => {
    const rig = await asked('/flatten')
    const { data, message } = dataOf(rig, 0)
    const second = served()
    for (const isRecorded of [false, true]) {
      second.api.pressData(OPERATOR, data, message)
      if (isRecorded) for (let update = 0; update < 10; update++) second.recorded.add(update)
      await second.pass(3_000)
    }
    expect(second.commands).toEqual([])
    expect(second.shownTo(OPERATOR)).toEqual([
      expect.stringContaining('This press had no effect'),
      'This command was carried out before the process ended.',
    ])
  })

  test.each([
    '',
    'y:',
    'y:short',
    'x:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'y:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    7,
    null,
    {},
  ])('a press of a button with the data %j does nothing', async (data) => {
    const rig = await asked('/halt')
    rig.api.pressData(OPERATOR, data, 1)
    await rig.pass(3_000)
    expect(rig.commands).toEqual([])
  })
})

describe('no command is taken', () => {
  test.each(['/halt', '/resume', '/flatten', `/sell ${MINT}`])(
    'a viewer who writes %s cannot give a command',
    async (text) => {
      const rig = served()
      rig.api.write(VIEWER, text)
      await rig.pass(3_000)
      expect(rig.shownTo(VIEWER)).toEqual([expect.stringContaining('only the users in telegram.operators')])
      expect(rig.api.sent.every(({ buttons }) => buttons.length === 0)).toBe(true)
    },
  )

  const flatten = (fields: object, from: object = {}) => ({
    message: {
      ...{ message_id: 1, date: 1_795_435_200, text: '/flatten' },
      from: { id: OPERATOR, is_bot: false, ...from },
      chat: { id: OPERATOR, type: 'private' },
      ...fields,
    },
  })

  test.each<[what: string, update: object, answers: number]>([
    ['a message in a group', flatten({ chat: { id: -5, type: 'group' } }), 0],
    [
      'a message of an anonymous administrator',
      flatten({ sender_chat: { id: -5 }, chat: { id: -5, type: 'supergroup' } }),
      0,
    ],
    ['a message of a channel', { channel_post: flatten({}).message }, 0],
    ['a message of another bot', flatten({}, { is_bot: true }), 0],
    ['an edit of an earlier message', { edited_message: flatten({}).message }, 0],
    ['a forwarded message', flatten({ forward_origin: { type: 'user' } }), 1],
    ['a message that was sent through another bot', flatten({ via_bot: { id: 9 } }), 1],
    ['a message that is two minutes old', flatten({ date: Date.UTC(2026, 10, 23, 12) / 1_000 - 121 }), 1],
  ])('the bot accepts no command from an operator in %s', async (_what, update, answers) => {
    const rig = served()
    rig.api.receive(update as Record<string, unknown>)
    await rig.pass(3_000)
    expect(rig.shownTo(OPERATOR)).toHaveLength(answers)
    expect(rig.api.sent.every(({ buttons }) => buttons.length === 0)).toBe(true)
  })
})

test('for a viewer, /why and /report read the journal, and only valid ids reach the command', async () => {
  const rig = served()
  for (const text of [
    '/why o12',
    '/why c3',
    '/why d1204.2',
    `/why ${'1'.repeat(32)}`,
    '/report',
    '/why',
    '/why --json',
    '/why o1;x',
  ])
    rig.api.write(VIEWER, text)
  await rig.pass(10_000)
  expect(rig.asked).toEqual(['why o12', 'why c3', 'why d1204.2', `why ${'1'.repeat(32)}`, 'report'])
  expect(rig.shownTo(VIEWER).filter((text) => text.includes('send the id of an order'))).toHaveLength(3)
})

test('invalid updates from Telegram are logged once, and later updates are read', async () => {
  const rig = served()
  for (const update of [{ message: 7 }, { callback_query: { id: 7 } }, { message: { from: 'x', date: 1 } }])
    rig.api.receive(update)
  rig.api.write(OPERATOR, '/pnl')
  await rig.pass(5_000)
  expect(rig.lines.filter((line) => line.includes('does not document'))).toHaveLength(1)
  expect(rig.shownTo(OPERATOR)).toHaveLength(1)
})

test('if the answer to a press or a question fails, this is logged, and later messages are answered', async () => {
  const rig = served()
  rig.isRecorded = () => {
    throw new Error('the disk cannot be read')
  }
  rig.run = () => Promise.reject(new Error('no memory for a process'))
  rig.api.pressData(OPERATOR, 'y:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 1)
  await rig.pass(2_000)
  for (const text of ['/why o12', '/pnl']) rig.api.write(OPERATOR, text)
  await rig.pass(5_000)
  expect(rig.lines.filter((line) => line.includes('could not be answered'))).toHaveLength(2)
  expect(rig.shownTo(OPERATOR)).toEqual(['/why: the question failed; the log contains the reason', expect.any(String)])
})

test('each update is answered once, even if the numbers of updates start again from a lower number', async () => {
  const rig = served()
  const offsets: number[] = []
  const update = (update_id: number) => ({
    ...{ update_id },
    message: {
      ...{ message_id: 1, date: rig.clock.now() / 1_000, text: '/pnl' },
      from: { id: VIEWER, is_bot: false },
      chat: { id: VIEWER, type: 'private' },
    },
  })
  // If a poll asks for an update number far above Telegram's own numbers, Telegram answers with the oldest update.
  let waiting = [update(900_000_000)]
  rig.poll = (offset) => {
    offsets.push(offset)
    waiting = waiting.filter(({ update_id }) => update_id >= offset || offset > update_id + 10)
    return waiting
  }
  await rig.pass(30_000)
  waiting = [update(5)]
  await rig.pass(30_000)
  expect(rig.shownTo(VIEWER)).toHaveLength(2)
  expect(offsets.at(-1)).toBe(6)
})
