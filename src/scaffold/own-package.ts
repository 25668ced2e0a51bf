import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../core/errors.ts'

/** Beside Sluice itself, what a project is written with: its Node, Solana's runtime for the sandbox, types. */
const NEEDED = ['@types/node', 'litesvm', 'node', 'typescript']

export interface OwnPackage {
  /** How npm gets this very package: a version where it came from the registry, else where the archive or folder lies. */
  readonly spec: string
  /** What is to be done before `spec` can be installed; '' where nothing is. */
  readonly first: string
  /** Exact versions of what a project needs beside it. */
  readonly versions: Readonly<Record<string, string>>
}

interface Manifest {
  readonly version: string
  readonly devDependencies: Readonly<Record<string, string>>
}

/** `root`: where this package lies. What is installed under a name must be what runs now, and not what somebody else gave that name to: so
 *  the place that it came from is told, and the registry only where npm says that it came from there. */
export function ownPackage(root: string): OwnPackage {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const versions = Object.fromEntries(NEEDED.map((name) => [name, manifest.devDependencies[name] as string]))
  if (basename(dirname(root)) === 'node_modules')
    return { spec: installedFrom(root, manifest.version), first: '', versions }
  const archive = join(root, `sluice-${manifest.version}.tgz`)
  const first = existsSync(archive) ? '' : `(cd ${root} && npm pack)`
  return { spec: `file:${archive}`, first, versions }
}

function installedFrom(root: string, version: string): string {
  const modules = dirname(root)
  const resolved = recorded(join(modules, '.package-lock.json'))
  if (/^https:\/\/registry\.npmjs\.org\//.test(resolved)) return version
  if (resolved.startsWith('file:')) return `file:${resolve(dirname(modules), resolved.slice('file:'.length))}`
  if (/^(https:|git\+)/.test(resolved)) return resolved
  throw new SluiceError(`npm does not say where ${root} came from; install it with npm, then again`, ExitCode.usage)
}

function recorded(lock: string): string {
  try {
    const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as { packages: Record<string, { resolved?: string }> }
    return packages['node_modules/sluice']?.resolved ?? ''
  } catch {
    return ''
  }
}
