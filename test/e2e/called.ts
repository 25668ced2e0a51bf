import { vi } from 'vitest'
import { parse } from '../../src/commands/parse.ts'
import type { Ended } from './process.ts'

/** Runs `sluice ...` in this process with its parser and commands, because a separate process costs ten times as
 *  much. For commands that end. */
export async function called(args: readonly string[], folder = process.cwd()): Promise<Ended> {
  const before = process.cwd()
  const said = { stdout: '', stderr: '' }
  const take = (stream: keyof typeof said, text: unknown): true => {
    said[stream] += text
    return true
  }
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((text = '') => void take('stdout', `${text}\n`)),
    vi.spyOn(console, 'error').mockImplementation((text = '') => void take('stderr', `${text}\n`)),
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => take('stdout', text)),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => take('stderr', text)),
  ]
  process.chdir(folder)
  try {
    return { code: await parse(args), ...said }
  } finally {
    process.chdir(before)
    for (const spy of spies) spy.mockRestore()
  }
}
