import { check } from './checker.ts'
import { MUTANTS } from './mutants.ts'
import { protocol } from './protocol.ts'
import { LARGE, SMALL } from './scenarios.ts'

const MOST_STATES = 12_000_000

/**
 * `npm run model [small]`: checks the scenarios, then prints for each mutant (a model with a deliberate error) how the
 * checker detects it.
 */
function main(size: string | undefined): void {
  const began = performance.now()
  let states = 0
  for (const [name, scenario] of Object.entries(size === 'small' ? SMALL : LARGE)) {
    const start = performance.now()
    const result = check(protocol(scenario), MOST_STATES)
    states += result.states
    const verdict = result.violation === undefined ? 'holds' : `BROKEN: ${result.violation.property}`
    console.log(`${name.padEnd(64)} ${count(result.states)} states ${seconds(start)} s  ${verdict}`)
    if (result.violation === undefined) continue
    console.log(lines(result.violation.trace))
    process.exitCode = 1
  }
  console.log('')
  let caught = 0
  for (const [mutant, { says, breaks, in: scenario }] of MUTANTS) {
    const { violation } = check(protocol({ ...scenario, mutant }), MOST_STATES)
    const isCaught = violation?.property === breaks
    caught += Number(isCaught)
    console.log(
      `${mutant}: ${says}\n  ${isCaught ? violation.property : 'NOT CAUGHT'}\n${lines(violation?.trace ?? [])}\n`,
    )
  }
  if (caught < MUTANTS.length) process.exitCode = 1
  console.log(
    `${count(states)} states explored in ${seconds(began)} s, ${caught} of ${MUTANTS.length} mutants detected`,
  )
}

function lines(trace: readonly string[]): string {
  return trace.map((name, index) => `  ${String(index + 1).padStart(3)} ${name}`).join('\n')
}

function count(value: number): string {
  return value.toLocaleString('en').padStart(10)
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1)
}

main(process.argv[2])
