import Database from 'better-sqlite3'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { SluiceError } from '../../../src/base/errors.ts'
import { command } from '../../../src/commands/why/why.ts'
import type { Order, OrderState } from '../../../src/engine/order.ts'
import type { RecordedOrder } from '../../../src/journal/reader/history.ts'
import type { Attempt, AttemptState } from '../../../src/orders/attempt.ts'
import { positionStep, waitingText } from '../../../src/runtime/why/order-story.ts'
import { attempt, journalPath, keyOf, order, position, timeOf } from '../../support/journal-samples.ts'
import type { MarketRow } from '../../support/market-rows.ts'
import { type Happening, recordPaperRun } from '../../support/paper-run.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = Date.UTC(2026, 10, 22, 12, 0, 0)
const PRICE = 1e-7
const [TOKEN, OTHER, THIRD, STEPS] = [keyOf(1), keyOf(2), keyOf(3), keyOf(4)]
const folder = temporaryFolder()
const journal = journalPath()
const conditional = journalPath()
/** The journal of a run whose plan allows one request a minute. */
const crowded = journalPath()

/** A strategy whose actions depend on the size of a print. */
const OBEDIENT = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'obedient',
  about: '',
  params: z.object({}),
  keys: ['trades', 'newTokens'],
  token: () => ({ prints: 0, last: 0 }),
  start: (_params, bot) => ({
    onTrade({ amount }, token) {
      token.state = { prints: token.state.prints + 1, last: amount }
      if (amount === 0.77) bot.buy(token, { sol: 0.05, reason: 'told \\u001b[31mto\\u202e' })
      if (amount === 0.88) bot.buy(token, { sol: 0.05, reason: 'told to', exits: { takeProfitSteps: [{ atPercent: 20, sellPercent: 50 }] } })
      if (amount === 0.66) bot.note(token.mint, 'too thin: 3 holders')
      if (amount === 0.55) bot.buy(token, { sol: 0.5, reason: 'told to' })
      if (amount === 0.44) bot.sell(token, { percent: 50, reason: 'half is enough' })
      if (amount === 0.22) bot.limitBuy(token, { sol: 0.05, atPrice: 0.9e-7, reason: 'cheap enough', oneCancelsOther: 'pair' })
      if (amount === 0.11) bot.limitSell(token, { all: true, atPrice: 1.5e-7, reason: 'dear enough' })
      if (amount === 0.33) throw new Error('told to')
    },
    confirmBuy: ({ mint }) => (mint === '${THIRD}' ? 'the pool is too thin' : true),
  }),
})
`

/**
 * Returns prints of a token, one per second from `second` on. Every other one is a sale, so that the token can be sold.
 */
function prints(second: number, mint: string, prices: readonly number[], sol = 1): MarketRow[] {
  return prices.map((price, index) => ({
    ...{
      kind: index % 2 === 0 ? 'buy' : 'sell',
      time: T0 + (second + index) * 1000,
      stamp: T0 + (second + index) * 1000 - 120,
    },
    ...{ mint, price: price * PRICE, sol, trader: keyOf(90), signature: keyOf(second * 10 + index, 64) },
  }))
}

function told(second: number, mint: string, price: number, sol: number, lateMs = 0): MarketRow[] {
  return prints(second, mint, [price], sol).map((row) => ({ ...row, stamp: (row.stamp as number) - lateMs }))
}

const details = { symbol: 'EVIL\u001b]0;owned\u0007', name: '\u202eevil\nname' }

const HAPPENINGS: readonly Happening[] = [
  { kind: 'newToken', time: T0, mint: TOKEN, details, creator: keyOf(80) },
  ...prints(1, TOKEN, [1, 1, 1, 1, 1]),
  ...told(10, TOKEN, 1, 0.77, 5), // o1
  ...prints(11, TOKEN, [1, 1, 1, 1.1, 1.2, 1.2, 1.2]),
  ...told(20, TOKEN, 1.2, 0.44), // o2
  ...prints(21, TOKEN, [1.2, 1.2, 0.7, 0.7, 0.7, 0.7, 0.7]), // stop-loss
  ...prints(30, OTHER, [1, 1, 1, 1, 1]),
  ...told(40, OTHER, 1, 0.55),
  ...told(42, OTHER, 1, 0.66),
  ...prints(50, OTHER, [1, 1.1]),
  ...prints(60, THIRD, [1, 1]),
  ...prints(70, STEPS, [1, 1, 1]),
  ...told(73, STEPS, 1, 0.88), // o4
  ...prints(74, STEPS, [1, 1.4, 1.4, 1.4, 1.4, 1.4, 1.4]), // o5
]
const CROWDED: readonly Happening[] = [
  ...[TOKEN, OTHER, THIRD].flatMap((mint, index) => prints(index * 3, mint, [1, 1, 1])),
  ...told(10, TOKEN, 1, 0.77), // o1 takes the request
  ...told(11, OTHER, 1, 0.77), // o2 waits in vain
  ...told(14, THIRD, 1, 0.77), // o3 waits, and the price runs away
  ...[14.2, 14.4, 14.6].flatMap((second) => prints(second, THIRD, [1.2])),
  ...prints(20, TOKEN, [0.7, 0.7, 0.7, 0.7]), // o4, an exit: waits for the next request
  ...prints(40, OTHER, [1, 1]),
  ...prints(80, OTHER, [1, 1]),
]
/** Conditional orders: the first becomes a buy, the second sells its tokens, the third stays open. */
const CONDITIONAL: readonly Happening[] = [
  ...prints(0, TOKEN, [1, 1, 1]),
  ...told(3, TOKEN, 1, 0.22), // c1
  ...prints(4, TOKEN, [0.85, 0.85, 0.85, 0.85]), // o1
  ...told(12, TOKEN, 0.9, 0.11), // c2
  ...prints(13, TOKEN, [1.6, 1.6, 1.6, 1.6, 1.6]), // o2
  ...prints(30, OTHER, [1, 1, 1]),
  ...told(33, OTHER, 1, 0.22), // c3
  ...prints(40, THIRD, [1, 1, 1]),
  ...told(43, THIRD, 1, 0.22), // c4, which the strategy vetoes
  ...prints(44, THIRD, [0.85, 0.85, 0.85]),
]
/** The prints and requests in a second process, which starts ten minutes later and is then killed. */
const LATER: readonly Happening[] = [
  ...prints(600, TOKEN, [1, 1, 1, 1]),
  ...told(605, TOKEN, 1, 0.33),
  ...prints(606, TOKEN, [0.5, 0.5, 0.5]),
]

beforeAll(async () => {
  process.env.TZ = 'UTC'

  const bot = {
    ...{ name: 'bob', strategy: folder.write('obedient.ts', OBEDIENT), limits: { maxSolPerOrder: 0.1 } },
    exits: { stopLossPercent: 20, maxHoldSeconds: 300, windowPrints: 5 },
  }
  const config = {
    service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
    paper: { latency: { p50Seconds: 0.5, p95Seconds: 0.6 } },
    bots: [bot],
  }
  const file = folder.write('bots.yaml', JSON.stringify(config))
  const tight = { requestsPerMinute: 1, connections: 1, messagesPerSecond: 5 }
  const slow = { ...config, service: { ...config.service, plan: tight } }
  await recordPaperRun(crowded, folder.write('slow.yaml', JSON.stringify(slow)), CROWDED, 'stop')
  await recordPaperRun(conditional, file, CONDITIONAL)
  await recordPaperRun(journal, file, HAPPENINGS)
  const cwd = process.cwd()
  process.chdir(folder.path) // the place where the strategy throws is relative to it
  await recordPaperRun(journal, file, LATER, 'stop')
  process.chdir(cwd)
})

afterEach(() => void vi.restoreAllMocks())

type Asked = Partial<Parameters<typeof command.run>[1]>

/** Returns the output of the command. */
async function why(about: string, options: Asked = {}, columns = 100): Promise<string> {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
  const before = process.stdout.columns
  process.stdout.columns = columns
  try {
    await command.run([about], { at: undefined, bot: undefined, json: false, journal, ...options })
  } finally {
    process.stdout.columns = before
  }
  return lines.join('\n')
}

describe('the recorded texts of `why`', () => {
  test.each<[name: string, about: string, columns: number, options?: Asked]>([
    ['buy', 'o1', 100],
    ['sale-of-the-strategy', 'o2', 80],
    ['exit-that-fired', 'o3.1', 122],
    ['step-of-a-take-profit', 'o5', 100],
    ['buy-without-a-request', 'o2', 100, { journal: crowded }],
    ['buy-that-was-called-off', 'o3', 80, { journal: crowded }],
    ['exit-that-waited', 'o4', 100, { journal: crowded }],
    ['conditional-that-bought', 'c1', 100, { journal: conditional }],
    ['buy-of-a-conditional', 'o1', 100, { journal: conditional }],
    ['sale-of-a-conditional', 'o2', 80, { journal: conditional }],
    ['conditional-that-waits', 'c3', 100, { journal: conditional }],
    ['token-with-conditionals', TOKEN, 100, { journal: conditional }],
    ['token-that-was-traded', TOKEN, 100],
    ['token-that-was-refused', OTHER, 80],
    ['token-that-nobody-asked-for', THIRD, 80],
    ['moment-it-bought', TOKEN, 100, { at: '12:00:10' }],
    ['moment-it-held', TOKEN, 80, { at: '12:00:15', bot: 'bob' }],
    ['moment-it-was-refused', OTHER, 122, { at: '12:00:40' }],
    ['minute-of-a-note', OTHER, 80, { at: '2026-11-22T12:00Z' }],
    ['moment-it-asked-for-nothing', OTHER, 100, { at: String(T0 + 51_500) }],
    ['moment-without-a-price', THIRD, 80, { at: '12:01:01' }],
    ['moment-before-its-first-row', THIRD, 80, { at: '12:00:20' }],
    ['moment-after-its-strategy-threw', TOKEN, 100, { at: '12:10:08' }],
  ])('the text of `why` equals the recorded file: %s', async (name, about, columns, options) => {
    const text = await why(about, options, columns)
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(columns)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the text may contain no control character
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    await expect(`${text}\n`).toMatchFileSnapshot(`${name}.txt`)
  })
})

test('`why` shows a buy that confirmBuy rejects with its code and its reason', async () => {
  const texts = [await why(THIRD, { journal: conditional }), await why('c4', { journal: conditional })]
  for (const text of texts) expect(text.replaceAll(/\s+/g, ' ')).toContain('VETOED: c4: the pool is too thin')
})

test('`why --json` prints one line with the same steps and escaped foreign text', async () => {
  const line = await why('o1', { json: true })
  expect(line).not.toContain('\u202e')
  const { symbol, steps, attempts, fills, eventAgeMs, ...rest } = JSON.parse(line)
  expect(rest).toMatchObject({ kind: 'order', id: 'o1', bot: 'bob', mint: TOKEN, state: 'filled', time: T0 + 10_000 })
  expect({ symbol, eventAgeMs }).toEqual({ symbol: details.symbol, eventAgeMs: 5 })
  expect(steps[0]).toMatchObject({ at: T0 + 10_000, afterMs: 0, what: 'market' })
  expect(attempts).toMatchObject([
    { id: 'o1.1', waitedMs: 0, trail: [{ state: 'acked' }, { state: 'landed' }, { state: 'filled' }] },
  ])
  expect(fills).toMatchObject([{ orderId: 'o1', final: true, reversed: false }])
  expect(JSON.parse(await why(TOKEN, { json: true }))).toMatchObject({ kind: 'mint', orders: 3, fills: 3 })
})

test('`why --at --json` prints the moment of a mint and the verdict of each bot', async () => {
  const moment = JSON.parse(await why(OTHER, { at: '12:00:40', json: true }))
  expect(moment).toMatchObject({ kind: 'moment', mint: OTHER, from: T0 + 40_000, to: T0 + 40_999, segment: 1 })
  expect(moment.bots).toMatchObject([{ bot: 'bob', verdict: 'refused' }])
})

test('if the strategy has changed since, `why` shows the market but not the state of the strategy', async () => {
  folder.write('obedient.ts', OBEDIENT.replace('too thin', 'thin'))
  const text = await why(OTHER, { at: '12:00:51' })
  expect(text).toContain('robust price: 0.0000001 SOL per token')
  expect(text).toContain('state of the strategy: unknown, ')
})

test('if the tape was deleted, `why` still explains the decisions', async () => {
  const db = new Database(conditional)
  db.exec('DELETE FROM block')
  db.close()
  expect(await why('o1', { journal: conditional })).toContain('seq 9, no longer on the tape')
  const moment = await why(TOKEN, { journal: conditional, at: '12:00:06' })
  expect(moment).toContain('last row, robust price and feed: unknown, the tape was deleted')
  expect(moment).toContain('ordered: o1 bob buy')
})

describe('selecting an order or a token', () => {
  test('`why` selects a token by a prefix of the mint or by a symbol, if only one token matches', async () => {
    expect(await why(TOKEN.slice(0, -1).concat('2'))).toBe(await why(TOKEN))
    expect(await why('evil\u001b]0;owned\u0007')).toBe(await why(TOKEN))
  })
  test.each<[about: string, message: string, options?: Asked]>([
    ['o99', 'has no order o99'],
    ['zzz', 'no order, mint or symbol zzz in'],
    [keyOf(9), 'no order, decision or row of'],
    ['', 'no order, mint or symbol  in'],
    [
      TOKEN.slice(0, 8),
      `${TOKEN.slice(0, 8)} matches 4 tokens; write more characters of the mint:\n  ${TOKEN}  EVIL\\u001b]0;owned\\u0007`,
    ],
    ['o1', '--at and --bot apply to a token', { at: '12:00' }],
    ['o1', '--at and --bot apply to a token', { bot: 'bob' }],
    [TOKEN, 'no process ran at that time: segment 1 ended 2026-11-22 12:0', { at: '12:05' }],
    [TOKEN, 'segment 2 began 2026-11-22 12:10:00.000 +00:00', { at: '12:05' }],
    [TOKEN, 'segment 1 has no bot alice; its bots are bob', { at: '12:00', bot: 'alice' }],
    [TOKEN, 'is outside of this journal, which covers 2026-11-22 12:00:00.000', { at: '11:59:59' }],
  ])('`why` with %j exits with 2 and advice', async (about, message, options = {}) => {
    const error = await why(about, options).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SluiceError)
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) })
  })
})

describe('the event for which an open order waits', () => {
  const recorded = (state: OrderState, more: Partial<Order> = {}): RecordedOrder => ({
    order: { ...order(1), notAfter: timeOf(0) + 2000, time: timeOf(0), ...more },
    ...{ state, code: '', outcome: '' },
  })
  const out = (state: AttemptState, executor: Attempt['executor'] = 'cloud'): Attempt => attempt(1, { state, executor })
  test.each<[what: string, order: RecordedOrder, attempts: Attempt[], progress: string, text: string]>([
    ['a queued buy', recorded('accepted'), [], '', 'dropped (LIMIT_WAIT, TTL) at most 2 s after'],
    ['a queued exit', recorded('accepted', { notAfter: null }), [], '', 'wait without a time limit'],
    [
      'a refused attempt',
      { ...recorded('accepted'), code: 'RATE_LIMIT' },
      [out('refused')],
      '',
      'retry after RATE_LIMIT',
    ],
    ['an armed attempt', recorded('working'), [out('armed')], '', 'waits for its answer'],
    [
      'a paper attempt that waits for its fill',
      recorded('working'),
      [out('armed', 'paper')],
      '',
      'waiting for its simulated fill',
    ],
    ['an acknowledged attempt', recorded('working'), [out('acked')], '4 of 200 blocks', 'progress: 4 of 200 blocks'],
    [
      'an unknown attempt',
      recorded('working'),
      [out('unknown')],
      '',
      'not sent again; it waits for a transaction of the wallet',
    ],
    ['a landed attempt', recorded('working'), [out('landed')], '', 'waits for finality'],
    ['a locally signed attempt', recorded('working'), [out('sent', 'local')], '', 'until it lands or expires'],
    ['a held order', recorded('held'), [out('undecided')], 'read twice', 'see `sluice resolve o1`'],
    ['a filled order that is not final', recorded('filled'), [out('landed')], '', 'the order is filled, but '],
    [
      'an order with contradictory evidence',
      recorded('working'),
      [out('undecided')],
      '',
      'later evidence or an operator',
    ],
  ])('`why` shows the event for which %s waits', (_what, one, attempts, progress, text) => {
    expect(waitingText(one, attempts, progress)).toContain(text)
  })
  test('`why` shows no wait for an order that has ended', () => {
    expect(waitingText(recorded('failed'), [out('reverted')], '')).toBe('')
  })
})

test('`why` shows the number of tried sales of a position that cannot be sold', () => {
  const exiting = 'stop-loss: -21 %'
  const text = (exitTries: number): string =>
    positionStep({ position: position(1, { state: 'closing', exiting, exitTries }), closed: null }).text
  expect(text(1)).toMatch(/; selling: stop-loss: -21 %$/)
  expect(text(4)).toMatch(/; cannot be sold, tried 4 times: stop-loss: -21 %$/)
})
