import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { installHere, projectIn } from './project.ts'

const folder = temporaryFolder()
const empty = projectIn(folder.path)
const project = projectIn(join(folder.path, 'My Bots'))
const read = (name: string) => readFileSync(join(project.folder, name), 'utf8')

test('init writes a project whose check and tests pass, once', () => {
  const made = empty.sluice('init', 'My Bots')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const files = readdirSync(project.folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\./.test(name))
  expect(made.stdout.split('\n\n')[0]?.split('\n').sort()).toEqual(files.sort())
  const manifest = JSON.parse(read('package.json'))
  expect(manifest).toMatchObject({ name: 'my-bots', private: true, type: 'module' })
  // Nobody else may own what `npm install` brings: what is not of a registry is named by its place.
  expect(manifest.dependencies.sluice).toMatch(/^file:\/.*\/sluice-\d+\.\d+\.\d+\.tgz$/)
  for (const version of Object.values(manifest.devDependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)

  const checked = project.sluice('check', 'bots.yaml', '--json')
  expect(JSON.parse(checked.stdout)).toMatchObject({ ok: true, errors: [], bots: [{ name: 'first' }] })
  expect(project.sluice('check', 'bots.yaml').stdout).not.toContain('second look')
  expect(read('bots.yaml').split('\n')[0]).toBe('# yaml-language-server: $schema=./sluice.schema.json')
  expect(JSON.parse(read('sluice.schema.json')).title).toBe('A configuration of Sluice')

  installHere(project)
  expect(project.node('--test', 'strategies/**/*.test.ts')).toMatchObject({ code: 0 })
  const again = projectIn(folder.path).sluice('init', 'My Bots')
  expect(again).toMatchObject({ code: 2, stdout: '' })
  expect(again.stderr).toContain('package.json is there already, left as it is')
})

test('init leaves what is there', () => {
  const mine = '{"dependencies":{}}'
  folder.write('other/package.json', mine)
  const made = projectIn(join(folder.path, 'other')).sluice('init')
  expect(made).toMatchObject({ code: 0, stderr: 'sluice: package.json is there already, left as it is\n' })
  expect(readFileSync(join(folder.path, 'other/package.json'), 'utf8')).toBe(mine)
  expect(projectIn(join(import.meta.dirname, '../..')).sluice('init')).toMatchObject({ code: 2 })
})

test('new strategy writes one that passes its test, and the schema then knows it', () => {
  const made = project.sluice('new', 'strategy', 'fast-dips')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toContain('strategies/fast-dips.ts\nstrategies/fast-dips.test.ts\n')
  expect(project.node('--test', 'strategies/fast-dips.test.ts')).toMatchObject({ code: 0 })
  expect(project.sluice('schema', '--out', 'sluice.schema.json')).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(read('sluice.schema.json')).toContain('"const": "fast-dips"')

  folder.write('vitest/package.json', '{"devDependencies":{"vitest":"5.1.0"}}')
  const withVitest = projectIn(join(folder.path, 'vitest'))
  expect(withVitest.sluice('new', 'strategy', 'a')).toMatchObject({ code: 0 })
  expect(readFileSync(join(withVitest.folder, 'strategies/a.test.ts'), 'utf8')).toContain(
    "import { test } from 'vitest'",
  )
  folder.write('own/package.json', '{"name":"sluice"}')
  const own = projectIn(join(folder.path, 'own'))
  expect(own.sluice('new', 'strategy', 'a').stdout).toContain('Next: npm test -- test/strategies/a.test.ts')
  expect(readFileSync(join(own.folder, 'test/strategies/a.test.ts'), 'utf8')).toContain("'../../strategies/a.ts'")
})

test.each<[string, string[], string]>([
  ['a name with capitals', ['strategy', 'Foo'], 'Foo is no name for a strategy'],
  ['a path', ['strategy', '../x'], '../x is no name for a strategy'],
  ['one that there is', ['strategy', 'my-strategy'], 'there is a strategy my-strategy already'],
  ['one that is shipped', ['strategy', 'momentum'], 'there is a strategy momentum already'],
  ['something else', ['bot', 'x'], 'what is new?'],
])('new: %s is refused', (_what, args, why) => {
  const ended = project.sluice('new', ...args)
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr).toContain(why)
})

test('new: a test that is there is not overwritten, and neither half is written', () => {
  folder.write('My Bots/strategies/lone.test.ts', 'mine')
  expect(project.sluice('new', 'strategy', 'lone').stderr).toContain('strategies/lone.test.ts is there already')
  expect(existsSync(join(project.folder, 'strategies/lone.ts'))).toBe(false)
  expect(empty.sluice('new', 'strategy', 'x').stderr).toContain('there is no package.json here')
})
