import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Locked {
  version: string
  resolved?: string
  integrity?: string
  dependencies?: Record<string, string>
  hasInstallScript?: boolean
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
const manifest = read('package.json')
const { '': _root, ...packages } = read('package-lock.json').packages as Record<string, Locked>
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** What reaches a user's machine and is more than JavaScript; a new name here is a decision (docs/decisions/0001). */
const RUNTIME_WITH_BINARY = ['better-sqlite3']

const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

/** Packages that an `npm install` of Sluice brings along. */
function runtimePackages(): string[] {
  const found = new Set<string>()
  const visit = (from: string, { dependencies = {} }: Pick<Locked, 'dependencies'>): void => {
    for (const name of Object.keys(dependencies)) {
      const path = [`${from}/node_modules/${name}`, `node_modules/${name}`].find((one) => one in packages) as string
      if (found.has(path)) continue
      found.add(path)
      visit(path, packages[path] as Locked)
    }
  }
  visit('', manifest)
  return [...found]
}

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

/** Packages for which npm may run a script when it installs them. The lockfile's flag alone is not enough: npm writes
 *  it by what it saw while installing. A binding.gyp counts too: npm builds it unasked, and forgets `gypfile: false`
 *  when it installs by a lockfile. */
function hasInstallScript(path: string): boolean {
  if (packages[path]?.hasInstallScript) return true
  if (!existsSync(`${path}/package.json`)) return false // of another platform
  const { scripts = {} } = JSON.parse(readFileSync(`${path}/package.json`, 'utf8'))
  return INSTALL_SCRIPTS.some((name) => name in scripts) || existsSync(`${path}/binding.gyp`)
}

test('allowScripts decides on every package with an install script, and only node may run one', () => {
  const withScript = Object.keys(packages).filter(hasInstallScript).map(nameOf)
  expect(Object.keys(manifest.allowScripts).toSorted()).toEqual([...new Set(withScript)].toSorted())
  const allowed = Object.keys(manifest.allowScripts).filter((name) => manifest.allowScripts[name] !== false)
  expect(allowed).toEqual(['node'])
  expect(runtimePackages().map(nameOf)).not.toContain('node')
})

test('few packages run beside money, and one of them holds a binary', () => {
  const paths = runtimePackages()
  expect(paths.length).toBeLessThanOrEqual(23)
  expect(paths).toContain('node_modules/sonic-boom') // what a dependency depends on is among them
  const withBinary = paths.filter((path) => globSync(`${path}/{build,prebuilds}/**/*.node`).length > 0)
  expect(withBinary.map(nameOf)).toEqual(RUNTIME_WITH_BINARY)
})
