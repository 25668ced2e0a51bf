import { beforeEach, describe, expect, test } from 'vitest'
import type { Attempt, Fill } from '../../src/core/order.ts'
import type { HttpRequest, HttpResult, Outcome } from '../../src/core/ports.ts'
import { lamports, solToLamports, type TokenAmount } from '../../src/core/units.ts'
import { CloudExecutor } from '../../src/service/cloud-executor.ts'
import type { SellUnit } from '../../src/service/sell-amount.ts'
import { SimulatedClock } from '../../src/simulation/clock.ts'
import { executorContract } from '../contracts/executor.contract.ts'
import { buyAttempt, sellAttempt } from '../support/attempts.ts'
import { keyOf, MINT, signatureOf, WALLET } from './wire/samples.ts'

const START = 1_782_611_393_000
const S = signatureOf(3)
const OTHER = signatureOf(4)

/** A service and a chain that do what a test says, when it says so. */
class World {
  readonly clock = new SimulatedClock(START)
  readonly requests: HttpRequest[] = []
  readonly outcomes: Outcome[] = []
  readonly followed = new Map<string, (outcome: Outcome) => void>()
  readonly cancelled: string[] = []
  sellUnit: SellUnit = 'unproved'
  holding: TokenAmount | undefined
  apiKey = (): string => 'k'
  readonly executor: CloudExecutor
  #answers: ((result: HttpResult) => void)[] = []

  constructor() {
    this.executor = new CloudExecutor({
      http: (request) => {
        this.requests.push(request)
        return new Promise((resolve) => this.#answers.push(resolve))
      },
      clock: this.clock,
      baseUrl: 'https://service.example/api',
      apiKey: () => this.apiKey(),
      wallet: WALLET,
      maxBuyLamports: () => solToLamports(100),
      sellUnit: () => this.sellUnit,
      holding: () => this.holding,
      follow: (signature, _attempt, done) => {
        this.followed.set(signature, done)
        return () => {
          this.followed.delete(signature)
          this.cancelled.push(signature)
        }
      },
    })
  }

  execute(attempt: Attempt): void {
    this.executor.execute(attempt, (outcome) => this.outcomes.push(outcome))
  }

  async answer(result: HttpResult): Promise<void> {
    this.#answers.shift()?.(result)
    await new Promise(setImmediate)
  }

  ok(body: unknown, status = 200): Promise<void> {
    return this.answer({ kind: 'answered', status, headers: {}, body: JSON.stringify(body) })
  }

  kinds(): string {
    return this.outcomes.map((one) => ('final' in one ? `${one.kind}${one.final ? '!' : '?'}` : one.kind)).join(' ')
  }
}

const attempt = (more: Partial<Attempt> = {}): Attempt =>
  buyAttempt(MINT, 0.1, { executor: 'cloud', armedAt: START, ...more })

function fill(of: Attempt, signature: string, final: boolean, time = START): Fill {
  const { orderId, id, account, bot, mint, side } = of
  return {
    signature,
    orderId,
    attemptId: id,
    account,
    bot,
    mint,
    side,
    slot: 1,
    time,
    tokens: 5n,
    decimals: 6,
    tradeLamports: lamports(100),
    feeLamports: lamports(5),
    rentLamports: lamports(0),
    walletLamports: lamports(side === 'buy' ? -105 : 95),
    final,
  }
}

let world: World
beforeEach(() => {
  world = new World()
})

describe('requests', () => {
  test('a buy', () => {
    world.execute(attempt({ priorityFeeLamports: lamports(100_000) }))
    expect(world.requests).toEqual([
      {
        method: 'POST',
        url: 'https://service.example/api/trade/buy',
        headers: expect.objectContaining({ authorization: 'Bearer k', 'content-type': 'application/json' }),
        body: `{"publicKey":"${WALLET}","mint":"${MINT}","amount":0.1,"slippage":10,"priorityFee":0.0001}`,
      },
    ])
  })
  test.each<[string, Attempt['size'], SellUnit, string]>([
    ['all', { kind: 'all' }, 'unproved', '"amount":"100%","slippage":10,"sellAll":true'],
    ['a share', { kind: 'percent', percent: 25 }, 'unproved', '"amount":"25%","slippage":10,"sellAll":false'],
    [
      'tokens',
      { kind: 'tokens', tokens: 1_500_000n, decimals: 6 },
      'tokens',
      '"amount":1.5,"slippage":10,"sellAll":false',
    ],
    [
      'tokens in base units',
      { kind: 'tokens', tokens: 1_500_000n, decimals: 6 },
      'base',
      '"amount":1500000,"slippage":10,"sellAll":false',
    ],
    [
      'tokens, unproved',
      { kind: 'tokens', tokens: 1_500_000n, decimals: 6 },
      'unproved',
      '"amount":"50%","slippage":10,"sellAll":false',
    ],
  ])('a sale of %s', (_name, size, unit, body) => {
    world.sellUnit = unit
    world.holding = 3_000_000n
    world.execute(sellAttempt(MINT, { size }))
    expect(world.requests[0]?.url).toBe('https://service.example/api/trade/sell')
    expect(world.requests[0]?.body).toBe(`{"publicKey":"${WALLET}","mint":"${MINT}",${body}}`)
  })
  test.each<[string, Attempt, string]>([
    ['more than the plan allows', attempt({ size: { kind: 'sol', lamports: solToLamports(101) } }), 'AMOUNT_RANGE'],
    ['a mint that is none', attempt({ mint: 'x' }), 'MINT_INVALID'],
    ['too much slippage', attempt({ slippagePercent: 51 }), 'SLIPPAGE_RANGE'],
    [
      'a share of nobody knows what',
      sellAttempt(MINT, { size: { kind: 'tokens', tokens: 1n, decimals: 6 } }),
      'BALANCE_UNKNOWN',
    ],
  ])('%s is refused before anything is sent, and not from inside the call', (_name, of, code) => {
    world.execute(of)
    expect(world.outcomes).toEqual([])
    world.clock.advanceTo(START)
    expect([world.requests, world.outcomes]).toEqual([
      [],
      [expect.objectContaining({ kind: 'refused', code, retry: 'never' })],
    ])
  })
  test('a key that cannot be read: unsent', () => {
    world.apiKey = () => {
      throw new Error('no such file')
    }
    world.execute(attempt())
    world.clock.advanceTo(START)
    expect(world.outcomes).toEqual([{ kind: 'unsent', reason: 'the key cannot be read' }])
  })
})

describe('from the answer to the fill', () => {
  test('acked, provisional, final', async () => {
    const one = attempt()
    world.execute(one)
    await world.ok({ signature: S })
    expect(world.outcomes).toEqual([{ kind: 'acked', signature: S }])
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, false), final: false })
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, true), final: true })
    expect(world.kinds()).toBe('acked filled? filled!')
  })
  test('reverted', async () => {
    world.execute(attempt())
    await world.ok({ signature: S })
    const feeLamports = lamports(5_000)
    for (const final of [false, true])
      world.followed.get(S)?.({ kind: 'reverted', signature: S, feeLamports, code: 'SLIPPAGE_EXCEEDED', final })
    expect(world.kinds()).toBe('acked reverted? reverted!')
  })
  test('a signature under an error is followed, as unknown', async () => {
    const one = attempt()
    world.execute(one)
    await world.ok({ signature: S, code: 'SLIPPAGE_EXCEEDED' }, 500)
    expect(world.outcomes).toEqual([expect.objectContaining({ kind: 'unknown', signature: S })])
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, true), final: true })
    expect(world.kinds()).toBe('unknown filled!')
  })
  test('a signature that another attempt has already is no acknowledgement', async () => {
    world.execute(attempt())
    await world.ok({ signature: S })
    world.execute(attempt({ id: 'o2.1', orderId: 'o2' }))
    await world.ok({ signature: S })
    expect(world.kinds()).toBe('acked unknown')
  })
})

