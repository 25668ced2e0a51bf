import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Locked {
  version: string
  resolved?: string
  integrity?: string
  dev?: boolean
  hasInstallScript?: boolean
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
const manifest = read('package.json')
const { '': _root, ...packages } = read('package-lock.json').packages as Record<string, Locked>
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** What reaches a user's machine and is more than JavaScript; a new name here is a decision (docs/decisions/0001). */
const runtimeWithInstallScript = ['bufferutil', 'utf-8-validate']
const runtimeWithBinary = ['better-sqlite3', 'bufferutil', 'utf-8-validate']

test('every version is exact', () => {
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/)
  }
})

test('every package comes from the npm registry, with its hash', () => {
  for (const [path, { resolved, integrity }] of Object.entries(packages)) {
    expect(resolved, path).toMatch(/^https:\/\/registry\.npmjs\.org\//)
    expect(integrity, path).toMatch(/^sha512-/)
  }
})

test('every install script is decided on', () => {
  const scripted = Object.entries(packages).filter(([, one]) => one.hasInstallScript)
  for (const [path] of scripted) expect(manifest.allowScripts).toHaveProperty([nameOf(path)])
  expect(new Set(scripted.filter(([, one]) => !one.dev).map(([path]) => nameOf(path)))).toEqual(
    new Set(runtimeWithInstallScript),
  )
})

test('no other runtime package holds a binary', () => {
  const found = Object.entries(packages)
    .filter(([path, { dev }]) => !dev && globSync(`${path}/{build,prebuilds}/**/*.node`).length > 0)
    .map(([path]) => nameOf(path))
  expect(new Set(found)).toEqual(new Set(runtimeWithBinary))
})
