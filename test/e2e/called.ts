import { AsyncLocalStorage } from 'node:async_hooks'
import { parse } from '../../src/commands/parse.ts'
import type { Ended } from './process.ts'

type Output = Record<'stdout' | 'stderr', string>

/** Stores the output of each call separately, so that calls may run at the same time. */
const outputs = new AsyncLocalStorage<Output>()

/**
 * Runs a `sluice ...` command that ends, in this process with its parser and commands, because a separate process costs
 * ten times as much. A call with a folder changes the working directory of this process until the call ends.
 */
export async function called(args: readonly string[], folder = ''): Promise<Ended> {
  capture()
  const before = process.cwd()
  if (folder !== '') process.chdir(folder)
  const output: Output = { stdout: '', stderr: '' }
  try {
    return { code: await outputs.run(output, () => parse(args)), ...output }
  } finally {
    if (folder !== '') process.chdir(before)
  }
}

let isCaptured = false

/** Redirects what a call of a command prints into the result of this call. Everything else is still printed. */
function capture(): void {
  if (isCaptured) return
  isCaptured = true
  for (const [name, stream] of [
    ['log', 'stdout'],
    ['error', 'stderr'],
  ] as const) {
    const print = console[name]
    console[name] = (...texts: unknown[]) => {
      const output = outputs.getStore()
      if (output === undefined) print(...texts)
      else output[stream] += `${texts.join(' ')}\n`
    }
  }
  for (const name of ['stdout', 'stderr'] as const) {
    const write = process[name].write.bind(process[name]) as (...args: unknown[]) => boolean
    process[name].write = (text: string | Uint8Array, ...more: unknown[]) => {
      const output = outputs.getStore()
      if (output === undefined) return write(text, ...more)
      output[name] += String(text)
      return true
    }
  }
}
