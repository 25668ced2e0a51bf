import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const DOCS = join(import.meta.dirname, '../../docs')

/** A fenced block that a test runs: ```sh run, ```sh start, ```ts run, ```yaml check. */
export interface Block {
  /** The position `docs/NAME:LINE` of the block's first line. */
  readonly at: string
  readonly kind: 'sh run' | 'sh start' | 'ts run' | 'yaml check'
  readonly text: string
}

export function pageOf(name: string): string {
  return readFileSync(join(DOCS, name), 'utf8')
}

export function blocksIn(name: string): Block[] {
  const page = pageOf(name)
  return [...page.matchAll(/^```(sh run|sh start|ts run|yaml check)\n(.*?)^```$/gms)].map((match) => {
    const [, kind = '', text = ''] = match
    const line = page.slice(0, match.index).split('\n').length + 1
    return { at: `docs/${name}:${line}`, kind: kind as Block['kind'], text }
  })
}

/** A line of shell: its command and arguments. */
export interface Line {
  readonly text: string
  readonly words: readonly string[]
}

export function linesOf({ text }: Block): Line[] {
  return text
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*/, '').trim())
    .filter(Boolean)
    .map((line) => ({ text: line, words: line.split(/\s+/) }))
}

/** Returns the file name in the first line of a code block. */
export function fileOf({ text, at }: Block): string {
  const name = /^\/\/ (\S+\.ts)\n/.exec(text)?.[1]
  if (name === undefined) throw new Error(`${at}: the first line has to name the file, as // strategies/x.ts`)
  return name
}
