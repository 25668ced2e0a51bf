import { expect, test } from 'vitest'
import type { TokenAnswer, TokenBar } from '../../../src/desk/api/types.ts'
import { RowKind } from '../../../src/market/block.ts'
import { Mints } from '../../../src/market/mints.ts'
import { MINT } from '../../../src/testing.ts'
import { ApiRig, type Query } from '../../support/desk-api.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { HOSTILE, tradedRig } from '../../support/traded-journal.ts'

const rig = tradedRig()
const path = journalPath()
rig.saveJournal(path)
const api = new ApiRig(path)
const { reader } = api
const bought = [...new Set(rig.fills.map(({ mint }) => mint))]
const whole: Query = { from: String(rig.now - 3_600_000), to: String(rig.now) }

const tokenOf = (mint: string, query: Query = whole): TokenAnswer => api.get('token', query, mint)

interface Print {
  readonly t: number
  readonly p: number
  readonly sol: number
  readonly side: 'buy' | 'sell'
}

/** Reads the prints of a token from the tape, row by row. */
function printsOnTape(mint: string): Print[] {
  const mints = new Mints()
  const prints: Print[] = []
  for (const { length, token, kind, time, amount, size } of reader.blocks(mints))
    for (let row = 0; row < length; row++) {
      const isPrint = token[row] === mints.find(mint) && (kind[row] as number) <= RowKind.sell
      const sol = amount[row] as number
      const side = kind[row] === RowKind.buy ? 'buy' : 'sell'
      if (isPrint) prints.push({ t: time[row] as number, p: sol / (size[row] as number), sol, side })
    }
  return prints
}

function printsOf({ prints: { t, p, sol, side } }: TokenAnswer): Print[] {
  return t.map((time, at) => ({ t: time, p: p[at], sol: sol[at], side: side[at] }) as Print)
}

test('the market was traded by the bot', () => expect(bought.length).toBeGreaterThan(3))

test('the API shows all prints of a token, with the times of the first and the last print', () => {
  for (const mint of bought) {
    const expected = printsOnTape(mint)
    const answer = tokenOf(mint)
    expect(printsOf(answer)).toEqual(expected)
    expect([answer.first, answer.last]).toEqual([expected[0]?.t, expected.at(-1)?.t])
  }
})

test('without a time range, the API shows the prints up to the last print', () => {
  const { last, to, from } = tokenOf(bought[0] as string, {})
  expect([to, from]).toEqual([last, (last as number) - 3_600_000])
  const short = tokenOf(bought[0] as string, { span: '60' })
  expect([short.to, short.from]).toEqual([last, (last as number) - 60_000])
})

test('the prices of a part of the time equal those of the same part in the whole time', () => {
  for (const mint of bought) {
    const { price, first, last } = tokenOf(mint)
    const [from, to] = [((first as number) + (last as number)) / 2, last as number].map(Math.floor) as [number, number]
    const part = tokenOf(mint, { from: String(from), to: String(to) })
    const expected = price[0].flatMap((time, at) => (time >= from ? [[time, price[1][at]]] : []))
    expect(part.price[0].map((time, at) => [time, part.price[1][at]])).toEqual(expected)
  }
})

test('the robust price that the API shows at each buy equals the price on which the engine decided', () => {
  const decided = reader
    .orders()
    .filter(({ side, price, id }) => side === 'buy' && price !== null && id.startsWith('o'))
  expect(decided.length).toBeGreaterThan(5)
  for (const { mint, time, price } of decided) {
    const [times, prices] = tokenOf(mint).price
    const at = times.findLastIndex((one) => one <= time)
    // Several prints may have the same time as the decision.
    const near = prices.filter((_price, index) => times[index] === times[at])
    expect(near).toContain(price)
  }
})

test('the bars that the API shows equal those that the strategy received', () => {
  const bars = rig.logs.flatMap(({ text, fields }) =>
    text === 'bar' ? [fields as unknown as TokenBar & { mint: string }] : [],
  )
  expect(bars.length).toBeGreaterThan(20)
  for (const [mint, own] of Map.groupBy(bars, (bar) => bar.mint)) {
    const shown = new Map(tokenOf(mint, { ...whole, bars: '15s' }).bars?.map((bar) => [bar.t, bar]))
    for (const { mint: _mint, ...bar } of own) expect(shown.get(bar.t)).toEqual(bar)
  }
})

test.each(['30 trades', '2 SOL', '1m'])(
  'the bars of %s that the API shows have no more volume than the prints of the token',
  (bars) => {
    const answer = tokenOf(MINT, { ...whole, bars })
    const volume = answer.bars?.reduce((sum, { v }) => sum + v, 0) ?? 0
    const traded = answer.prints.sol.filter((sol) => sol >= 0.01).reduce((sum, sol) => sum + sol, 0)
    expect(volume).toBeGreaterThan(0)
    expect(volume).toBeLessThanOrEqual(traded + 1e-9)
  },
)

test('the fills, refusals, notes and gaps that the API shows equal those of the journal', () => {
  const gaps = new Set<string>()
  for (const mint of bought) {
    const answer = tokenOf(mint)
    expect(answer.fills.map(({ signature }) => signature).sort()).toEqual(
      rig.fills.flatMap((fill) => (fill.mint === mint ? [fill.signature] : [])).sort(),
    )
    const words = [...answer.refusals, ...answer.notes].reduce((sum, { count }) => sum + count, 0)
    expect(words).toBe([...rig.refusals, ...rig.notes].filter((one) => one.mint === mint).length)
    for (const gap of answer.gaps) gaps.add(`${gap.to - gap.from}`)
  }
  expect([...gaps]).toEqual(['4000'])
})

test('the API shows the exits of an open position with the prices of its exit rules', () => {
  const [position] = reader.heldPositions().filter(({ tokens, exiting }) => tokens > 0n && exiting === '')
  if (position === undefined) throw new Error('the run must end with an open position')
  const { exits } = tokenOf(position.mint)
  const stop = exits.find(({ kind }) => kind === 'stopLossPercent')
  expect(stop?.price).toBeCloseTo(position.averagePrice * 0.75, 15)
  expect(exits.find(({ kind }) => kind === 'maxHoldSeconds')?.at).toBe(position.openedAt + 25_000)
})

test('the API does not change a name with markup and control characters', () => {
  const { symbol, name } = tokenOf(MINT)
  expect([symbol, name]).toEqual([HOSTILE, HOSTILE])
})

test('the API answers with no prints for a token that is not in the journal', () => {
  const { symbol, first, price, fills } = tokenOf('So11111111111111111111111111111111111111112', {})
  expect([symbol, first, price, fills]).toEqual(['', null, [[], []], []])
})

test.each([
  [{ from: '5', to: '4' }, 'from is later than to'],
  [{ from: '0', to: '86400001' }, 'from and to are more than a day apart'],
  [{ bars: '7 parsecs' }, /^bars is invalid; expected a time from 1s to 1d/],
  [
    { from: '0', to: '86400000', bars: '1s' },
    'this range has more than 5000 bars of 1s; choose wider bars or a shorter range',
  ],
  [{ span: '86401' }, 'span is invalid; expected a whole number from 1 to 86400'],
  [{ from: '-1' }, 'from is invalid; expected a whole number from 0 to 8640000000000000'],
] as const)('the API refuses the token query %j in one sentence', (query, error) => {
  const { status, error: found } = api.refusal(`token/${MINT}`, Object.entries(query))
  expect(status).toBe(400)
  expect(found).toMatch(error)
})
