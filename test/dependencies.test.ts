import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Locked {
  version: string
  resolved?: string
  integrity?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  hasInstallScript?: boolean
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
const manifest = read('package.json')
const { '': _root, ...packages } = read('package-lock.json').packages as Record<string, Locked>
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/**
 * The packages with a binary in a user's installation. Before a new name is added here, decide whether the package is
 * needed (docs/decisions/0001). The last two are optional packages of @solana/web3.js; Sluice never opens the socket
 * that would load them.
 */
const RUNTIME_WITH_BINARY = ['better-sqlite3', 'bufferutil', 'utf-8-validate']
/** Maximum number of packages in a user's installation, including @solana/web3.js and the packages that it needs. */
const MOST_PACKAGES = 77
/** Maximum number of packages without @solana/web3.js and the packages that only it needs. */
const MOST_WITHOUT_WEB3 = 25

const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

/** Returns the paths of the packages that an `npm install` of Sluice installs. */
function runtimePackages(without?: string): string[] {
  const found = new Set<string>()
  const visit = (from: string, { dependencies, optionalDependencies }: Partial<Locked>): void => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (name === without) continue
      const path = [`${from}/node_modules/${name}`, `node_modules/${name}`].find((one) => one in packages) as string
      if (found.has(path)) continue
      found.add(path)
      visit(path, packages[path] as Locked)
    }
  }
  visit('', { dependencies: manifest.dependencies })
  return [...found]
}

test('package.json names an exact version of every package', () => {
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

/**
 * Returns whether npm may run a script when it installs the package. The flag in the lockfile is not enough, because
 * npm sets it only for packages that it has unpacked. A binding.gyp also counts: npm builds it by default, and ignores
 * `gypfile: false` in an installation from a lockfile.
 */
function hasInstallScript(path: string): boolean {
  if (packages[path]?.hasInstallScript) return true
  if (!existsSync(`${path}/package.json`)) return false // a package of another platform
  const { scripts = {} } = JSON.parse(readFileSync(`${path}/package.json`, 'utf8'))
  return INSTALL_SCRIPTS.some((name) => name in scripts) || existsSync(`${path}/binding.gyp`)
}

test('allowScripts names every package with an install script, and allows only the script of the package `node`', () => {
  const withScript = Object.keys(packages).filter(hasInstallScript).map(nameOf)
  expect(Object.keys(manifest.allowScripts).toSorted()).toEqual([...new Set(withScript)].toSorted())
  const allowed = Object.keys(manifest.allowScripts).filter((name) => manifest.allowScripts[name] !== false)
  expect(allowed).toEqual(['node'])
  expect(runtimePackages().map(nameOf)).not.toContain('node')
})

test('an installation has few packages, and only the listed ones contain a binary', () => {
  const paths = runtimePackages()
  expect(paths.length).toBeLessThanOrEqual(MOST_PACKAGES)
  expect(runtimePackages('@solana/web3.js').length).toBeLessThanOrEqual(MOST_WITHOUT_WEB3)
  expect(paths).toContain('node_modules/sonic-boom') // a dependency of pino
  const withBinary = paths.filter((path) => globSync(`${path}/{build,prebuilds}/**/*.node`).length > 0)
  expect(withBinary.map(nameOf).toSorted()).toEqual(RUNTIME_WITH_BINARY)
})
