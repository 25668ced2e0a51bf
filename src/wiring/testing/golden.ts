import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ExitCode, SluiceError } from '../../core/errors.ts'
import type { Strategy } from '../../core/strategy.ts'
import { decisionsOf, type RecordingOptions } from './recorded-decisions.ts'

/** Set to 1, golden files are written instead of compared. */
const UPDATE = 'SLUICE_UPDATE_GOLDEN'

export interface GoldenOptions extends RecordingOptions {
  /** The file with the decisions, a line each. */
  readonly golden: string
  /** Write it instead of comparing; default: what SLUICE_UPDATE_GOLDEN=1 says. */
  readonly update?: boolean
}

/** Compares what a strategy decides on a recording with what it decided when the golden file was written; answers how many decisions those
 *  are. Throws with the first line that differs. */
export async function matchGolden<P, S>(
  strategy: Strategy<P, S>,
  { golden, update = process.env[UPDATE] === '1', ...options }: GoldenOptions,
): Promise<number> {
  const decisions = await decisionsOf(strategy, options)
  if (update) {
    mkdirSync(dirname(golden), { recursive: true })
    writeFileSync(golden, decisions.map((line) => `${line}\n`).join(''))
    return decisions.length
  }
  if (!existsSync(golden))
    throw new SluiceError(`there is no ${golden}: ${UPDATE}=1 writes it; then read it once`, ExitCode.usage)
  const expected = readFileSync(golden, 'utf8').split('\n').filter(Boolean)
  const line = firstDifference(expected, decisions)
  if (line === undefined) return decisions.length
  const [was, is] = [expected[line] ?? 'nothing more', decisions[line] ?? 'nothing more']
  throw new Error(`${golden}:${line + 1}: another decision\n  was ${was}\n  is  ${is}\n${UPDATE}=1 takes it over`)
}

function firstDifference(expected: readonly string[], found: readonly string[]): number | undefined {
  const length = Math.max(expected.length, found.length)
  for (let line = 0; line < length; line++) if (expected[line] !== found[line]) return line
  return undefined
}
