import { describe, expect, test } from 'vitest'
import { checkLine } from '../../../src/commands/trade/doctor.ts'
import { slotsBehind } from '../../../src/live/doctor/chain.ts'
import {
  type RpcFinding,
  rpcVerdicts,
  type WalletFinding,
  walletVerdict,
} from '../../../src/live/doctor/chain-verdicts.ts'
import { type Check, exitCodeOf, fail, ok, refused, warn } from '../../../src/live/doctor/check.ts'
import { knownIn, shapeOf } from '../../../src/live/doctor/endpoint-probe.ts'
import {
  clockVerdict,
  configVerdict,
  diskVerdict,
  filesVerdict,
  type JournalFinding,
  journalVerdict,
  nodeVerdict,
  secretsVerdict,
} from '../../../src/live/doctor/machine.ts'
import { agrees, isShare, median, sellNumberOf } from '../../../src/live/doctor/probe-watch.ts'
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
} from '../../../src/live/doctor/service-verdicts.ts'
import { PREMIUM, STANDARD } from '../../../src/venues/token-service/plans.ts'
import { signaturePathOf } from '../../../src/venues/token-service/wire/answers.ts'

type Row = [what: string, verdict: Check, says: RegExp]

/** Tests the status and the text of each verdict of doctor. Every verdict except `ok` has advice. */
function verdicts(rows: readonly Row[]): void {
  test.each(rows)('the verdict of doctor on %s', (_what, { status, found, fix }, says) => {
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
    ['a current version of Node', nodeVerdict('24.21.0'), /^ok: 24\.21\.0$/],
    ['the oldest supported version of Node', nodeVerdict('22.18.0'), /^ok/],
    ['a version of Node that is too old', nodeVerdict('22.17.9'), /^fail/],
    ['a configuration without warnings', configVerdict(config), /^ok: a\.yaml: 2 bots, 1 live$/],
    ['a configuration with warnings', configVerdict({ ...config, warnings: ['odd'] }), /^warn: .*; odd$/],
    ['a configuration without secrets', secretsVerdict([]), /^ok: none needed$/],
    [
      'a secret that exists',
      secretsVerdict([{ name: 'key', source: 'env:KEY', problem: '' }]),
      /^ok: key from env:KEY$/,
    ],
    [
      'a secret that is missing',
      secretsVerdict([{ name: 'key', source: 'env:KEY', problem: 'not set' }]),
      /^fail: key: not set/,
    ],
    ['the files of a journal that does not exist', filesVerdict([]), /^ok: no journal yet$/],
    [
      'files that are closed to other users',
      filesVerdict([{ path: 'a.db', mode: 0o100600, forbidden: 0o077 }]),
      /^ok: 1 path of the journal, accessible only to you$/,
    ],
    ['a folder that others can read', filesVerdict([{ path: 'data', mode: 0o40755, forbidden: 0o022 }]), /^ok/],
    [
      'a file that others can read',
      filesVerdict([{ path: 'a.db', mode: 0o100644, forbidden: 0o077 }]),
      /^warn: .* a\.db 0644$/,
    ],
    ['an intact journal', journalVerdict(journal), /^ok: a\.db: intact, not in use$/],
    ['a new journal', journalVerdict({ ...journal, exists: false }), /^ok: a\.db: new/],
    [
      'a journal with open orders',
      journalVerdict({ ...journal, ordersOpen: 2, undecided: 1 }),
      /^ok: .*, 2 orders open, 1 undecided$/,
    ],
    [
      'a journal that is in use',
      journalVerdict({ ...journal, holder: 'process 7' }),
      /^ok: a\.db: in use by process 7/,
    ],
    [
      'a journal after a crash',
      journalVerdict({ ...journal, endedInOrder: false }),
      /^warn: .*the last run crashed or was killed/,
    ],
    [
      'a journal that is damaged',
      journalVerdict({ ...journal, damage: 'a.db is corrupt' }),
      /^fail: a\.db is corrupt$/,
    ],
    [
      'a journal of an older version',
      journalVerdict({ ...journal, isOlder: true, damage: 'why' }),
      /^warn: a\.db was written by an older version of Sluice$/,
    ],
    ['enough disk space', diskVerdict(journal), /^ok: 1\.0 GiB free/],
    ['little disk space', diskVerdict({ ...journal, freeBytes: 0.3 * GIB }), /^warn/],
    ['no disk space', diskVerdict({ ...journal, freeBytes: 0.1 * GIB }), /^fail/],
    ['the clock if there is no other clock', clockVerdict([]), /^warn: no other clock to compare with$/],
    ['an exact clock', clockVerdict([skew('the service', -300)]), /^ok: equal to the service within 500 ms$/],
    ['a clock that is ahead', clockVerdict([skew('the service', 5_000)]), /^warn: 5 s ahead of the service$/],
    ['a clock that is far behind', clockVerdict([skew('the service', -60_000)]), /^fail: 60 s behind the service$/],
    [
      'the clock if two other clocks differ',
      clockVerdict([skew('a', 0), skew('b', 90_000)]),
      /^ok: equal to a .*; 90 s ahead of b$/,
    ],
  ])
})

