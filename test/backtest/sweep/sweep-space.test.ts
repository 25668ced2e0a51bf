import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { drawnFrom, gridOf, rangesOf } from '../../../src/backtest/sweep/space.ts'
import { paramBounds } from '../../../src/config/strategies.ts'
import { settingBounds } from '../../../src/config/varied-bot.ts'

const params = z.object({
  drop: z.number().min(1).max(90).default(15),
  size: z.number().min(0.001).default(0.05),
  fast: z.int().min(2).max(5).default(3),
  any: z.number().int().default(0),
  share: z.number().gt(0).lt(1).optional(),
  name: z.string().default(''),
})
const dimensions = paramBounds({ params } as never)

test('each numeric param is a possible dimension of a sweep, with the bounds that the schema sets and no others', () => {
  expect(dimensions).toEqual([
    { name: 'drop', min: 1, max: 90, isInteger: false },
    { name: 'size', min: 0.001, max: Number.POSITIVE_INFINITY, isInteger: false },
    { name: 'fast', min: 2, max: 5, isInteger: true },
    { name: 'any', min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY, isInteger: true },
    { name: 'share', min: 0, max: 1, isInteger: false },
  ])
})

describe('ranges', () => {
  test('without --range, a sweep varies every numeric param that has a minimum and a maximum', () => {
    expect(rangesOf([], dimensions).map(({ name, from, to }) => [name, from, to])).toEqual([
      ['drop', 1, 90],
      ['fast', 2, 5],
      ['share', 0, 1],
    ])
  })

  const settings = settingBounds()

  test('a range of a sweep may name a setting by its path, and may be a list of values', () => {
    const ranges = rangesOf(
      ['exits.stopLossPercent=30,10,20,10', 'limits.maxOpenPositions=1:3:1', 'drop=5,7.5'],
      dimensions,
      settings,
    )
    expect(gridOf(ranges)).toHaveLength(18)
    expect(gridOf(ranges)[0]).toEqual({ 'exits.stopLossPercent': 10, 'limits.maxOpenPositions': 1, drop: 5 })
    const [stop] = ranges
    expect(stop).toMatchObject({ from: 10, to: 30, values: [10, 20, 30] })
    for (const point of drawnFrom(ranges, 9, 1)) expect([10, 20, 30]).toContain(point['exits.stopLossPercent'])
  })

  test.each([
    [
      'exits.stopLosPercent=1,2',
      'there is no numeric setting exits.stopLosPercent; did you mean exits.stopLossPercent?',
    ],
    ['stopLossPercent=1:5', 'there is no numeric setting stopLossPercent; did you mean exits.stopLossPercent?'],
    ['limit.maxOpenPositions=1,2', 'did you mean limits.maxOpenPositions?'],
    ['exits.stopLossPercent=10:300', 'exits.stopLossPercent must be between 0.01 and 100'],
    ['limits.maxOpenPositions=1,1.5', 'limits.maxOpenPositions must be an integer'],
    ['exits.stopLossPercent=1,,2', 'expected name=a,b,c'],
    ['exits.stopLossPercent=1,x', 'expected name=a,b,c'],
    ['dropp=1,2', 'no numeric param dropp (there are drop, size, fast, any, share); did you mean drop?'],
  ])('a sweep refuses the range %s', (text, says) => {
    expect(() => rangesOf([text], dimensions, settings)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(says) }),
    )
  })

  test.each([
    ['drop', 'expected name=from:to, name=from:to:step or name=a,b,c'],
    ['drop=1:2:3:4', 'expected name=from:to'],
    ['drop=1:', 'expected name=from:to'],
    ['drop=a:2', 'expected name=from:to'],
    ['drop=1:Infinity', 'expected name=from:to'],
    ['Drop=1:2', 'the strategy has no numeric param Drop (there are drop, size, fast, any, share)'],
    ['name=1:2', 'the strategy has no numeric param name'],
    ['drop=20:10', 'expected from <= to and step >= 0'],
    ['drop=10:20:-1', 'expected from <= to and step >= 0'],
    ['drop=0:20', 'drop must be between 1 and 90'],
    ['fast=2:3:0.5', 'fast must be an integer'],
  ])('a sweep refuses the range %s', (text, says) => {
    expect(() => rangesOf([text], dimensions)).toThrow(says)
  })

  test('a sweep refuses a repeated range, and a schema without bounded numbers if no range is given', () => {
    expect(() => rangesOf(['drop=1:2', 'drop=3:4'], dimensions)).toThrow('--range drop is given twice')
    expect(() => rangesOf([], [{ name: 'any', min: 0, max: Number.POSITIVE_INFINITY, isInteger: true }])).toThrow(
      'no numeric param has a minimum and a maximum; name the ranges: --range name=from:to (there are any)',
    )
  })
})

describe('a grid', () => {
  const grid = (...texts: string[]) => gridOf(rangesOf(texts, dimensions))

  test('the grid of a sweep includes both ends of a range and has no rounding errors', () => {
    expect(grid('size=0.1:0.4:0.1', 'fast=2:4:2')).toEqual([
      { size: 0.1, fast: 2 },
      { size: 0.1, fast: 4 },
      { size: 0.2, fast: 2 },
      { size: 0.2, fast: 4 },
      { size: 0.3, fast: 2 },
      { size: 0.3, fast: 4 },
      { size: 0.4, fast: 2 },
      { size: 0.4, fast: 4 },
    ])
    expect(grid('drop=5:5')).toEqual([{ drop: 5 }])
  })

  test('a grid whose ranges have no steps has about 64 param sets, including the ends of each range', () => {
    expect(grid('drop=1:64')).toHaveLength(64)
    expect(grid('drop=1:64')[63]).toEqual({ drop: 64 })
    expect(grid('drop=10:80', 'size=1:8')).toHaveLength(64)
    expect(grid('drop=10:80', 'size=1:8', 'share=0.1:0.8')).toHaveLength(64)
    expect(grid('drop=10:80', 'fast=2:5:1')).toHaveLength(64)
    expect(grid('fast=2:5')).toEqual([2, 3, 4, 5].map((fast) => ({ fast })))
  })

  test('a sweep refuses a grid that is too large', () => {
    expect(() => grid('drop=1:90:0.0001')).toThrow('the grid has 890001 sets, at most 100000 are allowed')
  })
})

describe('random points', () => {
  const ranges = rangesOf(['drop=5:60', 'fast=2:5', 'size=0.1:0.5:0.1'], dimensions)

  test('random param sets depend on the seed, are within the ranges and are distinct', () => {
    const drawn = drawnFrom(ranges, 200, 7)
    expect(drawnFrom(ranges, 200, 7)).toEqual(drawn)
    expect(drawnFrom(ranges, 200, 8)).not.toEqual(drawn)
    expect(new Set(drawn.map((point) => JSON.stringify(point))).size).toBe(200)
    for (const { drop, fast, size } of drawn as Record<string, number>[]) {
      expect(drop).toBeGreaterThanOrEqual(5)
      expect(drop).toBeLessThanOrEqual(60)
      expect([2, 3, 4, 5]).toContain(fast)
      expect([0.1, 0.2, 0.3, 0.4, 0.5]).toContain(size)
    }
    const mean = drawn.reduce((sum, { drop = 0 }) => sum + drop, 0) / 200
    expect(Math.abs(mean - 32.5)).toBeLessThan(4)
  })

  test('a sweep has at most as many random param sets as the grid of its ranges has sets', () => {
    expect(drawnFrom(rangesOf(['fast=2:5'], dimensions), 50, 1)).toHaveLength(4)
  })
})
