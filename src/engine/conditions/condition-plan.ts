import type { Width } from '../../market/bar-width.ts'
import type { Indicator } from '../indicators/indicator.ts'
import { NumberIndicator } from '../indicators/number-indicator.ts'
import { FlawError, type PlanFlaw } from '../plan-flaw.ts'
import {
  isOperand,
  type Operand,
  operand,
  recordTests,
  refuseValue,
  shown,
  type Term,
  type Test,
  testOf,
  textOf,
} from './condition.ts'

/** A condition of a strategy. */
export interface ConditionPlan {
  readonly name: string
  readonly test: Test
  /** Width at whose bars the condition is tested: the first of the condition's widths in the order of `bars`. */
  readonly width: Width
}

/** Name of the condition of a strategy that declares only one. */
const LONE = 'when'
const MOST_CONDITIONS = 50

/** Reads the conditions that `when` returns. `widths`: those of the strategy's bars, in their order. Throws what `when`
 *  throws. */
export function readConditions(
  when: (operands: object) => unknown,
  indicators: ReadonlyMap<string, Indicator<unknown>>,
  widths: readonly Width[],
  flaws: PlanFlaw[],
): ConditionPlan[] {
  try {
    const { result, tests } = recordTests(() => when(operandsOf(indicators)))
    const named = namedTests(result)
    const used = new Set(named.flatMap(({ test }) => [...partsOf(test)]))
    const unused = tests.find((test) => !used.has(test))
    if (unused !== undefined)
      throw new FlawError({
        path: ['when'],
        problem: `${textOf(unused)} is not part of the result; combine conditions with all, any and not, not with && or ||`,
      })
    return named.map(({ name, path, test }) => ({ name, test, width: widthOf(path, test, indicators, widths) }))
  } catch (error) {
    if (!(error instanceof FlawError)) throw error
    flaws.push(error.flaw)
    return []
  }
}

interface NamedTest {
  readonly name: string
  readonly path: readonly string[]
  readonly test: Test
}

function namedTests(result: unknown): NamedTest[] {
  const lone = testOf(result)
  if (lone !== undefined) return [{ name: LONE, path: ['when'], test: lone }]
  const isRecord = typeof result === 'object' && result !== null && !Array.isArray(result) && !isOperand(result)
  const named = isRecord ? Object.entries(result) : []
  const expected = 'expected a condition such as crosses(fast, slow), or conditions by name'
  if (named.length === 0) throw new FlawError({ path: ['when'], problem: `${expected}, got ${shown(result)}` })
  if (named.length > MOST_CONDITIONS)
    throw new FlawError({ path: ['when'], problem: `expected at most ${MOST_CONDITIONS} conditions` })
  return named.map(([name, value]) => {
    const test = testOf(value)
    const path = ['when', name]
    if (test !== undefined) return { name, path, test }
    throw new FlawError({ path, problem: `expected a condition such as crosses(fast, slow), got ${shown(value)}` })
  })
}

/** The parameter of `when`: an operand for each indicator. */
function operandsOf(indicators: ReadonlyMap<string, Indicator<unknown>>): object {
  const known = new Map([...indicators].map(([name, indicator]) => [name, indicatorOperand(name, indicator)]))
  return new Proxy({}, { get: (_target, name) => namedOf(known, name, ['when'], 'indicator') })
}

function indicatorOperand(name: string, indicator: Indicator<unknown>): object {
  const fieldOf = (field: string): Operand => operand({ kind: 'indicator', name, field })
  if (!(indicator instanceof NumberIndicator)) return withFields(fieldOf(''), fieldOf)
  if (indicator.fields.length === 0) return fieldOf('')
  const known = new Map(indicator.fields.map((field) => [field, fieldOf(field)]))
  return new Proxy(Object.fromEntries(known), {
    get: (_target, field) => namedOf(known, field, ['when'], `value of the indicator ${name}`),
  })
}

/** An operand that may also have fields, because the values of an author's own indicator are not known yet. */
function withFields(lone: Operand, fieldOf: (field: string) => Operand): Operand {
  const base = Object.getPrototypeOf(lone) as object
  const fields = new Proxy(base, {
    get: (target, field) => (typeof field === 'string' ? fieldOf(field) : Reflect.get(target, field)),
  })
  return Object.setPrototypeOf(lone, fields) as Operand
}

function namedOf(known: ReadonlyMap<string, object>, name: string | symbol, path: string[], what: string): unknown {
  if (name === Symbol.toPrimitive) return refuseValue
  if (typeof name === 'symbol') return undefined
  const found = known.get(name)
  if (found !== undefined) return found
  const names = [...known.keys()]
  const all = names.length === 0 ? 'there is none' : `expected ${names.join(', ')}`
  throw new FlawError({ path, problem: `unknown ${what} '${name}'; ${all}`, word: name, right: names })
}

/** The test itself, and all tests and operands that it consists of. */
function* partsOf(test: Test): Generator<Test, void, undefined> {
  yield test
  if ('of' in test) for (const part of test.of) yield* partsOf(part)
}

function widthOf(
  path: readonly string[],
  test: Test,
  indicators: ReadonlyMap<string, Indicator<unknown>>,
  widths: readonly Width[],
): Width {
  const read = new Set<Width>()
  for (const part of partsOf(test))
    if ('left' in part)
      for (const term of [...leavesOf(part.left), ...leavesOf(part.right)])
        if (term.kind === 'figure') read.add(term.width)
        else if (term.kind === 'indicator') read.add((indicators.get(term.name) as Indicator<unknown>).width)
  const foreign = [...read].find((width) => !widths.includes(width))
  if (foreign !== undefined)
    throw new FlawError({
      ...{ path, problem: `it reads '${foreign}' bars, which \`bars\` does not declare` },
      ...{ word: foreign, right: widths },
    })
  const first = widths.find((width) => read.has(width))
  if (first === undefined)
    throw new FlawError({ path, problem: 'the condition reads neither an indicator nor a figure of a bar' })
  return first
}

function* leavesOf(term: Term): Generator<Term, void, undefined> {
  if (!('left' in term)) yield term
  else {
    yield* leavesOf(term.left)
    yield* leavesOf(term.right)
  }
}
