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
  /** Width of the bars at whose close the condition is tested. If the condition reads several widths, it is the one
   *  that `bars` declares first. */
  readonly width: Width
}

/** Name of the condition if the strategy declares only one. */
const LONE = 'when'
const MOST_CONDITIONS = 50

/** Reads the conditions that `when` returns. `widths`: the widths of the strategy's bars, in the order of their
 *  declaration. Throws any error that `when` throws. */
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
        problem: `${textOf(unused)} is created but not returned; combine conditions with all(), any() and not(), and not with && or ||`,
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

/** Returns the parameter of `when`: an object with an operand for each indicator. */
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

/** Returns an operand that can be used as a number, and whose fields are operands too. Needed for indicators that the
 *  strategy defines itself, because it is not known yet whether their values are numbers or objects. */
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

/** Yields the test and all tests that are combined in it. */
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
      ...{ path, problem: `the condition reads '${foreign}' bars, which \`bars\` does not declare` },
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
