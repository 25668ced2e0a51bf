import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ServiceProof } from '../../src/orders/service-facts.ts'
import type { Dialect } from '../../src/sandbox/dialect.ts'
import { MINT } from '../sandbox/still-market.ts'
import { called } from './called.ts'
import { type Ended, kill, launch } from './process.ts'
import { openRpcProxy } from './rpc-proxy.ts'
import { openStage, orderIn, type Stage, tell } from './stage.ts'
import { until } from './until.ts'
import type { VenueOptions } from './venue.ts'

const PRINTS_EVERY_MS = 150

interface Probed {
  readonly code: number | null
  readonly ok: boolean
  readonly proved: ServiceProof | undefined
  readonly probe: string
  readonly stderr: string
}

/** Starts a market with trades of others, in which the units of the service are not verified. */
async function openBusyStage(
  options: Partial<VenueOptions>,
  atEnd: Parameters<typeof openStage>[1],
): Promise<{ stage: Stage; quiet: () => void }> {
  const stage = await openStage({ config: { service: { units: {} } }, ...options }, atEnd)
  const timer = setInterval(() => stage.prints(2), PRINTS_EVERY_MS)
  const quiet = (): void => clearInterval(timer)
  atEnd(async () => quiet())
  return { stage, quiet }
}

/**
 * From this request on, landed transactions cannot be read until `see` is called. Until then the order has no outcome.
 */
async function blindFrom(
  request: string,
  stage: Stage,
  atEnd: Parameters<typeof openStage>[1],
): Promise<{ see: () => void }> {
  let sees = false
  const proxy = await openRpcProxy(stage.sandbox.rpcUrl, {
    answer: ({ method, answer }) =>
      method === 'getTransaction' && !sees && stage.requests.includes(request) ? { ...answer, result: null } : answer,
  })
  atEnd(() => proxy.close())
  writeFileSync(join(stage.folder, 'rpc'), proxy.url, { mode: 0o600 })
  return {
    see: () => {
      sees = true
    },
  }
}

const argsOf = ({ configFile }: Stage): string[] => [
  'doctor',
  configFile,
  '--probe-live',
  '0.003',
  '--mint',
  MINT,
  '--yes',
]

function probed({ code, stdout, stderr }: Ended): Probed {
  const { ok, checks, proved } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}')
  const probe = (checks as { name: string; status: string; found: string }[]).find(({ name }) => name === 'probe')
  return {
    code,
    ok,
    proved,
    probe: probe === undefined ? 'none' : `${probe.status}: ${probe.found}`,
    stderr,
  }
}

const probeOf = async (stage: Stage): Promise<Probed> => probed(await called([...argsOf(stage), '--json']))

