import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
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

test.each(examples)('config/%s fits the schema', (name) => {
  expect(fits(schema, parse(readFileSync(join(root, 'config', name), 'utf8')))).toBe(true)
})

const bot = (more: object) => ({ service: 'sandbox', bots: [{ name: 'a', strategy: 'dip-buyer', ...more }] })

test.each<[string, object]>([
  ['a bot without further keys', bot({})],
  ['params of its strategy', bot({ params: { dropPercent: 15, sizeSol: 0.1 } })],
  ['a strategy of this project', bot({ strategy: 'mine', params: { inner: { n: 2 } } })],
  ['a strategy by its path', bot({ strategy: './elsewhere/other.ts', params: { inner: { n: 2 } } })],
  ['a path that was not passed', bot({ strategy: '../x.ts', params: { anything: 1 } })],
  ['a strategy that cannot be loaded', bot({ strategy: 'broken', params: { anything: 1 } })],
  ['all exits removed', bot({ exits: 'none' })],
  ['one exit removed', bot({ exits: { stopLossPercent: 'none', maxHoldSeconds: 5 } })],
])('%s fits the schema', (_what, value) => {
  expect(fits(schema, value)).toBe(true)
})

test.each<[string, object]>([
  ['an unknown key at the top', { ...bot({}), bot: [] }],
  ['an unknown key of a bot', bot({ limit: {} })],
  ['no name', { bots: [{ strategy: 'dip-buyer' }] }],
  ['an unknown strategy', bot({ strategy: 'dip-byer' })],
  ['an unknown param', bot({ params: { size: 1 } })],
  ['a param out of its range', bot({ params: { dropPercent: 95 } })],
  ['a param of another type', bot({ params: { dropPercent: '15' } })],
  ['a param of another strategy', bot({ strategy: 'momentum', params: { dropPercent: 15 } })],
  ['a wrong key deeper in the params', bot({ strategy: 'mine', params: { inner: { n: 2, m: 1 } } })],
  ['a param missing that has no default', bot({ strategy: './elsewhere/other.ts', params: {} })],
  ['an exit over 100 percent', bot({ exits: { stopLossPercent: 120 } })],
  ['a negative time', bot({ exits: { maxHoldSeconds: -1 } })],
  ['another mode', bot({ mode: 'real' })],
  ['another service', { ...bot({}), service: 'sandbx' }],
  ['a service without its address', { ...bot({}), service: { wsUrl: 'wss://x' } }],
  ['bots as a map', { service: 'sandbox', bots: { a: 1 } }],
])('%s does not fit the schema', (_what, value) => {
  expect(fits(schema, value)).toBe(false)
})

test('an editor shows the description of a strategy, and the range of an exit before the word `none`', () => {
  expect(JSON.stringify(schema)).toContain('"About mine."')
  const { properties } = schema as { properties: { defaults: { properties: Record<string, unknown> } } }
  const { anyOf } = properties.defaults.properties.exits as { anyOf: Record<string, unknown>[] }
  expect(anyOf).toMatchObject([
    { properties: { stopLossPercent: { anyOf: [{ exclusiveMaximum: 100 }, { const: 'none' }] } } },
    { const: 'none' },
  ])
})
