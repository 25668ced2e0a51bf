import { describe, expect, test } from 'vitest'
import { slotsBehind } from '../../../src/commands/doctor/chain.ts'
import {
  type RpcFinding,
  rpcVerdicts,
  type WalletFinding,
  walletVerdict,
} from '../../../src/commands/doctor/chain-verdicts.ts'
import { type Check, checkLine, exitCodeOf, fail, ok, refused, warn } from '../../../src/commands/doctor/check.ts'
import { knownIn, shapeOf } from '../../../src/commands/doctor/endpoint-probe.ts'
import {
  clockVerdict,
  configVerdict,
  diskVerdict,
  filesVerdict,
  type JournalFinding,
  journalVerdict,
  nodeVerdict,
  secretsVerdict,
} from '../../../src/commands/doctor/machine.ts'
import { agrees, isShare, median, sellNumberOf } from '../../../src/commands/doctor/probe-watch.ts'
import {
  budgetVerdict,
  driftOf,
  feedVerdict,
  keyVerdict,
  needsVerdict,
  planVerdict,
  type RecordFinding,
  recordVerdict,
  sellNumberVerdict,
  unitsVerdict,
} from '../../../src/commands/doctor/service-verdicts.ts'
import { PREMIUM, STANDARD } from '../../../src/venues/token-service/plans.ts'
import { signaturePathOf } from '../../../src/venues/token-service/wire/answers.ts'

type Row = [what: string, verdict: Check, says: RegExp]

/** Status and text of each verdict; what is not right says what to do. */
function verdicts(rows: readonly Row[]): void {
  test.each(rows)('%s', (_what, { status, found, fix }, says) => {
    expect(`${status}: ${found}`).toMatch(says)
    expect(fix === '').toBe(status === 'ok')
  })
}

const GIB = 2 ** 30

describe('this machine', () => {
  const journal: JournalFinding = {
    ...{ path: 'a.db', exists: true, isOlder: false, damage: '', holder: '', freeBytes: GIB },
    ...{ endedInOrder: true, ordersOpen: 0, undecided: 0 },
  }
  const config = { files: ['a.yaml'], bots: 2, live: 1, warnings: [] }
  const skew = (against: string, skewMs: number, plusMinusMs = 500) => ({ against, skewMs, plusMinusMs })
  verdicts([
    ['Node', nodeVerdict('24.21.0'), /^ok: 24\.21\.0$/],
    ['the oldest Node', nodeVerdict('22.18.0'), /^ok/],
    ['a Node too old', nodeVerdict('22.17.9'), /^fail/],
    ['a configuration', configVerdict(config), /^ok: a\.yaml: 2 bots, 1 live$/],
    ['one with warnings', configVerdict({ ...config, warnings: ['odd'] }), /^warn: .*; odd$/],
    ['no secrets', secretsVerdict([]), /^ok: none needed$/],
    ['secrets', secretsVerdict([{ name: 'key', source: 'env:KEY', problem: '' }]), /^ok: key from env:KEY$/],
    [
      'one that is not there',
      secretsVerdict([{ name: 'key', source: 'env:KEY', problem: 'not set' }]),
      /^fail: key: not set/,
    ],
    ['no journal yet', filesVerdict([]), /^ok: no journal yet$/],
    [
      'files',
      filesVerdict([{ path: 'a.db', mode: 0o100600, forbidden: 0o077 }]),
      /^ok: one path of the journal, nobody else gets at them$/,
    ],
    ['a folder that is shown', filesVerdict([{ path: 'data', mode: 0o40755, forbidden: 0o022 }]), /^ok/],
    [
      'a file that is shown',
      filesVerdict([{ path: 'a.db', mode: 0o100644, forbidden: 0o077 }]),
      /^warn: .* a\.db 0644$/,
    ],
    ['a journal', journalVerdict(journal), /^ok: a\.db: whole, nobody holds it$/],
    ['a new one', journalVerdict({ ...journal, exists: false }), /^ok: a\.db: new/],
    [
      'one with orders',
      journalVerdict({ ...journal, ordersOpen: 2, undecided: 1 }),
      /^ok: .*, 2 orders open, 1 undecided$/,
    ],
    ['one that is in use', journalVerdict({ ...journal, holder: 'process 7' }), /^ok: a\.db: in use by process 7/],
    ['one that a crash left', journalVerdict({ ...journal, endedInOrder: false }), /^warn: .*did not end in order/],
    ['one that is damaged', journalVerdict({ ...journal, damage: 'a.db is corrupt' }), /^fail: a\.db is corrupt$/],
    ['an older one', journalVerdict({ ...journal, isOlder: true, damage: 'why' }), /^warn: a\.db: of an older Sluice$/],
    ['room', diskVerdict(journal), /^ok: 1\.0 GiB free/],
    ['little room', diskVerdict({ ...journal, freeBytes: 0.3 * GIB }), /^warn/],
    ['no room', diskVerdict({ ...journal, freeBytes: 0.1 * GIB }), /^fail/],
    ['nobody tells the time', clockVerdict([]), /^warn: nobody told the time$/],
    ['the clock', clockVerdict([skew('the service', -300)]), /^ok: as the service, within 500 ms$/],
    ['a clock that is ahead', clockVerdict([skew('the service', 5_000)]), /^warn: 5\.0 s ahead of the service$/],
    ['a clock that is far behind', clockVerdict([skew('the service', -60_000)]), /^fail: 60\.0 s behind the service$/],
    ['two that do not agree', clockVerdict([skew('a', 0), skew('b', 90_000)]), /^ok: as a, .*; 90\.0 s ahead of b$/],
  ])
})

