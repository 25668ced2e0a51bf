import type { Width } from '../../market/bar-width.ts'
import { type BarFigure, type Indicator, type Indicators, readFigure } from '../indicators/indicator.ts'

/** A number that a condition reads at each bar: the value of an indicator, a figure of a bar, or a result of
 *  arithmetic. */
export interface Operand {
  /** Distinguishes an operand from a condition. */
  readonly expression: 'number'
}

/** A condition over indicators and bars of a token. Its result is true, false or unknown. The result is unknown while a
 *  value that it depends on is missing. */
export interface Condition {
  /** Distinguishes a condition from an operand. */
  readonly expression: 'condition'
}

/** What the strategy's `when` returns: one condition, or conditions by name. */
export type Conditions = Condition | Readonly<Record<string, Condition>>

/** Names of conditions as `onCondition` receives them. The name of a single condition is `when`. */
export type ConditionName<C> = C extends Condition ? 'when' : Extract<keyof C, string>

/** The indicators of a strategy as `when` receives them, by name. If an indicator has several values, each value is an
 *  operand of its own: `bands.lower`. */
export type Operands<I extends Indicators> = {
  readonly [K in keyof I]: I[K] extends Indicator<infer V> ? OperandOf<V> : never
}

/** What `when` receives for an indicator whose value has the type `V`. */
export type OperandOf<V> = V extends number
  ? Operand
  : V extends object
    ? { readonly [F in keyof V as V[F] extends number ? F : never]: Operand }
    : never

/** The content of an operand. The `field` of an indicator with a single value is ''. */
export type Term =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'indicator'; readonly name: string; readonly field: string }
  | { readonly kind: 'figure'; readonly width: Width; readonly figure: BarFigure }
  | { readonly kind: Arithmetic; readonly left: Term; readonly right: Term }

export type Arithmetic = 'plus' | 'minus' | 'times' | 'over'
export type Crossing = 'crosses' | 'crossesAbove' | 'crossesBelow'

export type Test =
  | { readonly kind: 'above' | 'below' | Crossing; readonly left: Term; readonly right: Term }
  | { readonly kind: 'all' | 'any' | 'not'; readonly of: readonly Test[] }

/** The object that a strategy gets for an operand or a condition. A comparison such as `fast > slow` would convert it
 *  to a primitive, which throws. */
class Expression<E extends 'number' | 'condition'> {
  readonly expression: E
  readonly #node: Term | Test

  constructor(expression: E, node: Term | Test) {
    this.expression = expression
    this.#node = node
  }

