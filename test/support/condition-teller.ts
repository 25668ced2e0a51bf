import {
  above,
  all,
  any,
  type BarFigure,
  type BarPlan,
  below,
  bollinger,
  type Condition,
  crosses,
  crossesAbove,
  crossesBelow,
  defineStrategy,
  ema,
  figure,
  type Indicator,
  macd,
  minus,
  not,
  type Operand,
  over,
  plus,
  sma,
  type Token,
  times,
  type Width,
  z,
} from 'sluice'
import type { Tree } from './condition-tree.ts'

const FUNCTIONS = { above, below, crosses, crossesAbove, crossesBelow, all, any, not, plus, minus, times, over }

/**
 * Returns an indicator that the strategy defines itself: the number of successive bars with a rising close.
 */
const rising = (width: Width): Indicator<number> => ({
  width,
  create() {
    let last: number | undefined
    let value: number | undefined
    return {
      add({ close }) {
        if (last !== undefined) value = close > last ? (value ?? 0) + 1 : 0
        last = close
      },
      get value() {
        return value
      },
    }
  },
})

type Named = Readonly<Record<string, Operand & Readonly<Record<string, Operand>>>>

/** Builds a condition from its tree with the functions of the API, as an author of a strategy does in `when`. */
function built(tree: Tree, named: Named): Operand | Condition | number {
  if (typeof tree === 'number') return tree
  const [kind, ...parts] = tree as [string, ...Tree[]]
  if (kind === 'figure') return figure(parts[0] as Width, parts[1] as BarFigure)
  if (kind === 'value') {
    const operand = named[parts[0] as string] as Named[string]
    return parts[1] === '' ? operand : (operand[parts[1] as string] as Operand)
  }
  const make = FUNCTIONS[kind as keyof typeof FUNCTIONS] as (...of: unknown[]) => Operand | Condition
  return make(...parts.map((part) => built(part, named)))
}

/**
 * Tests the conditions without the functions of the API, as an author of a strategy could do in `onBar`.
 */
class ByHand {
  readonly #last = new Map<string, number | undefined>()

  /** Returns whether a condition is true; undefined if a value is missing. `tree`: the condition or a part of it.
   *  `path`: the place of the part. */
  test(tree: Tree, token: Token<undefined, never>, path: string): boolean | undefined {
    const [kind, ...parts] = tree as [string, ...Tree[]]
    if (kind === 'all' || kind === 'any') {
      const results = parts.map((part, index) => this.test(part, token, `${path}.${index}`))
      const decisive = kind === 'any'
      return results.includes(decisive) ? decisive : results.includes(undefined) ? undefined : !decisive
    }
    if (kind === 'not') {
      const result = this.test(parts[0] as Tree, token, path)
      return result === undefined ? undefined : !result
    }
    const [a, b] = parts.map((part) => number(part, token)) as [number | undefined, number | undefined]
    const order = a === undefined || b === undefined ? undefined : Math.sign(a - b)
    if (kind === 'above') return order === undefined ? undefined : (a as number) > (b as number)
    if (kind === 'below') return order === undefined ? undefined : (a as number) < (b as number)
    const key = `${token.mint} ${path}`
    const before = this.#last.get(key)
    this.#last.set(key, a === undefined || b === undefined ? undefined : a > b ? 1 : a < b ? -1 : 0)
    const now = this.#last.get(key)
    if (now === undefined || before === undefined) return undefined
    const isUp = now === 1 && before !== 1
    const isDown = now === -1 && before !== -1
    return kind === 'crosses' ? isUp || isDown : kind === 'crossesAbove' ? isUp : isDown
  }
}

function number(tree: Tree, token: Token<undefined, never>): number | undefined {
  if (typeof tree === 'number') return tree
  const [kind, ...parts] = tree as [string, ...Tree[]]
  if (kind === 'figure') return token.bars(parts[0] as Width).at(-1)?.[parts[1] as BarFigure]
  if (kind === 'value') {
    const value = (token.indicators as Record<string, unknown>)[parts[0] as string]
    return (parts[1] === '' ? value : (value as Record<string, number> | undefined)?.[parts[1] as string]) as number
  }
  const [a, b] = parts.map((part) => number(part, token)) as [number | undefined, number | undefined]
  if (a === undefined || b === undefined || (kind === 'over' && b === 0)) return undefined
  return { plus: a + b, minus: a - b, times: a * b, over: a / b }[kind]
}