describe('the service', () => {
  const session = { kind: 'authenticated', ms: 12, connectMs: 40, plan: 'standard' } as const
  const plan = { told: 'standard', known: STANDARD, notice: '', configured: 'auto', share: 1 } as const
  const custom = { ...STANDARD, requestsPerMinute: 500 }
  const need = {
    ...{ requestsPerMinute: 100, sockets: 1, connections: 5, positions: 5, keys: 1 },
    ...{ largestBuyLamports: 1e8, maxBuyLamports: 1e11 },
  }
  const feed = { state: 'live', seconds: 2, rows: 9, kinds: 'trades 9', misfits: [], notices: [] }
  const sell = { unit: null, by: '', contradicts: false, live: true } as const
  const record: RecordFinding = {
    ...{ name: 'portfolio', status: 200, reason: '', shape: ['sol number'], before: undefined },
    ...{ knows: ['names it'], stranger: '' },
  }
  verdicts([
    ['a key', keyVerdict('host', session, 'env:KEY'), /^ok: host took it 12 ms after connecting \(40 ms\)$/],
    ['a refused one', keyVerdict('host', { kind: 'refused', reason: 'no' }, 'env:KEY'), /^fail: host refuses it: no$/],
    [
      'no answer',
      keyVerdict('host', { kind: 'unanswered', reason: 'closed' }, ''),
      /^fail: host does not answer: closed$/,
    ],
    ['a key that is not tried', keyVerdict('host', { kind: 'skipped', reason: 'busy' }, ''), /^warn: not tried: busy$/],
    ['a plan', planVerdict(plan), /^ok: standard: 100 requests a minute, 5 connections, 50 messages a second$/],
    ['a share of it', planVerdict({ ...plan, share: 0.5 }), /^ok: .*; 50 % of it is ours$/],
    ['configured as it is', planVerdict({ ...plan, configured: STANDARD }), /^ok: standard: 100/],
    ['configured more', planVerdict({ ...plan, configured: PREMIUM }), /^fail: .*; configured is more: 1000/],
    [
      'configured less',
      planVerdict({ ...plan, told: 'Premium', known: PREMIUM, configured: STANDARD }),
      /^warn: .*is less/,
    ],
    ['an unknown plan', planVerdict({ ...plan, told: 'Gold', notice: 'not known' }), /^warn: not known$/],
    [
      'Enterprise',
      planVerdict({ ...plan, told: 'Enterprise', notice: 'no numbers', configured: custom }),
      /^ok: Enterprise, with .* 500/,
    ],
    ['what bots want', needsVerdict(need), /^ok: one key on 1 of 5 connections; 5 positions to sell at once/],
    ['no bound', needsVerdict({ ...need, positions: null }), /^ok: .*positions without a bound/],
    ['more positions than requests', needsVerdict({ ...need, positions: 250 }), /^warn: .*250 positions/],
    [
      'a buy above the plan',
      needsVerdict({ ...need, largestBuyLamports: 2e11 }),
      /^warn: .*200 SOL, the plan takes 100$/,
    ],
    ['a feed', feedVerdict(feed), /^ok: 9 rows in 2\.0 s \(trades 9\)$/],
    [
      'new fields',
      feedVerdict({ ...feed, misfits: [['unknown field', 3]] }),
      /^ok: .*; new to us, and left out: unknown field 3$/,
    ],
    ['broken frames', feedVerdict({ ...feed, misfits: [['price', 3]] }), /^warn: .*; did not fit: price 3$/],
    ['a quiet market', feedVerdict({ ...feed, rows: 0 }), /^warn: live, and nothing in 2\.0 s$/],
    ['no feed', feedVerdict({ ...feed, state: 'subscribing', rows: 0, notices: ['why'] }), /^fail: subscribing: why$/],
    [
      'units',
      unitsVerdict({ amount: 'seen', quotedPerSol: 1, prints: 20 }),
      /^ok: .*SOL a token, by 20 prints; price too$/,
    ],
    [
      'dollars',
      unitsVerdict({ amount: 'probed', quotedPerSol: 150, prints: 20 }),
      /^ok: .*; price is 150 times that: another currency$/,
    ],
    [
      'units by hand',
      unitsVerdict({ amount: 'configured', quotedPerSol: Number.NaN, prints: 0 }),
      /^ok: .*SOL a token, by service\.units\.tradeAmount$/,
    ],
    ['no units', unitsVerdict({ amount: 'open', quotedPerSol: Number.NaN, prints: 3 }), /^warn: .*nothing is bought$/],
    [
      'a sell number',
      sellNumberVerdict({ ...sell, unit: 'tokens', by: 'probe' }),
      /^ok: counts whole tokens, proved by a probe$/,
    ],
    ['none', sellNumberVerdict(sell), /^warn: what it counts is not known/],
    ['none, on paper', sellNumberVerdict({ ...sell, live: false }), /^ok: what it counts is not known/],
    [
      'one that is not so',
      sellNumberVerdict({ ...sell, unit: 'tokens', by: 'probe', contradicts: true }),
      /^fail: .*proved: whole tokens$/,
    ],
    ['a record', recordVerdict(record), /^ok: one field; names it$/],
    ['as before', recordVerdict({ ...record, before: ['sol number'] }), /^ok: .*; as at the last look$/],
    [
      'another one',
      recordVerdict({ ...record, before: ['sol string'] }),
      /^warn: .*; changed: -sol string \+sol number$/,
    ],
    ['of another wallet', recordVerdict({ ...record, stranger: 'Abc' }), /^fail: it is about another wallet: Abc$/],
    ['no answer to a request', recordVerdict({ ...record, status: 0, reason: 'timeout' }), /^warn: timeout$/],
    ['401', recordVerdict({ ...record, status: 401 }), /^fail: 401: the key is refused$/],
    ['403', recordVerdict({ ...record, status: 403 }), /^fail: 403: not in this plan$/],
    ['429', recordVerdict({ ...record, status: 429 }), /^warn: 429 although/],
    ['500', recordVerdict({ ...record, status: 500 }), /^warn: 500$/],
    ['200 without JSON', recordVerdict({ ...record, shape: [] }), /^warn: 200, but no JSON object$/],
    ['requests', budgetVerdict({ held: 2, allowed: 100, waiting: 0 }), /^ok: 2 of 100/],
    ['no requests', budgetVerdict({ held: 100, allowed: 100, waiting: 2 }), /^warn: 100 of 100 .*, 2 wait$/],
  ])
})