describe('the service', () => {
  const session = { kind: 'authenticated', ms: 12, connectMs: 40, plan: 'standard' } as const
  const plan = { planName: 'standard', known: STANDARD, notice: '', configured: 'auto', share: 1 } as const
  const custom = { ...STANDARD, requestsPerMinute: 500 }
  const need = {
    ...{ requestsPerMinute: 100, sockets: 1, connections: 5, positions: 5, keys: 1 },
    ...{ largestBuyLamports: 1e8, maxBuyLamports: 1e11 },
  }
  const feed = { state: 'live', seconds: 2, rows: 9, kinds: 'trades 9', misfits: [], notices: [] }
  const sell = { unit: null, by: '', contradicts: false, live: true } as const
  const record: RecordFinding = {
    ...{ name: 'portfolio', status: 200, reason: '', shape: ['sol number'], before: undefined },
    ...{ knows: ['contains the requested key'], stranger: '' },
  }
  verdicts([
    ['an accepted key', keyVerdict('host', session, 'env:KEY'), /^ok: accepted by host in 12 ms, connected in 40 ms$/],
    ['a refused key', keyVerdict('host', { kind: 'refused', reason: 'no' }, 'env:KEY'), /^fail: refused by host: no$/],
    [
      'a service that does not answer',
      keyVerdict('host', { kind: 'unanswered', reason: 'closed' }, ''),
      /^fail: host does not answer: closed$/,
    ],
    [
      'a key that is not tested',
      keyVerdict('host', { kind: 'skipped', reason: 'busy' }, ''),
      /^warn: not tested: busy$/,
    ],
    [
      'a plan that the service names',
      planVerdict(plan),
      /^ok: standard: 100 requests per minute, 5 connections, 50 messages per second$/,
    ],
    ['a share of a plan', planVerdict({ ...plan, share: 0.5 }), /^ok: .*; service\.share: 50 %$/],
    [
      'a plan with exactly its configured numbers',
      planVerdict({ ...plan, configured: STANDARD }),
      /^ok: standard: 100/,
    ],
    [
      'a configuration that allows more than the plan',
      planVerdict({ ...plan, configured: PREMIUM }),
      /^fail: .*; the configuration allows more: 1000/,
    ],
    [
      'a configuration that allows less than the plan',
      planVerdict({ ...plan, planName: 'Premium', known: PREMIUM, configured: STANDARD }),
      /^warn: .*allows less/,
    ],
    ['an unknown plan', planVerdict({ ...plan, planName: 'Gold', notice: 'not known' }), /^warn: not known$/],
    [
      'an Enterprise plan with configured numbers',
      planVerdict({ ...plan, planName: 'Enterprise', notice: 'no numbers', configured: custom }),
      /^ok: Enterprise, with .* 500/,
    ],
    [
      'a configuration that needs less than the plan allows',
      needsVerdict(need),
      /^ok: 1 subscription on 1 of 5 connections; up to 5 positions to sell together/,
    ],
    [
      'a configuration with unlimited positions',
      needsVerdict({ ...need, positions: null }),
      /^ok: .*an unlimited number of positions/,
    ],
    ['more positions than the plan has requests', needsVerdict({ ...need, positions: 250 }), /^warn: .*250 positions/],
    [
      'a buy that is larger than the plan allows',
      needsVerdict({ ...need, largestBuyLamports: 2e11 }),
      /^warn: .*200 SOL, but the plan allows 100 SOL$/,
    ],
    ['a live feed', feedVerdict(feed), /^ok: 9 rows in 2\.0 s \(trades 9\)$/],
    [
      'a feed with unknown fields',
      feedVerdict({ ...feed, misfits: [['unknown field', 3]] }),
      /^ok: .*; ignored as unknown: unknown field 3$/,
    ],
    [
      'a feed with invalid frames',
      feedVerdict({ ...feed, misfits: [['price', 3]] }),
      /^warn: .*; invalid frames: price 3$/,
    ],
    ['a live feed without a row', feedVerdict({ ...feed, rows: 0 }), /^warn: live, but no market row in 2\.0 s$/],
    [
      'a feed that is not live',
      feedVerdict({ ...feed, state: 'subscribing', rows: 0, notices: ['why'] }),
      /^fail: subscribing: why$/,
    ],
    [
      'units that the prints prove',
      unitsVerdict({ amount: 'seen', quotedPerSol: 1, prints: 20 }),
      /^ok: .*SOL per token, according to 20 prints; the price is in SOL too$/,
    ],
    [
      'a feed with prices in dollars',
      unitsVerdict({ amount: 'probed', quotedPerSol: 150, prints: 20 }),
      /^ok: .*; the quoted price is 150 times the price in SOL, so it is in another currency$/,
    ],
    [
      'units that the configuration sets',
      unitsVerdict({ amount: 'configured', quotedPerSol: Number.NaN, prints: 0 }),
      /^ok: .*SOL per token, according to service\.units\.tradeAmount$/,
    ],
    [
      'units that are not proved yet',
      unitsVerdict({ amount: 'open', quotedPerSol: Number.NaN, prints: 3 }),
      /^warn: .*no bot buys before the unit is proved$/,
    ],
    [
      'a unit of sales that a probe proved',
      sellNumberVerdict({ ...sell, unit: 'tokens', by: 'probe' }),
      /^ok: the service reads the number as whole tokens, according to a probe$/,
    ],
    ['an unknown unit of sales for a live bot', sellNumberVerdict(sell), /^warn: unit unknown/],
    ['an unknown unit of sales for paper bots', sellNumberVerdict({ ...sell, live: false }), /^ok: unit unknown/],
    [
      'a configured unit of sales that a probe contradicts',
      sellNumberVerdict({ ...sell, unit: 'tokens', by: 'probe', contradicts: true }),
      /^fail: .*a probe, which proved whole tokens$/,
    ],
    ['an answer of the service for the first time', recordVerdict(record), /^ok: 1 field; contains the requested key$/],
    ['an answer with unchanged fields', recordVerdict({ ...record, before: ['sol number'] }), /^ok: .*; unchanged$/],
    [
      'an answer with changed fields',
      recordVerdict({ ...record, before: ['sol string'] }),
      /^warn: .*; changed: -sol string \+sol number$/,
    ],
    [
      'an answer about another wallet',
      recordVerdict({ ...record, stranger: 'Abc' }),
      /^fail: the answer names another wallet: Abc$/,
    ],
    ['a request without an answer', recordVerdict({ ...record, status: 0, reason: 'timeout' }), /^warn: timeout$/],
    ['an answer with status 401', recordVerdict({ ...record, status: 401 }), /^fail: 401: the key is refused$/],
    ['an answer with status 403', recordVerdict({ ...record, status: 403 }), /^fail: 403: not included in this plan$/],
    ['an answer with status 429', recordVerdict({ ...record, status: 429 }), /^warn: 429, although/],
    ['an answer with status 500', recordVerdict({ ...record, status: 500 }), /^warn: 500$/],
    [
      'an answer with status 200 but without JSON',
      recordVerdict({ ...record, shape: [] }),
      /^warn: 200, but not a JSON object$/,
    ],
    ['a request limit with free requests', budgetVerdict({ held: 2, allowed: 100, waiting: 0 }), /^ok: 2 of 100/],
    [
      'a request limit without free requests',
      budgetVerdict({ held: 100, allowed: 100, waiting: 2 }),
      /^warn: 100 of 100 .*, 2 waiting$/,
    ],
  ])
})