  /** Returns the content of `value` if it is an `Expression` whose kind is `expression`; otherwise undefined. */
  static nodeOf(value: unknown, expression: 'number' | 'condition'): unknown {
    if (typeof value !== 'object' || value === null || !(#node in value)) return undefined
    return value.expression === expression ? value.#node : undefined
  }

  [Symbol.toPrimitive](): never {
    return refuseValue()
  }
}

/** Throws an error that explains to the author of a strategy why an operand cannot be converted to a number or a
 *  boolean, as `fast > slow` does. */
export function refuseValue(): never {
  throw new TypeError(
    'an operand of `when` has no value of its own: ' +
      'write above(a, b) for a > b, times(a, 2) for a * 2, all(a, b) for a && b',
  )
}

/** All conditions that were created since `recordTests` began. With this list, an error can name a condition that
 *  `when` created but did not return. */
let made: Test[] = []

/** Runs `when`. Returns its result and the conditions that it created. */
export function recordTests<T>(run: () => T): { readonly result: T; readonly tests: readonly Test[] } {
  made = []
  const result = run()
  const tests = made
  made = []
  return { result, tests }
}

export function operand(term: Term): Operand {
  return new Expression('number' as const, term)
}

function condition(test: Test): Condition {
  made.push(test)
  return new Expression('condition' as const, test)
}

/** Returns the content of a condition; undefined for any other value. */
export function testOf(value: unknown): Test | undefined {
  return Expression.nodeOf(value, 'condition') as Test | undefined
}

export function isOperand(value: unknown): boolean {
  return Expression.nodeOf(value, 'number') !== undefined
}

/** Figure of the newest bar of a width: `figure('1m', 'volumeSol')`. `bars` of the strategy must declare the width.
 *  Throws RangeError for another figure. */
export function figure(width: Width, of: BarFigure = 'close'): Operand {
  readFigure(of, 'figure')
  return operand({ kind: 'figure', width, figure: of })
}

/** Whether `left` is larger than `right`, both in the same unit. Throws TypeError for a value that is neither operand
 *  nor number. @unitless */
export function above(left: Operand | number, right: Operand | number): Condition {
  return condition({ kind: 'above', ...sides('above', left, right) })
}

/** Whether `left` is smaller than `right`, both in the same unit. Throws TypeError for a value that is neither operand
 *  nor number. @unitless */
export function below(left: Operand | number, right: Operand | number): Condition {
  return condition({ kind: 'below', ...sides('below', left, right) })
}

/** Whether `left` is larger than `right` at this bar of the token, and was not larger at its previous bar. Throws
 *  TypeError for a value that is neither operand nor number. @unitless */
export function crossesAbove(left: Operand | number, right: Operand | number): Condition {
  return condition({ kind: 'crossesAbove', ...sides('crossesAbove', left, right) })
}

/** Whether `left` is smaller than `right` at this bar of the token, and was not smaller at its previous bar. Throws
 *  TypeError for a value that is neither operand nor number. @unitless */
export function crossesBelow(left: Operand | number, right: Operand | number): Condition {
  return condition({ kind: 'crossesBelow', ...sides('crossesBelow', left, right) })
}

/** Whether `left` crosses `right` in either direction, both in the same unit. Throws TypeError for a value that is
 *  neither operand nor number. @unitless */
export function crosses(left: Operand | number, right: Operand | number): Condition {
  return condition({ kind: 'crosses', ...sides('crosses', left, right) })
}

/** Whether all conditions are true. Throws TypeError for a value that is no condition. */
export function all(...conditions: Condition[]): Condition {
  return condition({ kind: 'all', of: testsOf('all', conditions) })
}

/** Whether at least one condition is true. Throws TypeError for a value that is no condition. */
export function any(...conditions: Condition[]): Condition {
  return condition({ kind: 'any', of: testsOf('any', conditions) })
}

/** Whether the condition is false. If the condition is unknown, the result is also unknown. Throws TypeError for a
 *  value that is no condition. */
export function not(of: Condition): Condition {
  return condition({ kind: 'not', of: testsOf('not', [of]) })
}

/** Sum of two operands. Throws TypeError for a value that is neither operand nor number. @unitless */
export function plus(left: Operand | number, right: Operand | number): Operand {
  return operand({ kind: 'plus', ...sides('plus', left, right) })
}

/** Difference of two operands. Throws TypeError for a value that is neither operand nor number. @unitless */
export function minus(left: Operand | number, right: Operand | number): Operand {
  return operand({ kind: 'minus', ...sides('minus', left, right) })
}

/** Product of two operands. Throws TypeError for a value that is neither operand nor number. @unitless */
export function times(left: Operand | number, right: Operand | number): Operand {
  return operand({ kind: 'times', ...sides('times', left, right) })
}

/** Quotient of two operands; unknown if `right` is 0. Throws TypeError for a value that is neither operand nor number.
 *  @unitless */
export function over(left: Operand | number, right: Operand | number): Operand {
  return operand({ kind: 'over', ...sides('over', left, right) })
}

function sides(name: string, left: unknown, right: unknown): { readonly left: Term; readonly right: Term } {
  return { left: termOf(name, left), right: termOf(name, right) }
}

function termOf(name: string, value: unknown): Term {
  if (typeof value === 'number' && !Number.isNaN(value)) return { kind: 'number', value }
  const term = Expression.nodeOf(value, 'number') as Term | undefined
  if (term !== undefined) return term
  throw new TypeError(`${name}: expected an indicator, a figure of a bar or a number, got ${shown(value)}`)
}

function testsOf(name: string, values: readonly unknown[]): Test[] {
  if (values.length === 0) throw new TypeError(`${name}: expected at least one condition`)
  return values.map((value) => {
    const test = testOf(value)
    if (test !== undefined) return test
    throw new TypeError(`${name}: expected a condition such as above(fast, slow), got ${shown(value)}`)
  })
}

/** Returns a text for a value that an author passed in place of an expression. */
export function shown(value: unknown): string {
  if (testOf(value) !== undefined) return 'a condition'
  if (isOperand(value)) return 'an operand such as an indicator'
  if (typeof value === 'object' && value !== null) {
    const fields = Array.isArray(value) ? [] : Object.keys(value)
    return fields.length > 0 && fields.length <= 5 ? `an object with ${fields.join(', ')}` : 'an object'
  }
  return typeof value === 'function' ? 'a function' : String(value).slice(0, 60)
}

/** Returns a condition or an operand as an author writes it, for messages. */
export function textOf(node: Test | Term): string {
  switch (node.kind) {
    case 'number':
      return String(node.value)
    case 'indicator':
      return node.field === '' ? node.name : `${node.name}.${node.field}`
    case 'figure':
      return `figure('${node.width}', '${node.figure}')`
    case 'all':
    case 'any':
    case 'not':
      return `${node.kind}(${node.of.map(textOf).join(', ')})`
    default:
      return `${node.kind}(${textOf(node.left)}, ${textOf(node.right)})`
  }
}