describe('the chain', () => {
  const rpc: RpcFinding = {
    ...{ name: 'rpc 1', source: 'env:RPC', unreachable: '', genesis: 'G', cluster: 'devnet', version: '3.0.0', ms: 30 },
    ...{ methods: [{ method: 'getBalance', problem: '' }], minContextSlot: true, slot: 1_000, behind: 0, ageMs: 1_500 },
    ...{ historyMs: 1e9, requestsPerSecond: 8, isPublic: false, throttled: false },
  }
  /** One of its verdicts: 0 it, 1 methods, 2 lag, 3 history, 4 budget. */
  const of = (at: number, over: Partial<RpcFinding> = {}, clockIsRight = true): Check =>
    rpcVerdicts({ ...rpc, ...over }, { configured: '', genesis: 'G' }, clockIsRight)[at] as Check
  const wallet: WalletFinding = {
    ...{ publicKey: 'W', unread: '', lamports: 2e9, tokens: 0, perOrderLamports: 1e8, exposureLamports: 1e9, live: 1 },
  }
  verdicts([
    ['an RPC', of(0), /^ok: env:RPC: devnet, version 3\.0\.0, 30 ms a call$/],
    ['one that does not answer', of(0, { unreachable: 'timeout' }), /^fail: env:RPC: timeout$/],
    ['one of another chain', of(0, { genesis: 'H' }), /^fail: .*that is not what the first RPC serves$/],
    ['one of no chain', of(0, { genesis: '' }), /^fail: .*does not say which chain/],
    ['its methods', of(1), /^ok: all 1 methods answer, minContextSlot is kept$/],
    [
      'one that is missing',
      of(1, { methods: [{ method: 'getBalance', problem: '-32601' }] }),
      /^fail: getBalance: -32601$/,
    ],
    ['minContextSlot ignored', of(1, { minContextSlot: false }), /^fail: it ignores minContextSlot/],
    ['minContextSlot not tried', of(1, { minContextSlot: null }), /^warn/],
    ['its lag', of(2), /^ok: slot 1000, its newest block is 1\.5 s old$/],
    ['behind the others', of(2, { behind: 50 }), /^warn: slot 1000, 50 behind the newest/],
    ['far behind', of(2, { behind: 200 }), /^fail: slot 1000, 200 behind the newest/],
    ['old', of(2, { ageMs: 30_000 }), /^warn: .*30\.0 s old$/],
    ['old by a clock that is wrong', of(2, { ageMs: 30_000 }, false), /^ok/],
    ['its history', of(3), /^ok: goes back 12 days$/],
    ['a short one', of(3, { historyMs: 3_600_000 }), /^warn: goes back 60 min$/],
    ['hardly any', of(3, { historyMs: 60_000 }), /^fail: goes back 60\.0 s$/],
    ['of a chain that is young', of(3, { historyMs: 60_000, cluster: '' }), /^ok/],
    ['not told', of(3, { historyMs: null }), /^warn/],
    ['its budget', of(4), /^ok: 8 requests a second$/],
    ['a small one', of(4, { requestsPerSecond: 1 }), /^warn: 1 requests a second: fills are seen late$/],
    ['a public host', of(4, { isPublic: true }), /^warn: a public host/],
    ['429', of(4, { throttled: true }), /^warn: 8 requests a second, and it answered 429$/],
    ['a wallet', walletVerdict(wallet), /^ok: W: 2 SOL, no tokens$/],
    ['a poor one', walletVerdict({ ...wallet, lamports: 5e8 }), /^warn: .*held at once takes 1$/],
    ['one without a buy in it', walletVerdict({ ...wallet, lamports: 5e7 }), /^fail: .*one buy takes up to 0\.1$/],
    ['an empty one', walletVerdict({ ...wallet, lamports: 0 }), /^fail: W: there is nothing in it$/],
    ['one that nobody spends', walletVerdict({ ...wallet, lamports: 0, live: 0 }), /^ok: .*no live bot spends it$/],
    ['one that cannot be read', walletVerdict({ ...wallet, unread: 'why' }), /^fail: W: why$/],
  ])
})

