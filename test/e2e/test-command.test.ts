import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Project } from './project.ts'
import { until } from './until.ts'

const ROOT = join(import.meta.dirname, '../..')
const folder = temporaryFolder()
const project = new Project(join(folder.path, 'bots'))

/** Returns a test file that needs no strategy, because only the runner is tested. */
const testOf = (body: string, runner = 'node:test'): string =>
  `import assert from 'node:assert/strict'\nimport { test } from '${runner}'\ntest('the title', () => {\n${body}\n})\n`

const write = (name: string, text: string): string => folder.write(join('bots', name), text)

beforeAll(() => {
  write('package.json', '{"type":"module"}')
  project.install()
  mkdirSync(join(project.folder, 'strategies'))
})

test('`sluice test` exits with 0 if every test passes and with 1 if one fails, and prints the output of the runner', () => {
  write('strategies/good.test.ts', testOf('assert.equal(1, 1)'))
  const good = project.process('test')
  expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/✔ the title.*pass 1\n/s) })
  write('strategies/deep/bad.test.ts', testOf("assert.equal('was', 'is')"))
  const bad = project.process('test')
  expect(bad).toMatchObject({ code: 1, stdout: expect.stringMatching(/✖ the title.*pass 1\n.*fail 1\n/s) })
  expect(project.process('test', 'strategies/deep', '--json')).toMatchObject({
    ...{ code: 1, stdout: '{"files":1,"passed":false}\n', stderr: expect.stringContaining('✖ the title') },
  })
  expect(project.process('test', 'strategies/good.test.ts', '--json').stdout).toBe('{"files":1,"passed":true}\n')
})

test('`sluice test --update` lets matchGolden write its file', () => {
  write('strategies/updates.test.ts', testOf("assert.equal(process.env.SLUICE_UPDATE_GOLDEN, '1')"))
  expect(project.process('test', 'strategies/updates.test.ts')).toMatchObject({ code: 1 })
  expect(project.process('test', 'strategies/updates.test.ts', '--update')).toMatchObject({ code: 0 })
})

test('`sluice test` runs a test file that imports vitest in the vitest of the project', () => {
  const file = 'strategies/other.test.ts'
  write(file, testOf('assert.equal(1, 2)', 'vitest'))
  const none = project.process('test', file)
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('run `npm install --save-dev vitest`') })
  symlinkSync(join(ROOT, 'node_modules/vitest'), join(project.folder, 'node_modules/vitest'))
  expect(project.process('test', file)).toMatchObject({ code: 1, stdout: expect.stringContaining('1 failed') })
  const both = project.process('test', file, 'strategies/good.test.ts', '--watch')
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--watch needs one test runner') })
})

describe('a call without a test or a runner exits with 2 and names the remedy', () => {
  const NONE = 'strategies/god.test.ts'
  test.each<[string, string, string]>([
    ['a file that does not exist', NONE, `${NONE}: no such file or folder; did you mean strategies/good.test.ts?`],
    [
      'a strategy in place of a test',
      'strategies/good.ts',
      'does not end in .test.ts; did you mean strategies/good.test.ts?',
    ],
    ['a folder without tests', 'lib', 'lib: this folder has no test; the name of a test ends in .test.ts'],
  ])('`sluice test` exits with 2 and names the remedy for %s', async (_what, path, why) => {
    write('strategies/good.ts', '')
    write('lib/a.ts', '')
    const { code, stderr, stdout } = await project.sluice('test', path)
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(why) })
  })

  test('`sluice test` names the remedy in a project without tests, and in a project without `npm install`', async () => {
    folder.write('empty/package.json', '{}')
    const empty = new Project(join(folder.path, 'empty'))
    expect((await empty.sluice('test')).stderr).toContain('`sluice new strategy NAME` writes a strategy with a test')
    folder.write('empty/strategies/a.test.ts', '')
    const { code, stderr } = await empty.sluice('test')
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('run `npm install` in the project') })
  })
})

test('`sluice test --watch` runs a file again after each save, until Ctrl-C', async () => {
  const log = join(project.folder, 'runs')
  const file = 'strategies/watched.test.ts'
  const noting = (text: string): string =>
    `import { appendFileSync } from 'node:fs'\nappendFileSync('runs', '${text}\\n')\n${testOf('')}`
  write(file, noting('first'))
  writeFileSync(log, '')
  const child = project.start('test', file, '--watch')
  await until('the first run', () => readFileSync(log, 'utf8') === 'first\n')
  let looks = 0
  await until('the run after the save', () => {
    // The file is saved repeatedly, because a save is lost if the runner does not watch the file yet. There are pauses,
    // because the runner ignores saves that follow each other too quickly.
    if (looks++ % 20 === 0) writeFileSync(join(project.folder, file), noting('second'))
    return readFileSync(log, 'utf8').includes('second\n')
  })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})
