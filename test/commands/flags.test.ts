import { beforeAll, describe, expect, test } from 'vitest'
import { type CatalogueEntry, catalogue } from '../../src/commands/catalogue.ts'
import type { Command, Option } from '../../src/commands/options.ts'
import { called } from '../e2e/called.ts'
import { MINT } from '../support/engine-rig.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Loaded extends CatalogueEntry {
  readonly group: string
  readonly options: Command['options']
}

const commands: Loaded[] = []

beforeAll(async () => {
  for (const [group, entries] of Object.entries(catalogue))
    for (const entry of entries) commands.push({ ...entry, group, options: (await entry.load()).command.options })
})

const namesWith = (option: string) => commands.filter(({ options }) => option in options).map(({ name }) => name)
const flagName = (name: string) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
const isFlag = ({ placeholder }: Option<unknown>) => placeholder === ''

/** Flags whose argument has different types in different commands. */
const TWO_MEANINGS: Readonly<Record<string, readonly string[]>> = {
  '--accept': ['<hash>', '<signature>'],
  '--out': ['<file>', '<folder>'],
}

test('a flag has the same argument in every command', () => {
  const shapes = Map.groupBy(
    commands.flatMap(({ options }) =>
      Object.entries(options).map(([name, { placeholder }]) => [flagName(name), placeholder] as const),
    ),
    ([flag]) => flag,
  )
  const several = [...shapes].flatMap(([flag, found]) => {
    const kinds = [...new Set(found.map(([, placeholder]) => placeholder))].sort()
    return kinds.length > 1 ? [[flag, kinds]] : []
  })
  expect(Object.fromEntries(several)).toEqual(TWO_MEANINGS)
})

describe('every command has the flags that its kind needs', () => {
  test('every command that prints a result has --json', () => {
    const without = commands.filter(({ options }) => !('json' in options)).map(({ name }) => name)
    // These commands need no --json: `schema` and the first line of `sandbox` are JSON, and `signer` prints no result.
    expect(without).toEqual(['schema', 'signer', 'sandbox'])
  })

  test('every command that reads or writes a journal has --journal, with the same default in all commands of one kind', () => {
    const without = commands.filter(({ group, options }) => group === 'Read a journal:' && !('journal' in options))
    // These commands take journals as arguments instead of `--journal`.
    expect(without.map(({ name }) => name)).toEqual(['compare', 'attribute', 'backup'])
    const defaults = commands.flatMap(({ options }) => {
      const { fallback, about } = options.journal ?? {}
      return typeof fallback === 'string' ? [fallback] : (/\(default: (.*)\)/.exec(about ?? '')?.[1] ?? [])
    })
    expect(new Set(defaults)).toEqual(new Set(['data/sluice.db', 'journal.path of the file', 'a new file in data/']))
  })

  test.each([
    [
      ['demo', 'run', 'record'],
      ['journal', 'seconds', 'speed', 'json'],
    ],
    [['demo', 'run'], ['isolate']],
    [
      ['backtest', 'sweep', 'plan-advise'],
      ['journal', 'partial', 'json'],
    ],
    [
      ['orders', 'fills', 'positions', 'round-trips'],
      ['journal', 'bot', 'since', 'last', 'columns', 'csv', 'json'],
    ],
  ])('the commands %j have the flags %j', (names, options) => {
    for (const option of options) expect(namesWith(option)).toEqual(expect.arrayContaining(names))
    for (const name of names)
      expect(Object.keys(commands.find((one) => one.name === name)?.options ?? {})).toEqual(
        expect.arrayContaining(options),
      )
  })

  test('a command to a running process selects the process by --journal and --config', () => {
    const control = commands.filter(({ group }) => group === 'Control a running process:')
    for (const { options } of control)
      expect(Object.keys(options)).toEqual(expect.arrayContaining(['journal', 'config']))
    expect(namesWith('config')).toEqual(control.map(({ name }) => name))
  })

  test('every command that may ask for a confirmation has --yes', () => {
    expect(namesWith('yes')).toEqual(['run', 'service', 'doctor', 'close-accounts', 'resolve'])
  })
})

describe('exit codes', () => {
  const folder = temporaryFolder()
  const all = Object.values(catalogue).flat()

  test.each(all.filter(({ name }) => name !== 'new').map(({ name }) => name))(
    '%s with an unknown flag exits with code 2',
    async (name) => {
      const { code, stdout } = await called([name, '--no-such-flag'], folder.path)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    },
  )

  test.each(all.filter((entry) => entry.arguments?.startsWith('<file')).map(({ name }) => name))(
    '%s of a file that does not exist exits with code 2 and names the file',
    async (name) => {
      const more: Record<string, string[]> = { import: ['--journal', 'new.db'], 'learn-builder': ['--mint', MINT] }
      const { code, stderr, stdout } = await called([name, 'missing.yaml', ...(more[name] ?? [])], folder.path)
      expect({ code, said: stderr + stdout }).toEqual({ code: 2, said: expect.stringContaining('missing.yaml') })
    },
  )

  test.each(['run', 'record'])('%s --speed with a real service exits with code 2', async (name) => {
    const service = 'service: { baseUrl: https://s.example/api, wsUrl: wss://s.example/data, apiKey: env:KEY }'
    folder.write('real.yaml', `${service}\nbots: [{ name: a, strategy: dip-buyer }]\n`)
    const { code, stderr } = await called([name, 'real.yaml', '--speed', '2'], folder.path)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--speed needs `service: sandbox`') })
  })
})

test('a flag without an argument is off unless it is given', () => {
  for (const { options } of commands)
    for (const option of Object.values(options)) if (isFlag(option)) expect(option.fallback).toBe(false)
})
