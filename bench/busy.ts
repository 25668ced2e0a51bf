import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { costOf } from './command.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'
import { type Server, startServer } from './server.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const PER_SECOND = 110_000
const SECONDS = 30
const RUNS = 3
const BOTS = 4
/** Seconds that are added to `SECONDS`, so that the process can start, and the last rows can arrive. */
const AROUND = 6
/** SOL for the balance and the limits of each bot: so much that no bot stops during a run. */
const PLENTY = 10_000
/** Tables that do not grow with the orders: the tape, constants of the views, the reserve of disk space. */
const NOT_OF_ORDERS = ['block', 'run', 'tape_day', 'digits', 'power2', 'number', 'reserve', 'sqlite_schema']

/** Figures of one run. */
interface Recorded {
  /** Share of the sent messages whose rows are in the journal. */
  readonly share: number
  readonly ordersPerSecond: number
  /** Processor time of the whole process, per second of the market. */
  readonly cores: number
  /** Size of all tables and indexes of the journal, without the tape, without the page that each of them also has in an
   *  empty journal, and without the buys that a limit or an old event refused, kB per order. */
  readonly kilobytesPerOrder: number
  /** Size of such a refusal in the journal, kB. */
  readonly kilobytesPerRefusal: number
}

/** Writes the configuration of four bots that buy after small falls and sell soon, so that each second has many
 *  orders. */
function configure(server: Server, folder: string, name: string): { config: string; journal: string } {
  const [config, journal, key] = [join(folder, `${name}.yaml`), join(folder, `${name}.db`), join(folder, 'key')]
  writeFileSync(key, 'key', { mode: 0o600 })
  const units = { tradePrice: 'sol', tradeAmount: 'sol', priceUpdate: 'sol', sell: 'tokens' }
  const service = { baseUrl: server.postUrl, wsUrl: server.feedUrl, apiKey: `file:${key}`, units }
  const bots = Array.from({ length: BOTS }, (_, index) => ({
    ...{ name: `busy-${index + 1}`, strategy: 'dip-buyer', params: { dropPercent: 2 + index, sizeSol: 0.1 } },
    mode: 'paper',
    limits: { maxOpenPositions: 50, maxSolPerHour: PLENTY, maxDailyLossSol: PLENTY },
    exits: { stopLossPercent: 3, takeProfitPercent: 3, maxHoldSeconds: 5 },
  }))
  writeFileSync(config, JSON.stringify({ service, journal: { path: journal }, paper: { balanceSol: PLENTY }, bots }))
  return { config, journal }
}

/** Runs the bots as a user does while the market sends at a steady rate. */
function run(server: Server, folder: string, name: string, seconds: number): Recorded {
  const { config, journal } = configure(server, folder, name)
  server.tell({ kind: 'pace', perSecond: PER_SECOND, seconds, onceSubscribed: true })
  const args = ['--no-desk', '--log-level', 'error', '--seconds', String(seconds + AROUND)]
  const { processorMs, output } = costOf('run', config, ...args)
  const { orders } = output as { orders: number }
  const { inJournal } = costOf('tape', 'list', '--journal', journal).output as { inJournal: { rows: number } }
  return {
    share: inJournal.rows / (PER_SECOND * seconds),
    ordersPerSecond: orders / seconds,
    cores: processorMs / 1000 / seconds,
    ...sizesOf(journal, orders),
  }
}

/** Returns the size of the journal without its tape, in kB for each order and for each refusal. The rows of the
 *  decisions share pages, so a refusal counts with its share of their characters. */
function sizesOf(journal: string, orders: number): Pick<Recorded, 'kilobytesPerOrder' | 'kilobytesPerRefusal'> {
  const db = new Database(journal, { readonly: true })
  const names = NOT_OF_ORDERS.map((name) => `'${name}'`).join()
  const characters = 'sum(length(kind || bot || mint || code || reason) + length(json))'
  const { all, decisions, refused, refusals } = db
    .prepare(
      `SELECT (SELECT sum(pgsize) FROM dbstat WHERE name NOT IN (${names}) AND path <> '/') AS "all",
        (SELECT sum(pgsize) FROM dbstat WHERE name = 'output') AS decisions,
        (SELECT ${characters} FILTER (WHERE kind = 'refused') * 1.0 / ${characters} FROM output) AS refused,
        (SELECT count(*) FROM output WHERE kind = 'refused') AS refusals`,
    )
    .get() as Record<'all' | 'decisions' | 'refused' | 'refusals', number>
  db.close()
  const ofRefusals = decisions * (refused ?? 0)
  return {
    kilobytesPerOrder: (all - ofRefusals) / 1000 / orders,
    kilobytesPerRefusal: refusals === 0 ? 0 : ofRefusals / 1000 / refusals,
  }
}

export async function benchBusy(smoke = false): Promise<Figure[]> {
  const [seconds, runs] = smoke ? [2, 1] : [SECONDS, RUNS]
  const server = await startServer()
  try {
    return await inTemporaryFolder(async (folder) => {
      const all = Array.from({ length: runs }, (_, index) => run(server, folder, `busy-${index}`, seconds))
      const name = 'four busy bots at 110,000 messages/s'
      const of = (key: keyof Recorded): Pick<Figure, 'median' | 'min' | 'max'> => summarize(all.map((one) => one[key]))
      return [
        { name: `${name}, recorded`, unit: 'of all messages', goal: 1, ...of('share') },
        { name: `${name}, orders`, unit: 'orders/s', ...of('ordersPerSecond') },
        { name: `${name}, process`, unit: 'cores', ...of('cores') },
        {
          name: 'journal without tape and refusals, per order',
          unit: 'kB',
          goal: 4,
          atMost: true,
          ...of('kilobytesPerOrder'),
        },
        { name: 'journal, per refused buy', unit: 'kB', ...of('kilobytesPerRefusal') },
      ]
    })
  } finally {
    server.close()
  }
}

if (isMain(import.meta.url)) printFigures(await benchBusy(process.argv.includes('--smoke')))
