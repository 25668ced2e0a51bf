import { readFileSync } from 'node:fs'
import { readPlan } from '../engine/bars/bar-plan.ts'
import { flawText, type PlanFlaw } from '../engine/plan-flaw.ts'
import type { LoadedStrategy } from './strategies.ts'
import { sourcesOf } from './strategy-sources.ts'
import { shownPath, thrownText } from './strategy-trace.ts'
import { didYouMean } from './yaml/wording.ts'

/** Checks the bars, indicators and conditions that a strategy declares if it has the params `params`. Returns one line
 *  for each problem, with its place in the strategy's file; undefined if there is no problem. */
export function planProblem(
  { file, strategy }: Pick<LoadedStrategy, 'file' | 'strategy'>,
  params: unknown,
  cwd = process.cwd(),
): string | undefined {
  if (strategy.bars === undefined && strategy.indicators === undefined && strategy.when === undefined) return undefined
  let flaws: readonly PlanFlaw[]
  try {
    flaws = readPlan(strategy, params).flaws
  } catch (error) {
    return thrownText(error, cwd)
  }
  if (flaws.length === 0) return undefined
  return flaws.map((flaw) => `${placeOf(flaw, file, cwd)}${flawText(flaw)}${hintOf(flaw)}`).join('; ')
}

function hintOf({ meant, word, right }: PlanFlaw): string {
  if (meant !== undefined) return `; did you mean '${meant}'?`
  return word === undefined || right === undefined ? '' : didYouMean(word, right)
}

/** Returns the place in the strategy's source code of the key that has a flaw, as `file:line:column: `; '' if the key
 *  is not in the source code, for example because it is computed. */
function placeOf({ path: [section = '', ...keys] }: PlanFlaw, file: string, cwd: string): string {
  for (const source of sourcesOf(file)) {
    const text = readFileSync(source, 'utf8')
    let at = text.search(new RegExp(`\\b${section}\\s*[:(]`))
    if (at < 0) continue
    for (const key of keys) {
      const found = text.slice(at).search(keyPattern(key))
      if (found >= 0) at += found
    }
    const before = text.slice(0, at).split('\n')
    return `${shownPath(source, cwd)}:${before.length}:${(before.at(-1) ?? '').length + 1}: `
  }
  return ''
}

function keyPattern(key: string): RegExp {
  const plain = key.replace(/[^\w\s]/g, '\\$&')
  return new RegExp(`(['"\`])${plain}\\1\\s*:|\\b${plain}\\s*:`)
}
