import { join } from 'node:path'
import { Api } from '../src/desk/api/routes.ts'
import type { Answers } from '../src/desk/api/types.ts'
import { openReader } from '../src/journal/reader/reader.ts'
import { recordedView } from '../src/runtime/view/recorded-view.ts'
import { worthsIn } from '../src/runtime/view/view-worths.ts'
import { writeDeskJournal } from './desk-journal.ts'
import { type Figure, isMain, printFigures, threadMs } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const HOURS = 24
const REQUESTS = 60
/** Time limit for each endpoint, so that a chart can be used within a second. */
const GOAL_MS = 100

/** Measures the processor time of requests to each endpoint of the desk's API: the 95th percentile, and the first
 *  request of a process, which reads the tape of a day and all fills. `path`: an existing journal; default: a new
 *  one. */
export async function benchDesk(smoke: boolean, path?: string): Promise<Figure[]> {
  if (path !== undefined) return figuresOf(path)
  return inTemporaryFolder(async (folder) => {
    const file = join(folder, 'desk.db')
    await writeDeskJournal(file, smoke ? 0.5 : HOURS)
    return figuresOf(file)
  })
}

function figuresOf(path: string): Figure[] {
  const reader = openReader(path)
  const [orders, fills] = [reader.orders(), reader.fills()]
  const worths = worthsIn(recordedView(reader, 'bench'))
  const api = new Api(reader, [], () => worths)
  const times = new Map<string, number[]>()
  const ask = (name: string, path: string, query: Readonly<Record<string, string>> = {}): unknown => {
    const begin = threadMs()
    const { status, body } = api.answer(path, Object.entries(query))
    JSON.stringify(body)
    if (status !== 200) throw new Error(`${path} was answered with ${status}`)
    times.set(name, [...(times.get(name) ?? []), threadMs() - begin])
    return body
  }
  const first = ['orders', 'money', `why/${orders[0]?.id}`]
  const begin = threadMs()
  for (const path of first) ask('first', path)
  const warmUp = threadMs() - begin
  const { bots } = ask('money', 'money') as Answers['money']
  for (let request = 0; request < REQUESTS; request++) {
    const { id, mint } = orders[(request * 97) % orders.length] as (typeof orders)[number]
    for (const list of ['orders', 'fills', 'round-trips', 'positions']) {
      ask(list, list, { limit: '100' })
      ask(`${list} of a token`, list, { mint })
      ask(`${list}, 500 of a bot`, list, { bot: bots[0] ?? '', limit: '500' })
    }
    ask('log', 'log')
    ask('log, alarms only', 'log', { level: 'error' })
    ask('equity', 'equity')
    ask('money', 'money')
    ask('token', `token/${mint}`)
    ask('token, bars of 15s', `token/${mint}`, { bars: '15s' })
    ask('why, order', `why/${id}`)
    ask('why, token', `why/${mint}`)
  }
  const held = reader.heldPositions().length
  const trips = api.journal.money.closedTrips().length
  reader.close()
  const about = `${fills.length} fills, ${trips} round trips, ${held} positions`
  times.delete('first')
  return [
    figure(`desk, first requests: ${about}`, [warmUp]),
    ...[...times].map(([name, taken]) => ({ ...figure(`desk, ${name}, p95`, taken), goal: GOAL_MS, atMost: true })),
  ]
}

/** A figure with the 95th percentile in place of the median. */
function figure(name: string, taken: readonly number[]): Figure {
  const sorted = taken.toSorted((one, other) => one - other)
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? 0
  return { name, unit: 'ms', median: at(0.95), min: sorted[0] ?? 0, max: at(1) }
}

if (isMain(import.meta.url)) printFigures(await benchDesk(false, process.argv[2]))
