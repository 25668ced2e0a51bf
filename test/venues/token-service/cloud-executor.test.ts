import { beforeEach, describe, expect, test } from 'vitest'
import type { HttpRequest, HttpResult } from '../../../src/base/machine.ts'
import { lamports, solToLamports, type TokenAmount } from '../../../src/base/units.ts'
import type { Attempt } from '../../../src/orders/attempt.ts'
import type { Outcome } from '../../../src/orders/ports.ts'
import type { SellUnit } from '../../../src/orders/trade-request.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { CloudExecutor } from '../../../src/venues/token-service/cloud-executor.ts'
import { buyAttempt, sellAttempt } from '../../support/attempts.ts'
import { fill } from '../../support/journal-values.ts'
import { MINT, signatureOf, WALLET } from './wire/samples.ts'

const START = 1_782_611_393_000
const S = signatureOf(3)

/** A cloud executor with a service and a chain that answer when the test wants it. */
class World {
  readonly clock = new SimulatedClock(START)
  readonly requests: HttpRequest[] = []
  readonly outcomes: Outcome[] = []
  /** The reports about attempts, in order. */
  readonly told: string[] = []
  readonly resumed: string[] = []
  sellUnit: SellUnit = 'unproved'
  readonly contradictions: TokenAmount[] = []
  /** Reports an outcome from the chain to the executor. */
  landed: (outcome: Outcome) => void = () => {}
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
      resolve: {
        begin: ({ id }, done) => {
          this.landed = done
          return {
            acked: (signature) => {
              this.told.push(`${id} acked ${signature}`)
              done({ kind: 'acked', signature })
            },
            doubt: (reason, signature = '') => void this.told.push(`${id} doubt ${signature || reason}`),
            hungUp: () => void this.told.push(`${id} hung up`),
            refused: (outcome) => {
              this.told.push(`${id} refused ${outcome.code}`)
              done(outcome)
            },
            unsent: (outcome) => {
              this.told.push(`${id} unsent`)
              done(outcome)
            },
          }
        },
        resume: ({ id }) => void this.resumed.push(id),
      },
      contradicted: (_attempt, sold) => void this.contradictions.push(sold),
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
}

const attempt = (more: Partial<Attempt> = {}): Attempt =>
  buyAttempt(MINT, 0.1, { executor: 'cloud', armedAt: START, ...more })

let world: World
beforeEach(() => {
  world = new World()
})

describe('requests', () => {
  test('the cloud executor sends a buy as one POST request with its terms', () => {
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
    ['all tokens', { kind: 'all' }, 'unproved', '"amount":"100%","slippage":10,"sellAll":true'],
    [
      'a quarter of the tokens',
      { kind: 'percent', percent: 25 },
      'unproved',
      '"amount":"25%","slippage":10,"sellAll":false',
    ],
    [
      'a number of whole tokens',
      { kind: 'tokens', tokens: 1_500_000n, decimals: 6 },
      'tokens',
      '"amount":1.5,"slippage":10,"sellAll":false',
    ],
    [
      'a number of base units',
      { kind: 'tokens', tokens: 1_500_000n, decimals: 6 },
      'base',
      '"amount":1500000,"slippage":10,"sellAll":false',
    ],
    [
      'a number of tokens while the unit of sales is not proved',
      { kind: 'tokens', tokens: 1_500_000n, decimals: 6 },
      'unproved',
      '"amount":"50%","slippage":10,"sellAll":false',
    ],
  ])('the cloud executor sends a sale of %s with the documented body', (_name, size, unit, body) => {
    world.sellUnit = unit
    world.holding = 3_000_000n
    world.execute(sellAttempt(MINT, { size }))
    expect(world.requests[0]?.url).toBe('https://service.example/api/trade/sell')
    expect(world.requests[0]?.body).toBe(`{"publicKey":"${WALLET}","mint":"${MINT}",${body}}`)
  })
  test.each<[string, Attempt, string]>([
    [
      'a buy for more than the plan allows',
      attempt({ size: { kind: 'sol', lamports: solToLamports(101) } }),
      'AMOUNT_RANGE',
    ],
    ['a buy with an invalid mint', attempt({ mint: 'x' }), 'MINT_INVALID'],
    ['a buy with too much slippage', attempt({ slippagePercent: 51 }), 'SLIPPAGE_RANGE'],
    [
      'a sale of a part of an unknown balance',
      sellAttempt(MINT, { size: { kind: 'tokens', tokens: 1n, decimals: 6 } }),
      'BALANCE_UNKNOWN',
    ],
  ])(
    'the cloud executor refuses %s without a request, and reports this after the call has returned',
    (_name, of, code) => {
      world.execute(of)
      expect(world.outcomes).toEqual([])
      world.clock.advanceTo(START)
      expect([world.requests, world.outcomes]).toEqual([
        [],
        [expect.objectContaining({ kind: 'refused', code, retry: 'never' })],
      ])
    },
  )
  test('an order of the cloud executor is unsent if the API key cannot be read', () => {
    world.apiKey = () => {
      throw new Error('no such file')
    }
    world.execute(attempt())
    world.clock.advanceTo(START)
    expect(world.outcomes).toEqual([{ kind: 'unsent', reason: 'the API key cannot be read' }])
  })
})