describe.concurrent("`doctor --probe-live` proves on the chain the facts that the service's document leaves open", () => {
  test.for<[what: string, dialect: Partial<Dialect>, proved: Partial<ServiceProof>, orders: number]>([
    ['whole tokens', {}, { sellNumber: 'tokens', signatureField: 'signature', quotedPerSol: 1 }, 4],
    [
      'base units and a nested signature',
      { sellNumber: 'baseUnits', signatureField: 'txid', signatureNesting: 'data.transaction' },
      { sellNumber: 'baseUnits', signatureField: 'data.transaction.txid' },
      5,
    ],
    [
      'base units, slippage that the chain checks, and prices in dollars',
      { sellNumber: 'baseUnits', slippage: 'chain', tradePrice: 'usd', updatePrice: 'usd' },
      { sellNumber: 'baseUnits', quotedPerSol: 150 },
      5,
    ],
    [
      'whole tokens, refusals with status 200, buys of an exact number of tokens, and sales that close accounts',
      { errorStatus: 'ok', errorBody: 'list', buyExact: 'out', closesAccount: 'yes', signatureField: 'hash' },
      { sellNumber: 'tokens', signatureField: 'hash', rentLamports: 0 },
      4,
    ],
    [
      'a service fee, and events that are sent twice',
      { serviceFeeBps: 100, overlap: 'twice', extras: 'both' },
      { sellNumber: 'tokens' },
      4,
    ],
  ])('the probe proves the units of a service with %s', async ([, dialect, expected, orders], { onTestFinished }) => {
    const { stage, quiet } = await openBusyStage({ dialect }, onTestFinished)
    const { code, ok, proved, probe, stderr } = await probeOf(stage)
    expect({ code, ok, stderr }).toEqual({ code: 0, ok: true, stderr: '' })
    expect(probe).toBe(`ok: all ${orders} orders are final`)
    expect(proved).toMatchObject({ tradeAmount: 'sol', sales: ['number', 'percent', 'all'], ...expected })
    for (const ms of Object.values(proved?.latencyMs ?? {})) expect(ms).toBeGreaterThan(0)
    const { fills, orders: booked } = stage.books()
    expect(booked).toHaveLength(orders)
    expect(fills.every(({ bot, final }) => bot === 'doctor' && final)).toBe(true)
    const change = fills.reduce((sum, { walletLamports }) => sum + walletLamports, 0)
    expect(-change).toBe((proved?.lossLamports ?? 0) + (proved?.feeLamports ?? 0) + (proved?.rentLamports ?? 0))
    quiet()
    expect(await stage.complaints()).toEqual([])
  })

  test.for<[Dialect['sellNumber'], Partial<ServiceProof>, says: RegExp]>([
    ['baseUnits', { sellNumber: 'baseUnits', sales: ['number', 'percent', 'all'] }, /^ok: all 5 orders are final$/],
    [
      'tokens',
      { sellNumber: null, sales: ['percent', 'all'] },
      /^warn: all 5 orders .*; not proved whether .* in whole tokens or in base units$/,
    ],
  ])(
    "the probe with a sale's number in %s proves the other facts if the first number is refused",
    async ([sellNumber, expected, says], { onTestFinished }) => {
      const { stage, quiet } = await openBusyStage({ dialect: { sellNumber } }, onTestFinished)
      stage.sandbox.faults.set({ kind: 'serverError', status: 400, target: '/trade/sell' })
      const { code, proved, probe } = await probeOf(stage)
      expect(code).toBe(0)
      expect(proved).toMatchObject(expected)
      expect(probe).toMatch(says)
      quiet()
      expect(await stage.complaints()).toEqual([])
    },
  )

  test('after a probe, a later run sells by number, and trusts the feed from its first prints on', async ({
    onTestFinished,
  }) => {
    const { stage, quiet } = await openBusyStage({ dialect: { sellNumber: 'baseUnits' } }, onTestFinished)
    expect((await probeOf(stage)).code).toBe(0)
    quiet()
    const running = await stage.go() // three prints, although a unit needs twenty to be verified
    const send = running.handle
    const { answer: buy } = await tell(send, stage, 'buy')
    await orderIn(stage, buy, ({ state }) => state === 'filled')
    const { answer: half } = await tell(send, stage, 'half')
    await orderIn(stage, half, ({ state }) => state === 'filled')
    const { attempts, fills } = stage.books()
    const asked = attempts.find(({ orderId }) => orderId === half)?.size
    expect(asked).toMatchObject({ kind: 'tokens', tokens: fills.find(({ orderId }) => orderId === half)?.tokens })
    await tell(send, stage, 'sell')
    await stage.settled()
    await running.stop()
    expect(await stage.complaints()).toEqual([])
    stage.configure({ service: { units: { sell: 'tokens' } } })
    const { stdout } = await called(['doctor', stage.configFile, '--json'])
    expect(stdout).toContain('service.units.sell contradicts a probe, which proved base units')
  })
})

