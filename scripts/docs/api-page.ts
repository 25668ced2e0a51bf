import { docstring, type EntryPoint, Kind, type Reflection } from './reflections.ts'
import { fieldText, signatureText, typeText } from './type-text.ts'

const INTRODUCTIONS: Readonly<Record<string, string>> = {
  sluice: 'What a strategy imports. `z` is [zod](https://zod.dev), with which a strategy declares its parameters.',
  'sluice/testing': 'What the test of a strategy imports ([how to test a strategy](test-a-strategy.md)).',
}

/** The reference of the package as one Markdown page. */
export function apiPage(entryPoints: readonly EntryPoint[]): string {
  return [
    '# API reference\n',
    'Everything that a strategy and its test can import, generated from the docstrings by `npm run docs`. Prices are in SOL',
    'for a whole token, amounts in SOL or whole tokens, percentages from 0 to 100, and times in milliseconds since the Unix',
    'epoch. [Write a strategy](write-a-strategy.md) introduces these types by use. [configuration.md](configuration.md)',
    'lists the keys of the YAML, and [errors.md](errors.md) the error codes.\n',
    ...entryPoints.flatMap(section),
  ].join('\n')
}

function section({ name, exports }: EntryPoint): string[] {
  const parts = exports.toSorted((a, b) => rank(a) - rank(b))
  const contents = parts.map((one) => `[${one.name}](#${one.name.toLowerCase()})`).join(' · ')
  return [`## ${name}\n`, `${INTRODUCTIONS[name]}\n`, `${contents}\n`, ...parts.flatMap(member)]
}

/** Order on the page: 0 for functions and constants, 1 for the types in engine/strategy.ts, 2 for all other types. */
function rank({ kind, sources }: Reflection): number {
  if (kind === Kind.function || kind === Kind.variable) return 0
  return sources?.[0]?.fileName === 'engine/strategy.ts' ? 1 : 2
}

function member(one: Reflection): string[] {
  const text = docstring(one)
  const rows = (one.children ?? []).flatMap(row)
  const table = rows.length === 0 ? [] : ['| member | meaning |', '|---|---|', ...rows, '']
  return [`### ${one.name}\n`, ...declaration(one), ...(text === '' ? [] : [`${wrapped(text)}\n`]), ...table]
}

/** Returns the declaration of a function, a constant or a type alias as a code block; empty for an interface or a
 *  class, whose members are in a table. */
function declaration(one: Reflection): string[] {
  const [signature] = one.signatures ?? []
  if (signature !== undefined) return code(`${one.name}${typeParameters(signature)}${signatureText(signature)}`)
  if (one.kind === Kind.variable) return code(`const ${one.name}: ${typeText(one.type)}`)
  if (one.kind === Kind.typeAlias) return code(`type ${one.name}${typeParameters(one)} = ${typeText(one.type)}`)
  return []
}

function typeParameters({ typeParameters = [] }: Reflection): string {
  return typeParameters.length === 0 ? '' : `<${typeParameters.map(({ name }) => name).join(', ')}>`
}

function code(text: string): string[] {
  return ['```ts', text, '```\n']
}

function row(one: Reflection): string[] {
  if (one.kind === Kind.constructor) return []
  const [signature] = one.signatures ?? []
  const field = { ...one, type: one.type ?? one.getSignature?.type } as Reflection
  const text =
    signature === undefined
      ? fieldText(field)
      : `${one.name}${one.flags.isOptional === true ? '?' : ''}${signatureText(signature)}`
  return [`| \`${text.replaceAll('|', '\\|')}\` | ${docstring(one).replaceAll('|', '\\|')} |`]
}

/** Breaks a paragraph into lines of at most 120 columns. */
function wrapped(text: string): string {
  return text.replace(/(.{1,120})(?: |$)/g, '$1\n').trimEnd()
}
