// `npm run exit-study -- RECORDING.ndjson ...`: chooses the price of the exits by the method of
// docs/decisions/0010-exit-price-by-method.md. Each file holds `trade` messages of the service, one per line.
import { parseArgs } from 'node:util'
import { CANDIDATES, type Candidate, nameOf, pricesOf, robustPrices, rulesOf } from './candidates.ts'
import { lossOn, type Summary, summarize } from './loss.ts'
import { type Block, generatedBlocks, NOISES, recorded, sandboxBlocks } from './markets.ts'
import { readPrints, reversedInstants } from './prints.ts'

/** Blocks of one kind. Data sets with the same `source` are left out together. */
interface DataSet {
  readonly name: string
  readonly source: string
  readonly step: number
  readonly blocks: readonly Block[]
}

/** `round`: 0 for the seeds of the choice, 1 for fresh ones. */
async function dataSets(paths: readonly string[], round: number): Promise<DataSet[]> {
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
    blocks: generatedBlocks(noise, round),
  }))
  return [...files.flat(), { name: 'sandbox', source: 'sandbox', step: 10, blocks: sandboxBlocks(round) }, ...generated]
}

type Table = ReadonlyMap<Candidate, readonly Summary[]>

function study(sets: readonly DataSet[]): Table {
  const robust = sets.map(({ blocks }) => blocks.map(({ prints }) => robustPrices(prints)))
  return new Map(
    CANDIDATES.map((candidate) => [
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

/** Fewer prints failed on data that the project has not seen. */
const LEAST_PRINTS = 41
const GOAL = 0.05
const NEAR = 0.01
const SAME_SECONDS = 0.2

function choose(table: Table, isUsed: (set: number) => boolean): Candidate {
  const used = (summaries: readonly Summary[]): Summary[] => summaries.filter((_summary, set) => isUsed(set))
  const scored = [...table]
    .filter(([{ prints }]) => prints >= LEAST_PRINTS)
    .map(([candidate, summaries]) => ({
      candidate,
      bound: Math.max(...used(summaries).map(({ falseBound }) => falseBound)),
      delay: Math.max(
        ...used(summaries).flatMap(({ delaySeconds }) => (Number.isNaN(delaySeconds) ? [] : [delaySeconds])),
      ),
    }))
  const least = Math.min(...scored.map(({ bound }) => bound))
  const eligible = scored.filter(({ bound }) => bound <= (least <= GOAL ? GOAL : least + NEAR))
  const soonest = Math.min(...eligible.map(({ delay }) => delay))
  const [chosen] = eligible
    .filter(({ delay }) => delay <= soonest + SAME_SECONDS)
    .sort(
      (one, other) =>
        rulesOf(one.candidate) - rulesOf(other.candidate) || one.candidate.prints - other.candidate.prints,
    )
  return (chosen as { candidate: Candidate }).candidate
}

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

const { values, positionals } = parseArgs({ allowPositionals: true, options: { all: { type: 'boolean' } } })
const sets = await dataSets(positionals, 0)
const table = study(sets)
if (values.all === true)
  for (const [candidate, summaries] of table) {
    console.log(`\n${nameOf(candidate)}`)
    printSummaries(sets, summaries)
  }
const fresh = study(await dataSets(positionals, 1))
console.log(
  '\nLeft out                  chosen without it                        false on it, seeds of the choice, fresh',
)
for (const source of new Set(sets.map((set) => set.source))) {
  const chosen = choose(table, (set) => sets[set]?.source !== source)
  sets.forEach(({ name, source: own }, set) => {
    if (own !== source) return
    const [known, unseen] = [table, fresh].map((one) => percent((one.get(chosen)?.[set] as Summary).falseShare))
    console.log(`${name.padEnd(25)} ${nameOf(chosen).padEnd(40)} ${known} ${unseen}`)
  })
}
const chosen = choose(table, () => true)
const plain = CANDIDATES.filter((candidate) => rulesOf(candidate) === 0 && [21, 41].includes(candidate.prints))
for (const candidate of [...plain, chosen]) {
  console.log(`\n${candidate === chosen ? 'Chosen: ' : ''}${nameOf(candidate)}, fresh seeds`)
  printSummaries(sets, fresh.get(candidate) as Summary[])
}
