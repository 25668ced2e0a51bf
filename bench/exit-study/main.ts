// `npm run exit-study -- RECORDING.ndjson ...`: chooses the rule for the price of the exits by the method of
// docs/decisions/0010-exit-price-by-method.md. Each file contains `trade` messages of the service, one per line. `npm
// run exit-study -- --shipped`: measures only the rule that the engine uses, with one round of seeds, and exits with 1
// if it makes too many false exits on a data set.
import { parseArgs } from 'node:util'
import { ExitPrice } from '../../src/engine/exits/exit-price.ts'
import { DEFAULT_EXIT_WINDOW } from '../../src/engine/exits/exit-settings.ts'
import { CANDIDATES, type Candidate, nameOf, PLAIN, pricesOf, robustPrices } from './candidates.ts'
import { lossOn, type Summary, summarize } from './loss.ts'
import { type Block, generatedBlocks, NOISES, poolBlocks, recorded, sandboxBlocks } from './markets.ts'
import { type Print, readPrints, reversedInstants } from './prints.ts'

/** Tokens on whose prints the rules are compared. To test the chosen rule on unseen data, the rule is also chosen
 *  without the data sets of one `source`, and then tested on them. */
interface DataSet {
  readonly name: string
  readonly source: string
  readonly step: number
  readonly blocks: readonly Block[]
}

/** Returns the data sets: the recordings, and generated markets. `rounds`: numbers from which the seeds are derived. */
async function dataSets(paths: readonly string[], rounds: readonly number[]): Promise<DataSet[]> {
  const files = await Promise.all(
    paths.map(async (source): Promise<DataSet[]> => {
      const tokens = await readPrints(source)
      return [
        { name: source.replace(/^.*\//, ''), source, step: 1, blocks: tokens.map(recorded) },
        { name: '  seconds reversed', source, step: 1, blocks: tokens.map(reversedInstants).map(recorded) },
      ]
    }),
  )
  const generated = NOISES.map((noise) => ({
    name: noise,
    source: noise,
    step: 10,
    blocks: generatedBlocks(noise, rounds),
  }))
  const markets = [
    { name: 'sandbox', source: 'sandbox', step: 10, blocks: sandboxBlocks(rounds) },
    { name: 'pools', source: 'pools', step: 10, blocks: poolBlocks(rounds) },
  ]
  return [...files.flat(), ...markets, ...generated]
}

type Table = ReadonlyMap<Candidate, readonly Summary[]>

function study(sets: readonly DataSet[]): Table {
  const robust = sets.map(({ blocks }) => blocks.map(({ prints }) => robustPrices(prints)))
  return new Map(
    [...PLAIN, ...CANDIDATES].map((candidate) => [
      candidate,
      sets.map(({ blocks, step }, set) =>
        summarize(
          blocks.map((block, place) =>
            lossOn(block, pricesOf(candidate, block.prints, robust[set]?.[place] as number[]), step),
          ),
        ),
      ),
    ]),
  )
}

const NEAR_SECONDS = 1
const CHOICE_ROUNDS = [0, 1, 4, 5]
const FRESH_ROUNDS = [6, 7]

function choose(table: Table, isUsed: (set: number) => boolean): Candidate {
  const scored = [...table]
    .filter(([candidate]) => CANDIDATES.includes(candidate))
    .map(([candidate, summaries]) => {
      const used = summaries.filter((_summary, set) => isUsed(set))
      const delays = used.map(({ delaySeconds }) => delaySeconds).filter((delay) => !Number.isNaN(delay))
      return { candidate, bound: Math.max(...used.map(({ falseBound }) => falseBound)), delay: Math.max(...delays) }
    })
  const soonest = Math.min(...scored.map(({ delay }) => delay))
  const soon = scored.filter(({ delay }) => delay <= soonest + NEAR_SECONDS)
  const [chosen] = soon.sort((one, other) => one.bound - other.bound)
  return (chosen as { candidate: Candidate }).candidate
}

const falseOn = (table: Table, candidate: Candidate, set: number): number =>
  (table.get(candidate) as Summary[])[set]?.falseShare ?? Number.NaN
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`.padStart(7)
const three = (values: readonly number[], digits: number): string =>
  values.map((value) => value.toFixed(digits).padStart(5)).join(' ')

function printSummaries(sets: readonly DataSet[], summaries: readonly Summary[]): void {
  console.log(
    'data set                   exits   false   bound   worst   noise  late: prints       seconds         slip  fall: mean p90 s  unsold',
  )
  sets.forEach(({ name }, set) => {
    const one = summaries[set] as Summary
    console.log(
      `${name.padEnd(25)} ${String(one.exits).padStart(6)} ${[one.falseShare, one.falseBound, one.worstToken, one.noiseShare].map(percent).join(' ')}  ${three(one.latePrints, 0)} ${three(one.lateSeconds, 1)} ${one.slip.toFixed(3).padStart(7)}  ${three([one.delaySeconds, one.delayP90], 1)}  ${percent(one.unsoldShare)}`,
    )
  })
}

/** Largest share of false exits on any data set. */
const MOST_FALSE = 0.05

/** Prices of the exits after each print, as the engine computes them. */
function shippedPrices(prints: readonly Print[]): Float64Array {
  const exitPrice = new ExitPrice()
  const robust = robustPrices(prints)
  return Float64Array.from(prints, ({ price, time }, at) => {
    exitPrice.fold(price, robust[at] as number, time)
    return exitPrice.of(DEFAULT_EXIT_WINDOW, robust[at] as number, time)
  })
}

/** Prints the summary of the rule that the engine uses. Returns whether its share of false exits is small enough on
 *  every data set. */
async function isShippedGood(paths: readonly string[]): Promise<boolean> {
  const sets = await dataSets(paths, FRESH_ROUNDS.slice(0, 1))
  const summaries = sets.map(({ blocks, step }) =>
    summarize(blocks.map((block) => lossOn(block, shippedPrices(block.prints), step))),
  )
  printSummaries(sets, summaries)
  return summaries.every(({ exits, falseShare }) => exits > 0 && falseShare <= MOST_FALSE)
}

const options = { all: { type: 'boolean' }, shipped: { type: 'boolean' } } as const
const { values, positionals } = parseArgs({ allowPositionals: true, options })
if (values.shipped === true) process.exit((await isShippedGood(positionals)) ? 0 : 1)
const sets = await dataSets(positionals, CHOICE_ROUNDS)
const table = study(sets)
if (values.all === true)
  for (const [candidate, summaries] of table) {
    console.log(`\n${nameOf(candidate)}`)
    printSummaries(sets, summaries)
  }
const fresh = study(await dataSets(positionals, FRESH_ROUNDS))
console.log(
  '\nLeft out                  chosen without it                        false on it, seeds of the choice, fresh',
)
for (const source of new Set(sets.map((set) => set.source))) {
  const chosen = choose(table, (set) => sets[set]?.source !== source)
  sets.forEach(({ name, source: own }, set) => {
    if (own !== source) return
    const [known, unseen] = [table, fresh].map((one) => percent(falseOn(one, chosen, set)))
    console.log(`${name.padEnd(25)} ${nameOf(chosen).padEnd(40)} ${known} ${unseen}`)
  })
}
const chosen = choose(table, () => true)
for (const candidate of [...PLAIN, chosen]) {
  console.log(`\n${candidate === chosen ? 'Chosen: ' : ''}${nameOf(candidate)}, fresh seeds`)
  printSummaries(sets, fresh.get(candidate) as Summary[])
}
