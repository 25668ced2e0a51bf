import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { UNIT } from '../../scripts/docs/docstring-rules.ts'
import { configSchema } from '../../src/config/json-schema.ts'
import { fits } from '../support/json-schema.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = join(import.meta.dirname, '../..')
const folder = temporaryFolder()
const examples = readdirSync(join(root, 'config')).filter((name) => /^(?!builder-policy).*\.yaml$/.test(name))
let schema: Record<string, unknown>

beforeAll(async () => {
  folder.write('strategies/broken.ts', 'export default 1')
  const own = (name: string) => `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: '${name}', about: 'About ${name}.', params: z.object({ inner: z.object({ n: z.int().min(2) }) }),
  keys: ['trades'], start: () => ({}) })`
  folder.write('strategies/mine.ts', own('mine'))
  folder.write('elsewhere/other.ts', own('other'))
  const { text, broken } = await configSchema(['./elsewhere/other.ts'], folder.path)
  expect(broken).toMatchObject([{ name: 'broken', why: expect.stringContaining('cannot be used') }])
  schema = JSON.parse(text)
})

test.each(examples)('the file config/%s fits the JSON schema of the configuration', (name) => {
  expect(fits(schema, parse(readFileSync(join(root, 'config', name), 'utf8')))).toBe(true)
})

const bot = (more: object) => ({ service: 'sandbox', bots: [{ name: 'a', strategy: 'dip-buyer', ...more }] })

test.each<[string, object]>([
  ['a bot without further keys', bot({})],
  ['a bot with params of its strategy', bot({ params: { dropPercent: 15, sizeSol: 0.1 } })],
  ['a bot with a strategy of this project', bot({ strategy: 'mine', params: { inner: { n: 2 } } })],
  ['a bot that names its strategy by a path', bot({ strategy: './elsewhere/other.ts', params: { inner: { n: 2 } } })],
  [
    'a bot that names a strategy by a path that the schema does not know',
    bot({ strategy: '../x.ts', params: { anything: 1 } }),
  ],
  ['a bot with a strategy that cannot be loaded', bot({ strategy: 'broken', params: { anything: 1 } })],
  ['a bot whose exits are all removed', bot({ exits: 'none' })],
  ['a bot with targets by age', bot({ exits: { takeProfitByAge: { 0: 50, 600: 20 } } })],
  ['a bot with one exit removed', bot({ exits: { stopLossPercent: 'none', maxHoldSeconds: 5 } })],
])('%s fits the JSON schema of the configuration', (_what, value) => {
  expect(fits(schema, value)).toBe(true)
})

test.each<[string, object]>([
  ['an unknown key at the top level', { ...bot({}), bot: [] }],
  ['an unknown key of a bot', bot({ limit: {} })],
  ['a bot without a name', { bots: [{ strategy: 'dip-buyer' }] }],
  ['an unknown strategy', bot({ strategy: 'dip-byer' })],
  ['an unknown param', bot({ params: { size: 1 } })],
  ['a param outside of its range', bot({ params: { dropPercent: 95 } })],
  ['a param with a value of the wrong type', bot({ params: { dropPercent: '15' } })],
  ['a param that belongs to another strategy', bot({ strategy: 'momentum', params: { dropPercent: 15 } })],
  ['an unknown key inside a param', bot({ strategy: 'mine', params: { inner: { n: 2, m: 1 } } })],
  ['a missing param that has no default', bot({ strategy: './elsewhere/other.ts', params: {} })],
  ['a stop-loss above 100 percent', bot({ exits: { stopLossPercent: 120 } })],
  ['a target by age whose age is not a number', bot({ exits: { takeProfitByAge: { '10m': 50 } } })],
  ['a negative holding time', bot({ exits: { maxHoldSeconds: -1 } })],
  ['an unknown mode', bot({ mode: 'real' })],
  ['an unknown service', { ...bot({}), service: 'sandbx' }],
  ['a service without its baseUrl', { ...bot({}), service: { wsUrl: 'wss://x' } }],
  ['a map in place of the list of bots', { service: 'sandbox', bots: { a: 1 } }],
])('%s does not fit the JSON schema of the configuration', (_what, value) => {
  expect(fits(schema, value)).toBe(false)
})

