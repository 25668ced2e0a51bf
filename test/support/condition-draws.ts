import fc from 'fast-check'
import type { Tree } from './condition-tree.ts'

const kept = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.record({ keep: fc.integer({ min: 1, max: 40 }), silent: fc.constantFrom('fill', 'gap') }),
)

/**
 * Returns random conditions on bars of these widths. Operands that are compared have the same unit, so that many
 * conditions are true at some bars. `hasOwnCode`: whether they may read an indicator that the strategy defines itself.
 */
function conditionsOver(widths: readonly string[], hasOwnCode: boolean): fc.Arbitrary<Tree> {
  const width = fc.constantFrom(...widths)
  const price = fc.oneof(
    fc.tuple(fc.constant('figure'), width, fc.constantFrom('open', 'high', 'low', 'close')),
    ...['ema', 'sma'].map((name) => width.map((of) => ['value', `${name} ${of}`, ''] as const)),
    fc
      .tuple(width, fc.constantFrom('lower', 'middle', 'upper'))
      .map(([of, field]) => ['value', `bands ${of}`, field] as const),
  )
  const change = fc
    .tuple(width, fc.constantFrom('macd', 'signal', 'histogram'))
    .map(([of, field]) => ['value', `macd ${of}`, field] as const)
  const count = fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    width.map((of) => ['value', `${hasOwnCode ? 'rising' : 'volume'} ${of}`, ''] as const),
    fc.tuple(fc.constant('figure'), width, fc.constantFrom('trades', 'buys', 'sells', 'volumeSol')),
    width.map((of) => ['value', `volume ${of}`, ''] as const),
    fc.tuple(fc.constant('over'), price, price),
  )
  const sum = fc.oneof(
    price,
    fc.tuple(fc.constant('plus'), price, change),
    fc.tuple(fc.constant('times'), price, count),
  )
  const difference = fc.oneof(change, fc.constant(0), fc.tuple(fc.constant('minus'), price, price))
  const pair = fc.oneof(fc.tuple(sum, sum), fc.tuple(difference, difference), fc.tuple(count, count))
  const kind = fc.constantFrom('above', 'below', 'crosses', 'crossesAbove', 'crossesBelow')
  const comparison = fc.tuple(kind, pair).map(([of, [a, b]]) => [of, a, b] as const)
  return fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { weight: 3, arbitrary: comparison as fc.Arbitrary<Tree> },
      { weight: 1, arbitrary: tie('tree').map((part) => ['not', part] as const) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom('all', 'any'), fc.array(tie('tree'), { minLength: 1, maxLength: 3 }))
          .map(([of, parts]) => [of, ...parts] as const),
      },
    ),
  })).tree
}

/** Returns whether a tree reads a figure or an indicator of a bar. */
const reads = (tree: Tree): boolean => /figure|value/.test(JSON.stringify(tree))

const widthsDrawn = fc.uniqueArray(fc.constantFrom('1s', '7s', '15s', '1m', '1 trade', '10 trades', '0.5 SOL'), {
  minLength: 1,
  maxLength: 3,
})

function paramsOver(widths: readonly string[], hasOwnCode: boolean) {
  return fc.record({
    bars: fc.record(Object.fromEntries(widths.map((width) => [width, kept]))),
    window: fc.integer({ min: 2, max: 6 }),
    conditions: fc
      .array(conditionsOver(widths, hasOwnCode).filter(reads), { minLength: 3, maxLength: 6 })
      // The last condition is true at each bar, so that the strategy of every run records something.
      .map((trees) => [...trees, ['above', ['figure', widths[0] as string, 'close'], 0] as const])
      .map((trees) => Object.fromEntries(trees.map((tree, index) => [`c${index}`, tree]))),
  })
}

/**
 * Random params of the strategy in condition-teller.ts: widths, and conditions on bars of these widths and their
 * indicators.
 */
export const conditionParams = fc
  .tuple(widthsDrawn, fc.boolean())
  .chain(([widths, hasOwnCode]) => paramsOver(widths, hasOwnCode))

/** Random params of several bots with bars of the same widths. */
export const sharedParams = widthsDrawn.chain((widths) =>
  fc.array(
    fc.boolean().chain((hasOwnCode) => paramsOver(widths, hasOwnCode)),
    { minLength: 2, maxLength: 4 },
  ),
)
