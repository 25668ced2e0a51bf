// Compiles the sandbox's programs (src/sandbox/bpf/*.c), links them, and writes each binary next to its source together
// with the hashes. `--check` writes nothing and fails if a committed binary differs from the compiled source. Needs
// clang 14 (Debian 12): other versions produce different bytes.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkProgram } from './link-bpf.ts'

const folder = fileURLToPath(new URL('../src/sandbox/bpf/', import.meta.url))
const programs = ['pool', 'hostile']
const flags = ['--target=bpf', '-mcpu=v1', '-Os', '-ffreestanding', '-fno-builtin', '-Wall', '-Wextra', '-Werror']

function build(program: string, scratch: string): Buffer {
  const object = join(scratch, `${program}.o`)
  const { status, stderr } = spawnSync('clang', [...flags, '-c', join(folder, `${program}.c`), '-o', object])
  if (status !== 0) throw new Error(`clang: ${stderr ?? 'not found; on Debian: apt-get install clang'}`)
  return linkProgram(readFileSync(object))
}

const scratch = mkdtempSync(join(tmpdir(), 'sluice-programs-'))
try {
  const built = new Map(programs.map((program) => [`${program}.so`, build(program, scratch)]))
  const sums = [...built].map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`)
  const files = new Map<string, Buffer>([...built, ['SHA256SUMS', Buffer.from(sums.join(''))]])
  for (const [name, bytes] of files) {
    if (!process.argv.includes('--check')) writeFileSync(join(folder, name), bytes)
    else if (!readFileSync(join(folder, name)).equals(bytes)) {
      console.error(`src/sandbox/bpf/${name} differs from its compiled source: run node scripts/build-programs.ts`)
      process.exitCode = 1
    }
  }
} finally {
  rmSync(scratch, { recursive: true })
}
