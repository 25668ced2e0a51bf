import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { linkProgram } from '../../../scripts/link-bpf.ts'

const folder = new URL('../../../src/sandbox/bpf/', import.meta.url)
const script = fileURLToPath(new URL('../../../scripts/build-programs.ts', import.meta.url))

test("the sandbox's programs have the committed hashes", () => {
  const programs = readdirSync(folder).filter((name) => name.endsWith('.so'))
  const sums = programs.map((name) => {
    const hash = createHash('sha256').update(readFileSync(new URL(name, folder)))
    return `${hash.digest('hex')}  ${name}`
  })
  const committed = readFileSync(new URL('SHA256SUMS', folder), 'utf8')
  expect(committed.trim().split('\n').sort()).toEqual(sums.sort())
})

/** The installed version of clang. Only version 14.0.6 produces the committed bytes. */
const compiler = /clang version (\S+)/.exec(spawnSync('clang', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]
const isOurs = compiler === '14.0.6'

test.skipIf(!isOurs)(
  `the sources of the sandbox programs compile and link to the committed bytes${isOurs ? '' : ` (skipped: it takes clang 14.0.6, here is ${compiler ?? 'none'})`}`,
  () => {
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(status).toBe(0)
  },
)

test.skipIf(!isOurs).each([
  ['constants', 'const char word[] = "abc"; int entrypoint(int i) { return word[i]; }', 'no initialized memory'],
  ['mutable state', 'int count; int entrypoint(void) { return ++count; }', 'no initialized memory'],
  [
    'an unknown function',
    'int strlen(const char *); int entrypoint(char *s) { return strlen(s); }',
    'strlen is not a syscall',
  ],
  ['no entry point', 'int start(void) { return 0; }', 'no function `entrypoint`'],
])('the linker of the sandbox programs refuses a program with %s', (_what, source, because) => {
  const flags = ['--target=bpf', '-mcpu=v1', '-Os', '-ffreestanding', '-fno-builtin', '-x', 'c', '-', '-c', '-o', '-']
  const { stdout } = spawnSync('clang', flags, { input: source })
  expect(() => linkProgram(stdout)).toThrow(because)
})
