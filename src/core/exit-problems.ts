import { type ExitRules, LEAST_QUIET_SECONDS } from './exits.ts'
import { LEAST_PART_PERCENT } from './position.ts'

// Exits that are right by themselves and wrong together: one of them could never fire, or they ask for more than there is.

export interface ExitProblem {
  /** Where it is: an exit, and what inside of it. */
  readonly path: readonly [keyof ExitRules, ...(string | number)[]]
  readonly message: string
  /** The exit that it does not go together with. */
  readonly other?: keyof ExitRules
}

/** All that is wrong with the exits of one position, as they are once every place that sets some has been asked. */
export function exitProblems(rules: ExitRules): ExitProblem[] {
  return [...stepProblems(rules), ...stopProblems(rules), ...unreachable(rules), ...quietProblems(rules)]
}

/** A shorter silence would have its timer fire without pause, as long as the feed is down. */
function quietProblems({ idleSeconds, whenStale }: ExitRules): ExitProblem[] {
  const times: [ExitProblem['path'], number | undefined][] = [
    [['idleSeconds'], idleSeconds],
    [['whenStale', 'afterSeconds'], whenStale?.afterSeconds],
  ]
  return times.flatMap(([path, seconds = LEAST_QUIET_SECONDS]) => {
    if (seconds >= LEAST_QUIET_SECONDS) return []
    return [{ path, message: `expected at least ${LEAST_QUIET_SECONDS}, found ${seconds}` }]
  })
}

function stepProblems({ takeProfitSteps = [] }: ExitRules): ExitProblem[] {
  const problems: ExitProblem[] = []
  let sum = 0
  for (const [index, { atPercent, sellPercent }] of takeProfitSteps.entries()) {
    if (sellPercent <= LEAST_PART_PERCENT) {
      const message = `a step has to sell more than ${LEAST_PART_PERCENT} %, found ${sellPercent}: less would count as sold before it is`
      problems.push({ path: ['takeProfitSteps', index, 'sellPercent'], message })
    }
    const before = takeProfitSteps[index - 1]?.atPercent
    if (before !== undefined && !(atPercent > before)) {
      const message = `${atPercent} does not come after ${before}; write the steps in ascending order`
      problems.push({ path: ['takeProfitSteps', index, 'atPercent'], message })
    }
    const isOver = sum <= 100 && sum + sellPercent > 100 + 1e-9
    sum += sellPercent
    if (!isOver) continue
    const message = `the steps sell ${Number(sum.toFixed(6))} % together; 100 % is all there is`
    problems.push({ path: ['takeProfitSteps', index, 'sellPercent'], message })
  }
  return problems
}

function stopProblems({ trailingPercent, trailingArmPercent, stopPrice, takeProfitPrice, ...rules }: ExitRules) {
  const { stopLossPercent, takeProfitPercent } = rules
  const problems: ExitProblem[] = []
  if (stopPrice !== undefined && takeProfitPrice !== undefined && stopPrice >= takeProfitPrice) {
    const message = `the stop at ${stopPrice} is not below the take-profit at ${takeProfitPrice}`
    problems.push({ path: ['stopPrice'], message })
  }
  if (stopLossPercent !== undefined && takeProfitPercent !== undefined && stopLossPercent > takeProfitPercent) {
    const message = `the stop-loss at ${stopLossPercent} % is above the take-profit at ${takeProfitPercent} %: it loses more than can be won; lower one or raise the other`
    problems.push({ path: ['stopLossPercent'], message, other: 'takeProfitPercent' })
  }
  if (trailingArmPercent !== undefined && trailingPercent === undefined) {
    const message = 'there is no trailing stop to arm; set trailingPercent too'
    problems.push({ path: ['trailingArmPercent'], message })
  }
  return problems
}

/** What only counts at a price at which everything is sold already. */
function unreachable({ takeProfitPercent, takeProfitSteps = [], ...rules }: ExitRules): ExitProblem[] {
  const { trailingArmPercent, breakEvenAtPercent } = rules
  const levels: [ExitProblem['path'], number | undefined][] = [
    [['trailingArmPercent'], trailingArmPercent],
    [['breakEvenAtPercent'], breakEvenAtPercent],
    ...takeProfitSteps.map((step, index): [ExitProblem['path'], number] => [
      ['takeProfitSteps', index, 'atPercent'],
      step.atPercent,
    ]),
  ]
  return levels.flatMap(([path, level]) => {
    if (takeProfitPercent === undefined || level === undefined || level < takeProfitPercent) return []
    const message = `never reached: everything is sold at takeProfitPercent, which is ${takeProfitPercent}`
    return [{ path, message, other: 'takeProfitPercent' }]
  })
}
