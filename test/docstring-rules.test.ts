import { expect, test } from 'vitest'
import { findingsOf } from '../scripts/docs/docstring-rules.ts'
import { Kind, type Reflection, type Type } from '../scripts/docs/reflections.ts'
import { fieldText } from '../scripts/docs/type-text.ts'

const number: Type = { type: 'intrinsic', name: 'number' }
const orUndefined = (type: Type): Type => ({ type: 'union', types: [{ type: 'intrinsic', name: 'undefined' }, type] })
const comment = (text: string, ...modifierTags: string[]) => ({ summary: [{ text }], modifierTags })

const field = (name: string, text: string, type: Type = number, ...tags: string[]): Reflection => {
  return { name, kind: Kind.property, flags: {}, type, ...(text !== '' && { comment: comment(text, ...tags) }) }
}
const method = (name: string, text: string, type: Type, ...parameters: Reflection[]): Reflection => {
  const signature = { name, kind: 4096, flags: {}, comment: comment(text), parameters, type }
  return { name, kind: Kind.method, flags: {}, signatures: [signature] }
}

const messages = (type: string, ...children: Reflection[]): string[] => {
  const exported = {
    name: type,
    kind: Kind.interface,
    flags: {},
    comment: comment('A type. `named` is 5 SOL.'),
    children,
  }
  return findingsOf([{ name: 'sluice', exports: [exported] }]).map(({ message }) => message)
}

const answer: Type = { type: 'reference', name: 'Placed' }
const inner = (...children: Reflection[]): Type => {
  return { type: 'reflection', declaration: { name: '__type', kind: 65_536, flags: {}, children } }
}

test.each<[string, string, Reflection, string[]]>([
  ['a member without a docstring', 'Bot', field('sol', ''), ['Bot.sol has no docstring']],
  ['a second member that shares the docstring of the member above it', 'Bot', field('named', ''), []],
  ['a number with its unit', 'Bot', field('sol', 'Balance, SOL.'), []],
  [
    'a number without a unit',
    'Bot',
    field('size', 'Size.'),
    ['Bot.size is a number: its docstring must name the unit, or say @unitless'],
  ],
  ['a ratio', 'Bot', field('luck', 'Draw.', number, '@unitless'), []],
  [
    'a list of numbers without a unit',
    'Bot',
    field('steps', 'Steps.', { type: 'array', elementType: number }),
    ['Bot.steps is a number: its docstring must name the unit, or say @unitless'],
  ],
  [
    'an option without its range',
    'BuyOptions',
    field('sol', 'SOL to spend.'),
    ['BuyOptions.sol is given by the user: its docstring must name the range'],
  ],
  ['an option with its range', 'BuyOptions', field('sol', 'SOL to spend, at least 0.001.'), []],
  [
    'a parameter without a unit',
    'Bot',
    method('wait', 'Waits, at most 5.', { type: 'intrinsic', name: 'void' }, field('long', '')),
    ['Bot.wait is a number: its docstring must name the unit, or say @unitless'],
  ],
  [
    'a result without a unit',
    'Bot',
    method('now', 'Time.', number),
    ['Bot.now returns a number: its docstring must name the unit, or say @unitless'],
  ],
  [
    'a function whose request may be refused, without the error codes',
    'Bot',
    method('buy', 'Buys.', answer),
    ['Bot.buy may be refused: its docstring must name the error codes'],
  ],
  [
    'a function whose request may be refused, with the error codes',
    'Bot',
    method('buy', 'Buys. Refused during the warm-up (WARMING, LANE_BUSY).', answer),
    [],
  ],
  [
    'an error code that does not exist',
    'Bot',
    method('buy', 'Buys. Refused in a busy lane (LANE_BUSI).', answer),
    ['Bot.buy names LANE_BUSI, which is no error code'],
  ],
  [
    'a value that may be undefined',
    'Bot',
    field('price', 'Price, SOL.', orUndefined(number)),
    ['Bot.price may be undefined: its docstring must say when'],
  ],
  [
    'a field of an inline result type without a docstring',
    'Bot',
    method('wallet', 'The wallet.', inner(field('sol', ''))),
    ['Bot.wallet.sol has no docstring'],
  ],
])('%s', (_what, type, member, expected) => {
  expect(messages(type, member)).toEqual(expected)
})

test('the API page shows the type of a member as in its declaration, with `undefined` at the end', () => {
  const list: Type = { type: 'array', elementType: orUndefined({ type: 'literal', value: 'buy' }) }
  expect(fieldText({ ...field('sides', '', list), flags: { isOptional: true } })).toBe("sides?: ('buy' | undefined)[]")
  expect(fieldText(field('on', '', inner(method('every', '', number, field('seconds', '')))))).toBe(
    'on: { every(seconds: number): number }',
  )
})