test('the JSON schema has the description of a strategy, and for an exit the range before the word `none`', () => {
  expect(JSON.stringify(schema)).toContain('"About mine."')
  const { properties } = schema as { properties: { defaults: { properties: Record<string, unknown> } } }
  const { anyOf } = properties.defaults.properties.exits as { anyOf: Record<string, unknown>[] }
  expect(anyOf).toMatchObject([
    { properties: { stopLossPercent: { anyOf: [{ exclusiveMaximum: 100 }, { const: 'none' }] } } },
    { const: 'none' },
  ])
})

type Schema = Readonly<Record<string, unknown>>

const branchesOf = (one: Schema): Schema[] => [one, ...((one.anyOf ?? []) as Schema[]).flatMap(branchesOf)]
const isType = (one: Schema, ...types: string[]): boolean =>
  branchesOf(one).some(
    ({ type, items }) => types.includes(type as string) || (items !== undefined && isType(items as Schema, ...types)),
  )

/** Returns every key, at any depth, whose description is missing or lacks the unit or the default. */
function unclear(schema: Schema, path: string): string[] {
  const inside = [
    ...branchesOf(schema),
    ...branchesOf(schema).flatMap(({ items }) => (items === undefined ? [] : branchesOf(items as Schema))),
  ]
  return inside.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties as Record<string, Schema>).flatMap(([name, one]) => {
      const at = `${path}${name}`
      const text = (one.description ?? '') as string
      const isSection = isType(one, 'object')
      const needsAbsence = !isSection && !(required as string[]).includes(name)
      return [
        ...(/^[`A-Z].*\.$/.test(text) ? [] : [`${at}: no description`]),
        ...(isType(one, 'number', 'integer') && !isSection && one['x-unit'] === undefined ? [`${at}: no unit`] : []),
        ...(needsAbsence && !('default' in one) && !text.includes('Without this key: ') ? [`${at}: no default`] : []),
        ...unclear(one, `${at}.`),
      ]
    }),
  )
}

test('in the JSON schema, every key has a description, every number a unit, and every optional key a default', () => {
  expect(unclear(schema, '')).toEqual([])
})

test('the search of this test finds a key without description, unit or default at any depth', () => {
  const number = { type: 'number', description: 'Size.' }
  const deep = {
    anyOf: [{ const: 'none' }, { type: 'array', items: { properties: { size: number }, required: ['size'] } }],
  }
  expect(unclear({ properties: { steps: { ...deep, description: 'Steps.' }, a: { type: 'string' } } }, '')).toEqual([
    'steps: no default',
    'steps.size: no unit',
    'a: no description',
    'a: no default',
  ])
})

test('every param of a shipped strategy has a description with the unit of its number, and a default', async () => {
  const { text } = await configSchema([], root)
  const bots = (JSON.parse(text) as { properties: { bots: { items: { allOf: Schema[] } } } }).properties.bots
  const problems = bots.items.allOf.flatMap((one) => {
    const { const: name } = ((one.if as Schema).properties as Record<string, Schema>).strategy as Schema
    const params = ((one.then as Schema).properties as Record<string, Schema>).params as Schema
    return Object.entries((params.properties ?? {}) as Record<string, Schema>).flatMap(([key, param]) => {
      const text = (param.description ?? '') as string
      return [
        ...(text === '' ? [`${name}.${key}: no description`] : []),
        ...(isType(param, 'number', 'integer') && !UNIT.test(text) ? [`${name}.${key}: no unit`] : []),
        ...('default' in param ? [] : [`${name}.${key}: no default`]),
      ]
    })
  })
  expect(problems).toEqual([])
})