describe.concurrent('a probe that is disturbed or refused, and a wrong unit of sales', () => {
  test('if a sale by number sells another amount than ordered, later partial sales are sent as percentages', async ({
    onTestFinished,
  }) => {
    const units = { tradeAmount: 'sol', sell: 'tokens' }
    const stage = await openStage(
      { dialect: { sellNumber: 'baseUnits' }, config: { service: { units } } },
      onTestFinished,
    )
    const running = await stage.go()
    const send = running.handle
    await orderIn(stage, (await tell(send, stage, 'buy')).answer, ({ state }) => state === 'filled')
    const half = async (): Promise<bigint> => {
      const { answer } = await tell(send, stage, 'half')
      await orderIn(stage, answer, ({ state }) => state === 'filled')
      return stage.books().fills.find(({ orderId }) => orderId === answer)?.tokens ?? 0n
    }
    const bought = stage.books().fills[0]?.tokens ?? 0n
    expect(await half()).toBeLessThan(bought / 100_000n)
    expect(stage.log.join('')).toMatch(/from now on, partial sales are sent as a percentage/)
    expect(Number(await half()) / Number(bought)).toBeCloseTo(0.5, 3)
    await stage.settled()
    await running.stop()
    expect(await stage.complaints()).toEqual([])
  })

  test.for(['/trade/buy', '/trade/sell'])(
    'if the answer of %s to the probe is lost, the probe finds the transaction on the chain',
    async (target, { onTestFinished }) => {
      const { stage, quiet } = await openBusyStage({}, onTestFinished)
      stage.sandbox.faults.set({ kind: 'dropAfter', target })
      const { code, proved } = await probeOf(stage)
      expect(code).toBe(0)
      expect(proved).toMatchObject({ sellNumber: 'tokens', sales: ['number', 'percent', 'all'] })
      quiet()
      expect(await stage.complaints()).toEqual([])
    },
  )

  test('if Ctrl-C ends a probe while an answer is pending, the journal has the position, and a later run continues', async ({
    onTestFinished,
  }) => {
    const { stage, quiet } = await openBusyStage({}, onTestFinished)
    const { see } = await blindFrom('POST /api/trade/buy', stage, onTestFinished)
    stage.sandbox.faults.set({ kind: 'delay', ms: 1_500, target: '/trade/buy' })
    const one = launch([...argsOf(stage), '--json'])
    await until('the buy', () => stage.requests.includes('POST /api/trade/buy'))
    one.child.kill('SIGINT')
    const { code, probe } = probed({ code: await one.ended, ...one })
    expect(code).toBe(1)
    expect(probe).toMatch(/^fail: interrupted/)
    expect(stage.books().orders).toHaveLength(1)
    see()
    const next = stage.run()
    await until('its start', () => next.stderr.includes('"running"'))
    await stage.settled()
    expect((await called(['flatten', '--journal', stage.journal])).stdout).toMatch(/selling 1 position/)
    await until('the sale', () => stage.books().fills.some(({ side, final }) => side === 'sell' && final))
    await stage.settled()
    next.child.kill('SIGINT')
    expect(await next.ended).toBe(0)
    quiet()
    expect(await stage.complaints()).toEqual([])
  })

  test('after `kill -9` of a probe with an open position, the next probe sells the position and continues', async ({
    onTestFinished,
  }) => {
    const { stage, quiet } = await openBusyStage({}, onTestFinished)
    const { see } = await blindFrom('POST /api/trade/sell', stage, onTestFinished)
    stage.sandbox.faults.set({ kind: 'delay', ms: 60_000, target: '/trade/sell' })
    const one = launch([...argsOf(stage), '--json'])
    await until('the sale', () => stage.requests.includes('POST /api/trade/sell'))
    await kill(one)
    see()
    const { code, proved, probe } = await probeOf(stage)
    expect({ code, probe }).toEqual({ code: 0, probe: 'ok: all 5 orders are final' })
    expect(proved).toMatchObject({ sellNumber: 'tokens', sales: ['number', 'percent', 'all'] })
    quiet()
    expect(await stage.complaints()).toEqual([])
  })

  test('if the wallet already holds the token, the probe buys nothing', async ({ onTestFinished }) => {
    const { stage } = await openBusyStage({}, onTestFinished)
    const running = await stage.go()
    await until('a unit', () => running.world.priceOf(MINT) !== undefined)
    const bought = await until('a buy', async () => {
      const { answer } = await tell(running.handle, stage, 'buy')
      return answer.startsWith('o') && answer
    })
    await orderIn(stage, bought, ({ state }) => state === 'filled')
    await stage.settled()
    await running.stop()
    const { code, probe } = await probeOf(stage)
    expect(code).toBe(1)
    expect(probe).toMatch(/^fail: the wallet already holds this token/)
    expect(stage.books().orders).toHaveLength(1)
  })

  test.for<[what: string, args: (stage: Stage) => string[], code: number, says: RegExp]>([
    [
      'no terminal and no --yes',
      (stage) => argsOf(stage).slice(0, -1),
      4,
      /needs a confirmation: run it in a terminal, or add --yes/,
    ],
    ['no --mint', ({ configFile }) => ['doctor', configFile, '--probe-live', '0.003', '--yes'], 2, /needs --mint/],
    [
      'a --mint that is not a key',
      ({ configFile }) => ['doctor', configFile, '--mint', 'nonsense'],
      2,
      /--mint needs a base58 key/,
    ],
    [
      'a real service and no confirmation',
      (stage) => {
        const { folder } = stage
        const far = join(folder, 'far.yaml')
        const service = { baseUrl: 'https://service.invalid/api', wsUrl: 'wss://service.invalid/api/data' }
        const chain = { rpc: [{ url: `file:${join(folder, 'rpc')}` }] }
        const wallet = { publicKey: stage.sandbox.wallet }
        writeFileSync(
          far,
          JSON.stringify({ service: { ...service, apiKey: `file:${join(folder, 'key')}` }, chain, wallet }),
        )
        return ['doctor', far, '--probe-live', '0.003', '--mint', MINT]
      },
      4,
      /needs a confirmation: run it in a terminal, or add --yes/,
    ],
  ])('doctor refuses a probe with %s', async ([, args, code, says], { onTestFinished }) => {
    const { stage, quiet } = await openBusyStage({}, onTestFinished)
    quiet()
    const result = await called(args(stage))
    expect(result).toMatchObject({ code, stdout: '' })
    expect(result.stderr).toMatch(says)
    expect(stage.requests).toEqual([])
  })

  test('if a check of doctor fails, the probe buys nothing', async ({ onTestFinished }) => {
    const { stage } = await openBusyStage({ fundSol: 0 }, onTestFinished)
    const { code, probe } = await probeOf(stage)
    expect({ code, probe }).toEqual({ code: 1, probe: 'none' })
    expect(stage.requests).not.toContain('POST /api/trade/buy')
  })
})