test('nodes that are asked one after the other, on a chain that goes on: only the one that is behind is behind', async () => {
  let head = 1_000
  const node = (lag: number) => async () => {
    head += 100
    return { ok: true, value: { absoluteSlot: head - lag } } as const
  }
  const down = async () => ({ ok: false, code: 0, message: 'down' }) as const
  expect(await slotsBehind([node(0), node(0), node(0)])).toEqual([0, 0, 0])
  expect(await slotsBehind([node(0), node(500), down])).toEqual([0, 200, 0])
})

test.each([
  [[ok('a', ''), warn('b', '', 'f')], 0],
  [[ok('a', ''), fail('b', '', 'f')], 1],
  [[fail('b', '', 'f'), refused('c', '', 'f')], 3],
])('exit code %#', (checks, code) => {
  expect(exitCodeOf(checks)).toBe(code)
})

test('a line is wrapped on a terminal only, in its column', () => {
  const check = warn('files', 'one two three four five six seven eight', 'do it')
  expect(checkLine(check, 0)).toBe(`  warn  files          ${check.found}\n${' '.repeat(23)}-> do it`)
  expect(checkLine(check, 60).split('\n')).toEqual([
    '  warn  files          one two three four five six seven',
    `${' '.repeat(23)}eight`,
    `${' '.repeat(23)}-> do it`,
  ])
})