describe('no answer', () => {
  test.each<[string, HttpResult, string]>([
    [
      'acked late',
      { kind: 'answered', status: 200, headers: {}, body: JSON.stringify({ signature: S }) },
      'unknown acked',
    ],
    ['refused late', { kind: 'answered', status: 400, headers: {}, body: '{}' }, 'unknown refused'],
    ['lost late', { kind: 'lost', reason: 'ECONNRESET' }, 'unknown'],
    ['proved never to have left', { kind: 'unsent', reason: 'connect timeout' }, 'unknown absent'],
  ])('unknown after 10 s, then %s', async (_name, result, kinds) => {
    world.execute(attempt())
    world.clock.advanceTo(START + 9_999)
    expect(world.kinds()).toBe('')
    world.clock.advanceTo(START + 10_000)
    expect(world.kinds()).toBe('unknown')
    world.clock.advanceTo(START + 50_000)
    await world.answer(result)
    expect(world.kinds()).toBe(kinds)
    expect(world.requests).toHaveLength(1)
  })
  test('an answer within 10 s leaves no timer behind', async () => {
    world.execute(attempt())
    await world.ok({ signature: S })
    expect(world.clock.nextAt()).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('hints from the feed', () => {
  const lost: HttpResult = { kind: 'lost', reason: 'ECONNRESET' }

  test('a trade of our wallet that the chain confirms is proof', async () => {
    const one = attempt()
    world.execute(one)
    await world.answer(lost)
    world.executor.hint(MINT, S)
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, false), final: false })
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, true), final: true })
    expect(world.kinds()).toBe('unknown filled? filled!')
  })
  test('one that came while the answer was out is looked at when the answer is lost', async () => {
    const one = attempt()
    world.execute(one)
    world.executor.hint(MINT, S)
    expect(world.followed.size).toBe(0)
    await world.answer(lost)
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, true), final: true })
    expect(world.kinds()).toBe('unknown filled!')
  })
  test('of several the one that the chain confirms counts, and the others are let go', async () => {
    const one = attempt()
    world.execute(one)
    await world.answer(lost)
    world.executor.hint(MINT, OTHER)
    world.executor.hint(MINT, S)
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, false), final: false })
    expect([world.kinds(), world.cancelled]).toEqual(['unknown filled?', [OTHER]])
  })
  test.each<[string, (one: Attempt) => Outcome]>([
    [
      'a trade from before it was armed',
      (one) => ({ kind: 'filled', fill: fill(one, S, true, START - 60_000), final: true }),
    ],
    ["a transaction that is not the attempt's", () => ({ kind: 'unknown', reason: 'no buy', signature: S })],
    [
      'a reverted one',
      () => ({ kind: 'reverted', signature: S, feeLamports: lamports(1), code: 'REVERTED', final: true }),
    ],
  ])('%s proves nothing', async (_name, outcome) => {
    const one = attempt()
    world.execute(one)
    await world.answer(lost)
    world.executor.hint(MINT, S)
    world.followed.get(S)?.(outcome(one))
    expect([world.kinds(), world.cancelled]).toEqual(['unknown', [S]])
  })
  test('of another mint, of a signature that is taken, or after the end are no hints', async () => {
    world.execute(attempt())
    await world.ok({ signature: S })
    world.execute(attempt({ id: 'o2.1', mint: MINT }))
    await world.answer(lost)
    world.executor.hint(keyOf(77), OTHER)
    world.executor.hint(MINT, S)
    expect([...world.followed.keys()]).toEqual([S])
  })
  test('a late answer with the same signature changes nothing', async () => {
    const one = attempt()
    world.execute(one)
    world.clock.advanceTo(START + 10_000)
    world.executor.hint(MINT, S)
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, false), final: false })
    await world.ok({ signature: S })
    expect(world.kinds()).toBe('unknown filled?')
  })
})

