import { expect, test } from 'vitest'
import { z } from 'zod'
import { loadConfig } from '../../src/config/load.ts'
import { checkSource } from '../../src/config/source-check.ts'
import { readSourceFile } from '../../src/config/source-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const declared = (sources: string): string =>
  `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: 'x', about: '', params: z.object({}), keys: ['trades'], ${sources} start: () => ({}) })`

folder.write(
  'two.ts',
  declared('sources: { fear: { schema: z.object({}) }, leaders: { schema: z.array(z.string()) } },'),
)
folder.write('none.ts', declared(''))
folder.write('data.ndjson', '')
const both = (fear: string): string => `{ fear: ${fear}, leaders: {} }`
const FEAR = 'bots[0].sources.fear'

async function load(strategy: string, sources: string) {
  const file = folder.write(
    'bots.yaml',
    `service: sandbox\nbots:\n  - { name: a, strategy: ./${strategy}.ts${sources} }\n`,
  )
  return loadConfig([file], { cwd: folder.path })
}

test.each([
  ['none', ', sources: { fear: {} }', 'bots[0].sources.fear', 'unknown source; the strategy declares no sources'],
  [
    'two',
    ', sources: { faer: {}, fear: {}, leaders: {} }',
    'bots[0].sources.faer',
    'unknown source; the strategy declares fear, leaders; did you mean fear?',
  ],
  [
    'two',
    ', sources: { fear: {} }',
    'bots[0].sources',
    'the strategy declares the source leaders; write where its data comes from: sources: { leaders: { url: https://..., everySeconds: 60 } }',
  ],
  [
    'two',
    `, sources: ${both('{ url: "http://a.b/" }')}`,
    `${FEAR}.url`,
    'expected https://, found http:// (allowed for loopback only), or env:NAME or file:PATH',
  ],
  [
    'two',
    `, sources: ${both('{ url: "https://a.b/?api_key=1" }')}`,
    `${FEAR}.url`,
    'the address seems to contain a key: write it as env:NAME or file:PATH',
  ],
  [
    'two',
    `, sources: ${both('{ url: "https://me:1@a.b/" }')}`,
    `${FEAR}.url`,
    'the address seems to contain a key: write it as env:NAME or file:PATH',
  ],
  ['two', `, sources: ${both('{ every: 5 }')}`, `${FEAR}.every`, 'unknown key; did you mean everySeconds?'],
  [
    'two',
    `, sources: ${both('{ everySeconds: 0.5 }')}`,
    `${FEAR}.everySeconds`,
    'expected at least 1 and at most 86400 seconds, found 0.5',
  ],
  [
    'two',
    `, sources: ${both('{ file: nowhere.ndjson }')}`,
    `${FEAR}.file`,
    `no such file: ${folder.path}/nowhere.ndjson`,
  ],
])(
  'for the strategy `%s`, the configured sources `%s` are an error at %s',
  async (strategy, sources, path, message) => {
    expect(await load(strategy, sources)).toMatchObject({ ok: false, errors: [{ line: 3, path, message }] })
  },
)

test.each([
  ['two', `, sources: ${both('{ url: "https://a.b/index?limit=1", everySeconds: 5 }')}`, 'https://a.b', 5_000],
  ['two', `, sources: ${both('{ url: "env:FEAR_URL" }')}`, 'env:FEAR_URL', 60_000],
  ['two', `, sources: ${both('{ url: "http://127.0.0.1:9/x" }')}`, 'http://127.0.0.1:9', 60_000],
])('for the strategy `%s`, the configured sources `%s` are read from %s', async (strategy, sources, shown, everyMs) => {
  const loaded = await load(strategy, sources)
  const source = loaded.ok ? loaded.config.bots[0]?.sources?.fear : undefined
  expect([source?.url?.describe(), source?.everyMs]).toEqual([shown, everyMs])
})

test('the hash of a configuration includes the files of sources, but not their addresses', async () => {
  const hashOf = async (fear: string) => {
    const loaded = await load('two', `, sources: ${both(fear)}`)
    return loaded.ok && loaded.config.hash
  }
  expect(await hashOf('{ url: "env:ONE" }')).toBe(await hashOf('{}'))
  const before = await hashOf('{ file: data.ndjson }')
  expect(before).not.toBe(await hashOf('{}'))
  folder.write('data.ndjson', '{"time":1,"data":{}}')
  expect(await hashOf('{ file: data.ndjson }')).not.toBe(before)
})

test.each<[string, z.ZodType, unknown, unknown]>([
  ['drops keys that the schema does not name', z.object({ a: z.number() }), { a: 1, b: 2 }, { a: 1 }],
  ['fills in defaults', z.object({ a: z.number().default(3) }), {}, { a: 3 }],
  ['converts values as the schema requires', z.object({ a: z.coerce.number() }), { a: '1.5' }, { a: 1.5 }],
])("the check of a source's answer %s", (_what, schema, value, data) => {
  expect(checkSource(schema, value)).toEqual({ ok: true, data })
})

test.each<[string, z.ZodType, unknown, string]>([
  ['an answer with another shape', z.object({ a: z.number() }), { a: 'x' }, 'a: expected a number, found "x"'],
  [
    'a schema whose result is not JSON',
    z.iso.date().transform((text) => new Date(text)),
    '2026-01-01',
    'the schema threw: data is an instance of a class, which JSON cannot represent',
  ],
  [
    'a schema that refuses its own result',
    z.string().transform(Number),
    '5',
    'the schema does not accept its own result; let the schema only check the answer, and convert the data in onSource',
  ],
  [
    'a schema that changes its own result',
    z.number().transform((n) => n + 1),
    1,
    'the schema does not accept its own result; let the schema only check the answer, and convert the data in onSource',
  ],
  [
    'a list with an error in each entry, and shortens the text',
    z.array(z.number()),
    Array(20).fill('x'),
    `${[0, 1, 2, 3, 4].map((n) => `[${n}]: expected a number, found "x"`).join('; ')}; and 15 more`,
  ],
  [
    'an answer for which the schema throws a value that is not an Error',
    z.number().refine(() => {
      throw null
    }),
    1,
    'the schema threw: null',
  ],
])("the check of a source's answer refuses %s", (_what, schema, value, problem) => {
  expect(checkSource(schema, value)).toEqual({ ok: false, problem })
})

test.each([
  ['{"time":5,"data":{"value":1}}\n\n{"time":"2026-01-01T00:00:00Z","data":{"value":2}}\n', ''],
  [
    '{"time":5,"data":{"value":1}}\n{"time":4,"data":{"value":2}}',
    ':2: the time is earlier than the time of the line above',
  ],
  ['{"time":5,"data":{"value":"x"}}', ':1: value: expected a number, found "x"'],
  ['{"at":5}', ':1: expected {"time": ..., "data": ...}'],
  ['value,time\n', ':1: expected {"time": ..., "data": ...}'],
])('a source file with the text %j has the problem `%s`', (text, problem) => {
  const file = folder.write('values.ndjson', text)
  const read = () => readSourceFile(file, z.object({ value: z.number() }))
  if (problem === '') expect(read().map(({ time }) => time)).toEqual([5, 1_767_225_600_000])
  else expect(read).toThrow(file + problem)
})