describe('the chain', () => {
  const rpc: RpcFinding = {
    ...{ name: 'rpc 1', source: 'env:RPC', unreachable: '', genesis: 'G', cluster: 'devnet', version: '3.0.0', ms: 30 },
    ...{ methods: [{ method: 'getBalance', problem: '' }], minContextSlot: true, slot: 1_000, behind: 0, ageMs: 1_500 },
    ...{ historyMs: 1e9, requestsPerSecond: 8, isPublic: false, throttled: false },
  }
  /** Returns one verdict on an RPC. `at`: 0 the RPC itself, 1 its methods, 2 its lag, 3 its history, 4 its rate. */
  const of = (at: number, over: Partial<RpcFinding> = {}, clockIsRight = true): Check =>
    rpcVerdicts({ ...rpc, ...over }, { configured: '', genesis: 'G' }, clockIsRight)[at] as Check
  const wallet: WalletFinding = {
    ...{
      name: '',
      publicKey: 'W',
      unread: '',
      lamports: 2e9,
      tokens: 0,
      perOrderLamports: 1e8,
      exposureLamports: 1e9,
      live: 1,
    },
  }
  verdicts([
    ['an RPC that answers', of(0), /^ok: env:RPC: devnet, version 3\.0\.0, 30 ms a call$/],
    ['an unreachable RPC', of(0, { unreachable: 'timeout' }), /^fail: env:RPC: timeout$/],
    ['an RPC of another chain', of(0, { genesis: 'H' }), /^fail: .*this is not the chain of the first RPC$/],
    ['an RPC without a genesis hash', of(0, { genesis: '' }), /^fail: .*does not report its genesis hash/],
    ['an RPC whose methods all answer', of(1), /^ok: all 1 methods answer, and the node respects minContextSlot$/],
    [
      'an RPC without a needed method',
      of(1, { methods: [{ method: 'getBalance', problem: '-32601' }] }),
      /^fail: getBalance: -32601$/,
    ],
    ['an RPC that ignores minContextSlot', of(1, { minContextSlot: false }), /^fail: the node ignores minContextSlot/],
    ['an RPC whose minContextSlot was not tested', of(1, { minContextSlot: null }), /^warn/],
    ['an RPC without a lag', of(2), /^ok: slot 1000, newest block 1\.5 s old$/],
    ['an RPC that is behind the others', of(2, { behind: 50 }), /^warn: slot 1000, 50 behind the newest/],
    ['an RPC that is far behind the others', of(2, { behind: 200 }), /^fail: slot 1000, 200 behind the newest/],
    ['an RPC whose newest block is old', of(2, { ageMs: 30_000 }), /^warn: .*30 s old$/],
    ['an RPC whose newest block seems old by a wrong clock', of(2, { ageMs: 30_000 }, false), /^ok/],
    ['an RPC with a long history', of(3), /^ok: goes back 11d13h$/],
    ['an RPC with a short history', of(3, { historyMs: 3_600_000 }), /^warn: goes back 1h00m$/],
    ['an RPC with a very short history', of(3, { historyMs: 60_000 }), /^fail: goes back 60 s$/],
    ['an RPC with the short history of a young chain', of(3, { historyMs: 60_000, cluster: '' }), /^ok/],
    ['an RPC with an unknown history', of(3, { historyMs: null }), /^warn/],
    ['an RPC with a sufficient request rate', of(4), /^ok: 8 requests per second$/],
    [
      'an RPC with a low request rate',
      of(4, { requestsPerSecond: 1 }),
      /^warn: 1 requests per second, so fills are seen late$/,
    ],
    ['a public RPC', of(4, { isPublic: true }), /^warn: a public host/],
    [
      'an RPC that answered 429',
      of(4, { throttled: true }),
      /^warn: 8 requests per second, and the node answered 429$/,
    ],
    ['a funded wallet', walletVerdict(wallet), /^ok: W: 2 SOL, 0 tokens$/],
    [
      'a wallet that covers only one buy',
      walletVerdict({ ...wallet, lamports: 5e8 }),
      /^warn: .*all positions together need up to 1 SOL$/,
    ],
    [
      'a wallet that covers no buy',
      walletVerdict({ ...wallet, lamports: 5e7 }),
      /^fail: .*one buy needs up to 0\.1 SOL$/,
    ],
    ['an empty wallet', walletVerdict({ ...wallet, lamports: 0 }), /^fail: W is empty$/],
    ['a wallet that no bot uses', walletVerdict({ ...wallet, lamports: 0, live: 0 }), /^ok: .*no live bot uses it$/],
    ['an unread wallet', walletVerdict({ ...wallet, unread: 'why' }), /^fail: W: why$/],
  ])
})

