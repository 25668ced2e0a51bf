import { readFileSync } from 'node:fs'
import { called } from './called.ts'

/** Runs every `npx sluice` line of a document after replacing `words` in it. Returns the result of each command. */
export async function documentedCommands(document: string, words: Readonly<Record<string, string>>) {
  const text = readFileSync(new URL(`../../docs/${document}`, import.meta.url), 'utf8')
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
  const lines = blocks.join('').match(/^npx sluice .*$/gm) ?? []
  const ended = []
  for (const line of lines) {
    const args = line.replace(/#.*/, '').trim().split(/\s+/).slice(2)
    ended.push({ line, ...(await called(args.map((arg) => words[arg] ?? arg))) })
  }
  return ended
}