describe('the outcome that an answer proves is reported once', () => {
  const answered = (status: number, body: unknown): HttpResult => ({
    kind: 'answered',
    status,
    headers: {},
    body: JSON.stringify(body),
  })
  test.each<[string, HttpResult, string[]]>([
    ['a signature means that the order was accepted', answered(200, { signature: S }), [`acked ${S}`]],
    ['an error code means a refusal', answered(400, { code: 'INVALID_MINT' }), ['refused INVALID_MINT']],
    [
      'a signature with an error status leaves doubt',
      answered(500, { signature: S, code: 'SLIPPAGE_EXCEEDED' }),
      [`doubt ${S}`, 'hung up'],
    ],
    [
      'neither a signature nor a code leaves doubt',
      answered(200, '<html>'),
      ['doubt 200: the answer has neither a signature nor exactly one known error code', 'hung up'],
    ],
    ['a lost connection leaves doubt', { kind: 'lost', reason: 'ECONNRESET' }, ['doubt ECONNRESET', 'hung up']],
    ['a refused connection means that nothing was sent', { kind: 'unsent', reason: 'ECONNREFUSED' }, ['unsent']],
  ])('the cloud executor reports the outcome once: %s', async (_name, result, told) => {
    world.execute(attempt())
    await world.answer(result)
    world.clock.advanceTo(START + 60_000)
    expect(world.told).toEqual(told.map((one) => `o1.1 ${one}`))
    expect(world.requests).toHaveLength(1)
  })
  test.each<[string, HttpResult, string[]]>([
    ['accepted', answered(200, { signature: S }), [`acked ${S}`]],
    ['refused', answered(400, {}), ['refused INVALID_PARAMETERS']],
    ['lost', { kind: 'lost', reason: 'ECONNRESET' }, ['doubt ECONNRESET', 'hung up']],
    ['proved never to have been sent', { kind: 'unsent', reason: 'connect timeout' }, ['unsent']],
  ])(
    'without an answer within 10 s, an attempt of the cloud executor is in doubt, and can later be %s',
    async (_name, result, told) => {
      world.execute(attempt())
      world.clock.advanceTo(START + 9_999)
      expect(world.told).toEqual([])
      world.clock.advanceTo(START + 50_000)
      await world.answer(result)
      expect(world.told).toEqual(['doubt no answer within 10 s', ...told].map((one) => `o1.1 ${one}`))
      expect(world.requests).toHaveLength(1)
    },
  )
  test('after an answer within 10 s, the cloud executor has no timer', async () => {
    world.execute(attempt())
    await world.ok({ signature: S })
    expect(world.clock.nextAt()).toBe(Number.POSITIVE_INFINITY)
  })
})

test('the cloud executor looks up an attempt of an earlier process, and never sends it', () => {
  world.executor.resume(attempt({ state: 'unknown' }), (outcome) => world.outcomes.push(outcome))
  world.clock.advanceTo(START + 60_000)
  expect([world.resumed, world.requests, world.outcomes]).toEqual([['o1.1'], [], []])
})

test.each<[what: string, unit: SellUnit, sold: bigint, contradictions: bigint[]]>([
  ['the requested amount', 'tokens', 5_000_000n, []],
  ['the requested amount, except for rounding', 'base', 4_999_999n, []],
  ['another amount than its number, which disproves the unit', 'tokens', 5n, [5n]],
  ['another amount than its percentage, which proves nothing', 'unproved', 5n, []],
])('the cloud executor checks the unit of sales by a sale of %s', (_what, unit, sold, contradictions) => {
  world.sellUnit = unit
  world.holding = 9_000_000n
  world.execute(sellAttempt(MINT, { size: { kind: 'tokens', tokens: 5_000_000n, decimals: 6 } }))
  world.landed({ kind: 'filled', fill: fill(1, { tokens: sold }), final: false })
  expect(world.contradictions).toEqual(contradictions)
  expect(world.outcomes).toHaveLength(1)
})