test('if the chain advances while doctor asks several RPC nodes, only a node that really lags counts as behind', async () => {
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
])('the exit code of doctor follows from its checks (case %#)', (checks, code) => {
  expect(exitCodeOf(checks)).toBe(code)
})

test('doctor wraps the text of a check within its column on a terminal, and does not wrap it in other outputs', () => {
  const check = warn('files', 'one two three four five six seven eight', 'do it')
  expect(checkLine(check, 0)).toBe(`  warn  files          ${check.found}\n${' '.repeat(23)}-> do it`)
  expect(checkLine(check, 60).split('\n')).toEqual([
    '  warn  files          one two three four five six seven',
    `${' '.repeat(23)}eight`,
    `${' '.repeat(23)}-> do it`,
  ])
})

describe('the unit of sold amounts that a probe sale proves', () => {
  const sale = { decimals: 6, held: 300_000_000n }
  test.each([
    [
      'if a sale sold the requested whole tokens, the unit is whole tokens',
      { written: 'tokens', asked: 100_000_000n, sold: 100_000_000n },
      'tokens',
    ],
    [
      'if a sale of whole tokens sold the same number of base units, the unit is base units',
      { written: 'tokens', asked: 100_000_000n, sold: 100n },
      'baseUnits',
    ],
    [
      'if a sale sold the requested base units, the unit is base units',
      { written: 'base', asked: 100_000_000n, sold: 100_000_000n },
      'baseUnits',
    ],
    [
      'if a sale sold everything, the unit is not proved',
      { written: 'base', asked: 100_000_000n, sold: 300_000_000n },
      null,
    ],
    [
      'if a sale sold another amount, the unit is not proved',
      { written: 'tokens', asked: 100_000_000n, sold: 50_000_000n },
      null,
    ],
    ['if a sale sold nothing, the unit is not proved', { written: 'tokens', asked: 100_000_000n, sold: 0n }, null],
    [
      'if a sale sold one base unit less than requested, because of rounding, the unit is whole tokens',
      { written: 'tokens', asked: 100_000_000n, sold: 99_999_999n },
      'tokens',
    ],
  ] as const)('what a probe sale proves: %s', (_what, given, unit) => {
    expect(sellNumberOf({ ...sale, ...given })).toBe(unit)
  })

  test('a probe sale of a token with 0 decimals does not prove in which unit sales are stated', () => {
    expect(sellNumberOf({ decimals: 0, held: 9n, written: 'tokens', asked: 3n, sold: 3n })).toBe(null)
  })

  test.each([
    [40n, 100n, 40, true],
    [41n, 100n, 40, false],
    [0n, 0n, 40, false],
  ])('a sale of %d of %d base units counts as a sale of %d %% of the balance: %s', (sold, held, percent, is) => {
    expect(isShare(sold, held, percent)).toBe(is)
  })

  test.each([
    [1.02, 1, true],
    [150, 1, false],
    [1, 150, false],
    [1, undefined, false],
    [0, 1, false],
  ])('a fill at the price %d agrees with the price %s of the feed: %s', (fill, feed, is) => {
    expect(agrees(fill, feed)).toBe(is)
  })

  test('the median of an empty list is null', () => {
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
])('doctor finds the path of the only signature in an answer (case %#)', (body, path) => {
  expect(signaturePathOf(JSON.stringify(body))).toBe(path)
})

const WALLET = '7EYnhQoR9YM3N7UoaKRoA44Uy8JeaZV3qyouov87awMs'
const OTHER = '8okjoTC9fPFr6x75Tg3YAEpjRF7DDVYpADATXnxxJZqx'

test('the shape of an answer lists its fields with their types', () => {
  const value = { wallet: WALLET, sol: 1, list: [{ mint: 'a', n: null }, { mint: 'b' }], no: [] }
  expect(shapeOf(value)).toEqual([
    ...['list list', 'list[] object', 'list[].mint string', 'list[].n null', 'no list', 'sol number', 'wallet string'],
  ])
  expect(shapeOf('text')).toEqual([])
})

test.each([
  [
    { publicKey: WALLET, sol: 1.5 },
    { knows: ['contains the requested key', 'sol is the balance in SOL'], stranger: '' },
  ],
  [
    { data: { wallet: WALLET, raw: '1500000000' } },
    { knows: ['contains the requested key', 'data.raw is the balance in lamports'], stranger: '' },
  ],
  [
    { publicKey: OTHER, tokens: [] },
    { knows: [], stranger: OTHER },
  ],
  [{ tokens: [{ owner: 'nobody' }] }, { knows: [], stranger: '' }],
])('doctor recognizes our own values in an answer (case %#)', (value, expected) => {
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
])('doctor reports the fields of an answer that changed since the last examination (case %#)', (before, now, drift) => {
  expect(driftOf(before, now)).toEqual(drift)
})