describe('what a probe proves', () => {
  const sale = { decimals: 6, held: 300_000_000n }
  test.each([
    ['whole tokens, written as such', { written: 'tokens', asked: 100_000_000n, sold: 100_000_000n }, 'tokens'],
    ['base units, written as tokens', { written: 'tokens', asked: 100_000_000n, sold: 100n }, 'baseUnits'],
    ['base units, written as such', { written: 'base', asked: 100_000_000n, sold: 100_000_000n }, 'baseUnits'],
    ['all of it: nothing', { written: 'base', asked: 100_000_000n, sold: 300_000_000n }, null],
    ['some other number: nothing', { written: 'tokens', asked: 100_000_000n, sold: 50_000_000n }, null],
    ['nothing: nothing', { written: 'tokens', asked: 100_000_000n, sold: 0n }, null],
    ['a unit off in floating point', { written: 'tokens', asked: 100_000_000n, sold: 99_999_999n }, 'tokens'],
  ] as const)('%s', (_what, given, unit) => {
    expect(sellNumberOf({ ...sale, ...given })).toBe(unit)
  })

  test('of a token without decimals: nothing', () => {
    expect(sellNumberOf({ decimals: 0, held: 9n, written: 'tokens', asked: 3n, sold: 3n })).toBe(null)
  })

  test.each([
    [40n, 100n, 40, true],
    [41n, 100n, 40, false],
    [0n, 0n, 40, false],
  ])('%d of %d is %d %%: %s', (sold, held, percent, is) => {
    expect(isShare(sold, held, percent)).toBe(is)
  })

  test.each([
    [1.02, 1, true],
    [150, 1, false],
    [1, 150, false],
    [1, undefined, false],
    [0, 1, false],
  ])('a fill at %d beside a feed at %s: %s', (fill, feed, is) => {
    expect(agrees(fill, feed)).toBe(is)
  })

  test('median', () => {
    expect([median([]), median([3]), median([9, 1, 5])]).toEqual([null, 3, 5])
  })
})

const SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'

test.each([
  [{ success: true, data: { txid: SIGNATURE } }, 'data.txid'],
  [{ signature: SIGNATURE }, 'signature'],
  [{ signatures: [SIGNATURE] }, 'signatures.0'],
  [{ one: SIGNATURE, two: SIGNATURE }, ''],
  [{ error: 'no' }, ''],
  ['text', ''],
])('the signature stands at the one place: %#', (body, path) => {
  expect(signaturePathOf(JSON.stringify(body))).toBe(path)
})

const WALLET = '7EYnhQoR9YM3N7UoaKRoA44Uy8JeaZV3qyouov87awMs'
const OTHER = '8okjoTC9fPFr6x75Tg3YAEpjRF7DDVYpADATXnxxJZqx'

test('the shape of a record is its fields with their types', () => {
  const value = { wallet: WALLET, sol: 1, list: [{ mint: 'a', n: null }, { mint: 'b' }], no: [] }
  expect(shapeOf(value)).toEqual([
    ...['list list', 'list[] object', 'list[].mint string', 'list[].n null', 'no list', 'sol number', 'wallet string'],
  ])
  expect(shapeOf('text')).toEqual([])
})

test.each([
  [
    { publicKey: WALLET, sol: 1.5 },
    { knows: ['names it', 'sol is its balance in SOL'], stranger: '' },
  ],
  [
    { data: { wallet: WALLET, raw: '1500000000' } },
    { knows: ['names it', 'data.raw is its balance in lamports'], stranger: '' },
  ],
  [
    { publicKey: OTHER, tokens: [] },
    { knows: [], stranger: OTHER },
  ],
  [{ tokens: [{ owner: 'nobody' }] }, { knows: [], stranger: '' }],
])('what of ours a record knows: %#', (value, expected) => {
  expect(knownIn(value, { key: WALLET, lamports: 1_500_000_000 })).toEqual(expected)
})

test.each([
  [['a number'], ['a number'], []],
  [['a number'], ['a string', 'b list'], ['-a number', '+a string', '+b list']],
  [['b list'], ['b list', 'b[] object', 'b[].c number'], []],
  [['b list', 'b[] object', 'b[].c number'], ['b list'], []],
  [
    ['b list', 'b[] object', 'b[].c number'],
    ['b list', 'b[] object', 'b[].d number'],
    ['-b[].c number', '+b[].d number'],
  ],
])('drift from one look to the next: %#', (before, now, drift) => {
  expect(driftOf(before, now)).toEqual(drift)
})
