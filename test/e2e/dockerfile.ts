import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

/** An instruction of the Dockerfile. */
export interface Instruction {
  readonly name: string
  /** Options such as `--from=build`, by name. */
  readonly options: Readonly<Record<string, string>>
  readonly text: string
}

export interface Stage {
  readonly name: string
  readonly base: string
  readonly steps: readonly Instruction[]
}

/** Returns the stages of the Dockerfile. No other file lists the steps of the image. */
export function stagesOf(text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')): Stage[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const stages: { name: string; base: string; steps: Instruction[] }[] = []
  for (const line of lines.map(instructionOf)) {
    if (line.name !== 'FROM') stages.at(-1)?.steps.push(line)
    else {
      const [base = '', , name = `${stages.length}`] = line.text.split(' ')
      stages.push({ name, base, steps: [] })
    }
  }
  return stages
}

function instructionOf(line: string): Instruction {
  const [name = '', ...words] = line.split(' ')
  const options = words.slice(
    0,
    words.findIndex((word) => !word.startsWith('--')),
  )
  return {
    name,
    options: Object.fromEntries(options.map((option) => option.slice(2).split('=') as [string, string])),
    text: words.slice(options.length).join(' '),
  }
}

/** Returns the names that `.dockerignore` sends to the build. The file must begin with `*`. */
export function sentToBuild(): string[] {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  if (lines.shift() !== '*') throw new Error('.dockerignore has to begin with *, so that no file is sent by accident')
  return lines.map((line) => line.slice(1))
}
