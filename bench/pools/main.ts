// `npm run pools [-- --seeds 20 --first 1 --minutes 20 --bot NAME --worst N --json]`: compares the simulated profit of
// every bot of `roster.ts` with its profit in exactly known pools. Exits with 1 if the fill model may flatter a bot,
// which means that the simulated profit is too high. `--record` writes the figures into the source of the report,
// `--rough` applies a limit that suits few seeds, `--tape FILE` only writes the tape of the first seed.
import { parseArgs } from 'node:util'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { type Comparison, compareSeed } from './compare.ts'
import { playMarket } from './exact-market.ts'
import { modelCode, recordOf, writeRecord } from './record.ts'
import { misses, roughMisses, type Summary, summaryOf } from './summary.ts'
import { writeTape } from './tape.ts'
import { worstTokens } from './worst.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    first: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '20' },
    bot: { type: 'string' },
    worst: { type: 'string', default: '0' },
    tape: { type: 'string' },
    record: { type: 'boolean', default: false },
    rough: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const [seeds, first, minutes, worst] = [values.seeds, values.first, values.minutes, values.worst].map(Number) as [
  number,
  number,
  number,
  number,
]
if (!(seeds >= 1 && minutes > 0)) {
  console.error('--seeds must be at least 1, and --minutes above 0')
  process.exit(2)
}
if (values.record && (seeds < 20 || minutes < 20 || values.bot !== undefined)) {
  console.error('--record needs all bots (no --bot), and at least --seeds 20 and --minutes 20')
  process.exit(2)
}

if (values.tape !== undefined) await writeTape(values.tape, playMarket({ seed: first, minutes }))
else await compareAll()

async function compareAll(): Promise<void> {
  const code = modelCode()
  const comparisons: Comparison[] = []
  await inTemporaryFolder(async (folder) => {
    for (let seed = first; seed < first + seeds; seed++) {
      comparisons.push(...(await compareSeed(folder, { seed, minutes })))
      console.error(`seed ${seed} done`)
    }
  })
  const wanted = comparisons.filter(({ bot }) => values.bot === undefined || bot === values.bot)
  const summaries = summaryOf(wanted)
  if (values.json) console.log(JSON.stringify(summaries))
  else {
    printSummaries(summaries)
    for (const line of worstTokens(wanted, worst)) console.log(line)
  }
  if (values.record) writeRecord(recordOf(summaries, { seeds, date: new Date().toISOString().slice(0, 10), code }))
  const missed = values.rough ? roughMisses(summaries) : misses(summaries)
  for (const line of missed) console.error(line)
  if (missed.length > 0) process.exitCode = 1
}

function printSummaries(summaries: readonly Summary[]): void {
  const row = (cells: readonly string[]): string =>
    cells.map((cell, at) => (at < 2 ? cell.padEnd(at === 0 ? 22 : 8) : cell.padStart(10))).join('')
  console.log(
    row([
      'bot',
      'place',
      'fills',
      'traded',
      'simulated',
      'exact',
      'difference',
      'upper 95 %',
      'pessimism',
      'refused',
      'SOL',
    ]),
  )
  for (const { bot, place, fills, ...one } of summaries) {
    const sol = [one.simulatedSol, one.exactSol, one.differenceSol, one.upperSol].map((value) => value.toFixed(3))
    const pessimism = `${one.pessimismPercent.toFixed(2)} %`
    const refused = [one.refusedFillable.toFixed(1), one.refusedSol.toFixed(3)]
    console.log(row([bot, place, fills.toFixed(0), one.tradedSol.toFixed(1), ...sol, pessimism, ...refused]))
  }
}