function widthsIn(tree: Tree): string[] {
  if (typeof tree !== 'object') return []
  const [kind, ...parts] = tree
  if (kind === 'figure') return [parts[0] as string]
  if (kind === 'value') return [(parts[0] as string).split(' ').slice(1).join(' ')]
  return parts.flatMap(widthsIn)
}

/**
 * A strategy for tests. The param `conditions` has its conditions. The strategy records with `bot.note` each bar at
 * which a condition is true, and buys at some of these bars. With `byHand`, it tests the conditions itself in `onBar`.
 */
export default defineStrategy({
  name: 'condition-teller',
  about: 'Writes a note for each bar at which one of its conditions is true.',
  params: z.object({
    bars: z.record(z.string(), z.union([z.number(), z.object({ keep: z.number(), silent: z.enum(['fill', 'gap']) })])),
    window: z.number().default(3),
    conditions: z.record(z.string(), z.any()),
    byHand: z.boolean().default(false),
    /** Number of the true condition at which the strategy throws; never if 0. */
    throwsAt: z.number().default(0),
    /** The strategy buys at every n-th true condition; never if 0. */
    buysEvery: z.number().default(0),
    /** Whether the strategy calls `bot.note`. */
    notes: z.boolean().default(true),
    /** Whether the strategy has a handler of trades, which does nothing. */
    handlesTrades: z.boolean().default(false),
  }),
  keys: ['trades'],
  warmup: 86_400,
  exits: { stopLossPercent: 10, takeProfitPercent: 10, maxHoldSeconds: 60 },
  bars: ({ bars }) => bars as BarPlan,
  // An indicator that the strategy defines itself is declared only if a condition reads it, because the conditions of a
  // bot with such an indicator are tested apart from those of other bots.
  indicators: ({ bars, window, conditions }) => {
    const readsOwn = JSON.stringify(conditions).includes('"rising ')
    return Object.fromEntries(
      (Object.keys(bars) as Width[]).flatMap((width): [string, Indicator<unknown>][] => [
        [`ema ${width}`, ema(width, window)],
        [`sma ${width}`, sma(width, window + 2)],
        [`volume ${width}`, sma(width, window, 'volumeSol')],
        [`bands ${width}`, bollinger(width, window, 1)],
        [`macd ${width}`, macd(width, window, window + 3, 2)],
        ...(readsOwn ? [[`rising ${width}`, rising(width)] as [string, Indicator<unknown>]] : []),
      ]),
    )
  },
  when: (named, { bars, conditions, byHand }) =>
    byHand
      ? { never: above(figure(Object.keys(bars)[0] as Width), Number.POSITIVE_INFINITY) }
      : Object.fromEntries(
          Object.entries(conditions).map(([name, tree]) => [name, built(tree as Tree, named as never) as Condition]),
        ),
  start: ({ bars, conditions, byHand, throwsAt, buysEvery, notes, handlesTrades }, bot) => {
    const hand = new ByHand()
    let [count, told] = [0, 0]
    const held = (name: string, bar: object, token: Token<undefined, never>): void => {
      if (++told === throwsAt) throw new Error('as the test wants')
      if (notes) bot.note(token.mint, `${name} ${JSON.stringify(bar)} ${JSON.stringify(token.indicators)}`)
      if (buysEvery > 0 && ++count % buysEvery === 0) bot.buy(token, { sol: 0.05, reason: `${name} ${count}` })
    }
    const widthOf = (tree: Tree): string | undefined =>
      Object.keys(bars).find((width) => widthsIn(tree).includes(width))
    return {
      onCondition: (bar, token, name) => held(name, bar, token as never),
      ...(handlesTrades && { onTrade() {} }),
      ...(byHand && {
        onBar(bar, token) {
          const own = Object.entries(conditions).filter(([, tree]) => widthOf(tree as Tree) === bar.width)
          const results = own.map(([name, tree]) => ({ name, result: hand.test(tree as Tree, token as never, name) }))
          for (const { name, result } of results) if (result === true) held(name, bar, token as never)
        },
      }),
    }
  },
})