describe('resume', () => {
  test('follows a known signature and never sends', () => {
    const one = attempt({ state: 'acked', signature: S })
    world.executor.resume(one, (outcome) => world.outcomes.push(outcome))
    world.clock.advanceTo(START)
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, true), final: true })
    expect([world.kinds(), world.requests]).toEqual(['filled!', []])
  })
  test.each<[Attempt['state'], string]>([
    ['armed', 'unknown'],
    ['unknown', ''],
    ['undecided', ''],
  ])('without a signature, %s: says "%s" and waits for a hint', (state, kinds) => {
    const one = attempt({ state })
    world.executor.resume(one, (outcome) => world.outcomes.push(outcome))
    world.clock.advanceTo(START)
    expect([world.kinds(), world.requests]).toEqual([kinds, []])
    world.executor.hint(MINT, S)
    world.followed.get(S)?.({ kind: 'filled', fill: fill(one, S, true), final: true })
    expect(world.kinds()).toBe(`${kinds} filled!`.trim())
  })
})

const inWorld = (of: Attempt, play: (world: World, of: Attempt) => Promise<void> | void) => () => {
  const built = new World()
  let isPlayed = false
  const settle = async (): Promise<void> => {
    built.clock.advanceTo(built.clock.now() + 60_000)
    if (!isPlayed) await play(built, of)
    isPlayed = true
    built.clock.advanceTo(built.clock.now() + 60_000)
  }
  return { executor: built.executor, attempt: of, settle, sent: () => built.requests.length }
}
const land = async (built: World, of: Attempt): Promise<void> => {
  await built.ok({ signature: S })
  for (const final of [false, true]) built.followed.get(S)?.({ kind: 'filled', fill: fill(of, S, final), final })
}

executorContract('cloud executor', [
  { what: 'a buy that fills', ends: 'filled', build: inWorld(attempt(), land) },
  { what: 'a sale that fills', ends: 'filled', build: inWorld(sellAttempt(MINT), land) },
  {
    what: 'a buy that is refused',
    ends: 'refused',
    build: inWorld(attempt(), (built) => built.ok({ code: 'INVALID_MINT' }, 400)),
  },
  { what: 'a buy that must not be sent', ends: 'refused', build: inWorld(attempt({ mint: 'x' }), () => {}) },
  {
    what: 'a resumed buy that filled',
    ends: 'filled',
    call: 'resume',
    build: inWorld(attempt({ state: 'acked', signature: S }), (built, of) => {
      built.followed.get(S)?.({ kind: 'filled', fill: fill(of, S, true), final: true })
    }),
  },
])
