import { spawnSync } from 'node:child_process'
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { installed, JOINED, joinedName, joinedUrls } from '../../src/config/joined-libraries.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { path } = temporaryFolder()
const folder = join(path, 'joined')
const url = pathToFileURL(join(folder, '/')).href

const root = fileURLToPath(new URL('../../', import.meta.url))

beforeAll(() => {
  // The script runs in a process of its own, because it needs 150 MB of memory, which this process would keep.
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/join-libraries.ts'), folder])
  expect(status, String(stderr)).toBe(0)
})

test.each(JOINED)('the joined file of %s exports everything that the library exports', async (name) => {
  const { version } = installed(name)
  const joined = await import(join(folder, joinedName(name, version)))
  const exported = Object.keys(await import(name)).filter((one) => one !== 'module.exports')
  expect(Object.keys(joined).sort()).toEqual(exported.sort())
  expect(readFileSync(join(folder, 'licences.txt'), 'utf8')).toContain(`${name} ${version}\n\n`)
})

test('a library is loaded from its own files if the joined file belongs to another version', () => {
  expect(joinedUrls(url).size).toBe(3)
  const { version } = installed('zod')
  renameSync(join(folder, joinedName('zod', version)), join(folder, joinedName('zod', '0.0.1')))
  expect([...joinedUrls(url).keys()]).toEqual([installed('commander').url, installed('yaml').url])
  renameSync(join(folder, joinedName('zod', '0.0.1')), join(folder, joinedName('zod', version)))
})

test('without joined files every library is loaded from its own files', () => {
  expect(joinedUrls(pathToFileURL(join(path, 'none/')).href).size).toBe(0)
})

test('all imports of a library load its one joined file and no other module of the library', () => {
  const ours = new URL('../../src/config/joined-libraries.ts', import.meta.url).href
  const loads = `
    const { registerHooks } = await import('node:module')
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    ;(await import('${ours}')).useJoinedLibraries('${url}')
    const { z } = await import('zod')
    const zod = await import('zod')
    const { parse } = await import('yaml')
    console.log(JSON.stringify({
      value: z.object({ a: z.number() }).parse(parse('a: 1')), one: zod.z === z, loaded,
    }))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', loads], {
    cwd: root,
    encoding: 'utf8',
  })
  const { value, one, loaded } = JSON.parse(stdout || stderr)
  expect({ value, one }).toEqual({ value: { a: 1 }, one: true })
  const files = loaded.filter((one: string) => /zod|yaml/.test(one))
  const names = (['zod', 'yaml'] as const).map((name) => `${url}${joinedName(name, installed(name).version)}`)
  expect(files).toEqual(names)
})
