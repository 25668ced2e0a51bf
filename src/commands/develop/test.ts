import { spawn } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path/posix'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { SOURCE_ENDING } from '../../config/package-paths.ts'
import { didYouMean } from '../../config/yaml/wording.ts'
import { UPDATE } from '../../testing/golden.ts'
import { defineCommand, flag, JSON_LINE } from '../options.ts'

const TESTS = '**/*.{test,spec}.{ts,mts,js,mjs}'
const IS_TEST = /\.(test|spec)\.m?[jt]s$/
/** Folders that hold the tests of strategies: in a project, and in the repository of Sluice. */
const FOLDERS = ['strategies', 'test/strategies']
/** A child process that runs from the sources must also resolve `sluice` to the sources. */
const CONDITIONS = SOURCE_ENDING === '.ts' ? ['--conditions', 'development'] : []

/** Runs the tests of strategies: with node:test or, for files that import vitest, with the vitest of the project. Exits
 *  1 if a test fails, and 2 if there is no test, or if its test runner is missing. */
export const command = defineCommand({
  options: {
    watch: flag('run the tests again after each save, until Ctrl-C'),
    update: flag('write the golden files of `matchGolden` instead of comparing with them'),
    json: JSON_LINE,
  },
  async run(given, { watch, update, json }) {
    const files = given.length > 0 ? [...new Set(given.flatMap(testsAt))] : FOLDERS.flatMap(testsIn)
    if (files.length === 0)
      throw usage(
        `there are no tests in ${FOLDERS.join('/ or ')}/; \`sluice new strategy NAME\` writes a strategy with a test, and \`sluice test FILE\` runs a test in any folder`,
      )
    requireSluice(files[0] as string)
    const ofVitest = files.filter(importsVitest)
    const ofNode = files.filter((file) => !ofVitest.includes(file))
    if (watch && ofVitest.length > 0 && ofNode.length > 0)
      throw usage(
        `--watch needs one test runner, but ${ofVitest[0]} imports vitest and ${ofNode[0]} does not; name the files of one of them`,
      )
    const runs = [
      ...(ofNode.length > 0 ? [[...CONDITIONS, '--test', ...(watch ? ['--watch'] : []), ...ofNode]] : []),
      ...(ofVitest.length > 0 ? [[vitestOf(ofVitest[0] as string), watch ? 'watch' : 'run', ...ofVitest]] : []),
    ]
    // A runner that inherits NODE_TEST_CONTEXT assumes that it runs inside another runner, and prints no results.
    const { NODE_TEST_CONTEXT: _context, ...environment } = process.env
    const env = update ? { ...environment, [UPDATE]: '1' } : environment
    const codes: number[] = []
    for (const args of runs) codes.push(await ran(args, env, json))
    const code = codes.find((one) => one !== 0) ?? 0
    if (json) console.log(JSON.stringify({ files: files.length, passed: code === 0 }))
    if (code >= SIGNALLED) return watch ? ExitCode.done : ExitCode.interrupted
    return code === 0 ? ExitCode.done : ExitCode.failed
  },
})

/** An exit code above this number means that a signal ended the process. */
const SIGNALLED = 128

/** Paths of the tests that an argument names: one file, or all test files of a folder. Throws SluiceError if there is
 *  none. */
function testsAt(path: string): string[] {
  if (!existsSync(path)) {
    const near = didYouMean(path, FOLDERS.flatMap(testsIn))
    throw usage(`${path}: no such file or folder${near}`)
  }
  if (statSync(path).isDirectory()) {
    const found = testsIn(path)
    if (found.length === 0) throw usage(`${path}: this folder has no test; the name of a test ends in .test.ts`)
    return found
  }
  if (IS_TEST.test(path)) return [path]
  const own = path.replace(/\.(m?[jt]s)$/, '.test.$1')
  const test = [own, join('test', own)].find((file) => file !== path && existsSync(file))
  throw usage(
    `${path} is not a test, because its name does not end in .test.ts${test ? `; did you mean ${test}?` : ''}`,
  )
}

function testsIn(folder: string): string[] {
  return globSync(join(folder, TESTS), { exclude: (path) => basename(path) === 'node_modules' }).sort()
}

function importsVitest(file: string): boolean {
  return /from\s*['"]vitest['"]/.test(readFileSync(file, 'utf8'))
}

/** Throws SluiceError if the tests cannot import `sluice`. Otherwise, the test runner would report this problem for
 *  each test. */
function requireSluice(file: string): void {
  if (packageFor(file, 'sluice') === undefined)
    throw usage(`${file} cannot import sluice: run \`npm install\` in the project first (\`sluice init\` creates one)`)
}

/** Path of the program of the project's vitest. */
function vitestOf(file: string): string {
  const folder = packageFor(file, 'vitest')
  if (folder !== undefined) return join(folder, 'vitest.mjs')
  throw usage(
    `${file} imports vitest, which is not installed: run \`npm install --save-dev vitest\`, or import \`test\` from node:test`,
  )
}

/** Folder of the package that an import in `file` would load; undefined if the package is not installed. */
function packageFor(file: string, name: string): string | undefined {
  try {
    return dirname(createRequire(resolve(file)).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

/** Runs Node with these arguments to its end, and returns its exit code. With `json`, its stdout goes to stderr. */
async function ran(args: readonly string[], env: NodeJS.ProcessEnv, json: boolean): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: ['inherit', json ? 2 : 'inherit', 'inherit'], env })
  let isSignalled = false
  // The terminal sends Ctrl-C to the child too. This process waits for the child, so that the child can print its
  // results.
  const wait = (): void => {
    isSignalled = true
  }
  const end = (): void => {
    isSignalled = true
    child.kill('SIGTERM')
  }
  process.on('SIGINT', wait)
  process.on('SIGTERM', end)
  try {
    const { promise, resolve: ended, reject } = Promise.withResolvers<number>()
    child.on('error', reject)
    child.on('exit', (code) => ended(code ?? SIGNALLED))
    const code = await promise
    return isSignalled ? SIGNALLED : code
  } finally {
    process.off('SIGINT', wait)
    process.off('SIGTERM', end)
  }
}

function usage(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}
