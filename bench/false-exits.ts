// `npm run false-exits -- FILE.ndjson [--stop 15]`: measures how often wrong prices trigger a trailing stop, for
// several rules that compute the price of the exits. FILE contains `trade` messages of the service, one per line. A
// simulated position opens at every print above the minimum size, and is followed to its first exit.
import { parseArgs } from 'node:util'
import { ExitPrice } from '../src/engine/exits/exit-price.ts'
import { DEFAULT_EXIT_WINDOW, type ExitWindow } from '../src/engine/exits/exit-settings.ts'
import { median, type Print, quantile, readPrints } from './exit-study/prints.ts'

/** An exit is false if the price rises above the stop again within this number of prints. */
const BACK_WITHIN = 10
/** Number of prints before and after a print from which the true price at the print is computed. The true price is the
 *  median of all of these prints, so it is known only later. */
const TRUTH_SIDE = 10
/** Index of the print at which the first position opens. */
const FIRST = 20
/** Delay from a sale's decision to its landing, ms. */
const LANDING_MS = 1_500

interface Outcome {
  exits: number
  falseExits: number
  /** For each exit: the number of prints from the time at which the true price reached the stop until the exit.
   *  `lateSeconds`: the same delay in seconds. Exits whose stop the true price never reached are not in these lists. */
  readonly latePrints: number[]
  readonly lateSeconds: number[]
  /** Proceeds of each position as a multiple of its cost, at the true prices and without fees. */
  readonly brought: number[]
}

/** Price after print `at` for a position that opened at print `since`. */
type PriceAt = (prints: readonly Print[], at: number, since: number) => number

const lastPrints =
  (window: number): PriceAt =>
  (prints, at) =>
    median(prints.slice(Math.max(0, at + 1 - window), at + 1).map(({ price }) => price))

/** The price of the exits as the engine computes it. It begins as the robust price when the position opens, and does
 *  not use prints from before the opening. */
function asItRuns(window: ExitWindow): PriceAt {
  let opened = -1
  let folded = -1
  let exitPrice = new ExitPrice()
  return (prints, at, since) => {
    if (opened !== since || at < folded) {
      opened = since
      folded = since - 1
      exitPrice = new ExitPrice()
    }
    for (; folded < at; folded++) {
      const print = prints[folded + 1] as Print
      exitPrice.fold(print.price, lastPrints(5)(prints, folded + 1, since), print.time)
    }
    return exitPrice.of(window, 0, (prints[at] as Print).time)
  }
}

function study(tokens: readonly Print[][], priceOf: () => PriceAt, stopPercent: number): Outcome {
  const outcome: Outcome = { exits: 0, falseExits: 0, latePrints: [], lateSeconds: [], brought: [] }
  for (const prints of tokens) {
    const prices = prints.map(({ price }) => price)
    const truth = prices.map((_price, at) => median(prices.slice(Math.max(0, at - TRUTH_SIDE), at + TRUTH_SIDE + 1)))
    const priceAt = priceOf()
    for (let since = FIRST; since < prints.length; since++)
      follow(prints, truth, since, priceAt, 1 - stopPercent / 100, outcome)
  }
  return outcome
}

function follow(
  prints: readonly Print[],
  truth: readonly number[],
  since: number,
  priceAt: PriceAt,
  share: number,
  outcome: Outcome,
): void {
  let high = 0
  let at = since
  for (; at < prints.length; at++) {
    const price = priceAt(prints, at, since)
    high = Math.max(high, price)
    if (price <= high * share) break
  }
  const cost = truth[since] as number
  if (at === prints.length) {
    outcome.brought.push((truth[at - 1] as number) / cost)
    return
  }
  outcome.exits++
  const end = Math.min(prints.length - 1, at + BACK_WITHIN)
  for (let next = at + 1; next <= end; next++)
    if (priceAt(prints, next, since) > high * share) {
      outcome.falseExits++
      break
    }
  const timeOf = (print: number): number => (prints[print] as Print).time
  let landed = at
  while (landed < prints.length - 1 && timeOf(landed) < timeOf(at) + LANDING_MS) landed++
  outcome.brought.push((truth[landed] as number) / cost)
  let trueHigh = 0
  for (let print = since; print < prints.length; print++) {
    trueHigh = Math.max(trueHigh, truth[print] as number)
    if ((truth[print] as number) > trueHigh * share) continue
    outcome.latePrints.push(at - print)
    outcome.lateSeconds.push((timeOf(at) - timeOf(print)) / 1000)
    break
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { stop: { type: 'string', default: '15' } },
})
const [path] = positionals
const stopPercent = Number(values.stop)
if (path === undefined || positionals.length > 1 || !(stopPercent > 0 && stopPercent < 100)) {
  console.error(
    'expected one FILE with trade messages, one per line, and --stop with a percentage above 0 and below 100',
  )
  process.exit(2)
}
const tokens = await readPrints(path)
const prints = tokens.reduce((sum, one) => sum + one.length, 0)
console.log(`${prints} sized prints of ${tokens.length} tokens, trailing stop of ${stopPercent} %\n`)
console.log(
  'median of       exits  false    late: prints p10 p50 p90    seconds p10 p50 p90    brought mean p10 p50 p90',
)
const rows: [string, () => PriceAt][] = [
  ...[5, 9, 21, 41].map((window): [string, () => PriceAt] => [`${window} prints`, () => lastPrints(window)]),
  ['engine, window of 21', () => asItRuns(21)],
  ['engine', () => asItRuns(DEFAULT_EXIT_WINDOW)],
]
for (const [name, priceOf] of rows) {
  const { exits, falseExits, latePrints, lateSeconds, brought } = study(tokens, priceOf, stopPercent)
  const three = (values: readonly number[], digits: number): string =>
    [0.1, 0.5, 0.9].map((part) => quantile(values, part).toFixed(digits).padStart(4)).join(' ')
  const mean = brought.reduce((sum, one) => sum + one, 0) / brought.length
  const share = `${((100 * falseExits) / exits).toFixed(1)} %`
  console.log(
    `${name.padEnd(14)} ${String(exits).padStart(6)} ${share.padStart(7)}  ${three(latePrints, 0).padStart(23)} ${three(lateSeconds, 0).padStart(22)}       ${mean.toFixed(3)} ${three(brought, 2)}`,
  )
}
