// `npm run bench [-- NAME...] [--json] [--smoke]`: measures the speed of Sluice, and compares it with bare baselines.
// Runs of Sluice and of a baseline alternate.
import { parseArgs } from 'node:util'
import { benchBacktest } from './backtest.ts'
import { benchBars } from './bars.ts'
import { benchBusy } from './busy.ts'
import { benchConditionals } from './conditionals.ts'
import { benchDecision } from './decision.ts'
import { benchDesk } from './desk.ts'
import { benchDeskLoad } from './desk-load.ts'
import { benchDev } from './dev.ts'
import { benchEngine } from './engine.ts'
import { benchExit } from './exit.ts'
import { benchFeed } from './feed.ts'
import { benchFeedColumns } from './feed-columns.ts'
import { type Figure, isMet, printFigures } from './figure.ts'
import { benchGateway } from './gateway.ts'
import { benchGrowth } from './growth.ts'
import { benchIsolation } from './isolation.ts'
import { benchJournal } from './journal.ts'
import { benchLaunches } from './launches.ts'
import { benchLocal } from './local.ts'
import { benchLoop } from './loop.ts'
import { benchMemory } from './memory.ts'
import { benchPool } from './pool.ts'
import { benchPost } from './post.ts'
import { benchRecovery } from './recovery.ts'
import { benchSettling } from './settling.ts'
import { benchSideBySide } from './side-by-side.ts'
import { benchSigner } from './signer.ts'
import { benchStart } from './start.ts'
import { benchStartMemory } from './start-memory.ts'
import { benchSweep } from './sweep.ts'
import { benchSweepLengths } from './sweep-lengths.ts'

const benches: Record<string, (smoke: boolean) => Promise<Figure[]>> = {
  feed: benchFeed,
  'feed-columns': benchFeedColumns,
  busy: benchBusy,
  decision: benchDecision,
  post: benchPost,
  isolation: benchIsolation,
  exit: benchExit,
  conditionals: benchConditionals,
  launches: async (smoke) => benchLaunches(smoke),
  settling: benchSettling,
  loop: benchLoop,
  engine: benchEngine,
  bars: benchBars,
  backtest: (smoke) => benchBacktest(smoke),
  'side-by-side': benchSideBySide,
  growth: (smoke) => benchGrowth(smoke),
  sweep: (smoke) => benchSweep(smoke),
  'sweep-lengths': (smoke) => benchSweepLengths(smoke),
  memory: benchMemory,
  start: benchStart,
  'start-memory': benchStartMemory,
  dev: benchDev,
  desk: (smoke) => benchDesk(smoke),
  'desk-load': benchDeskLoad,
  gateway: benchGateway,
  pool: benchPool,
  signer: benchSigner,
  local: benchLocal,
  journal: async (smoke) => [...(await benchJournal(smoke)), ...(await benchRecovery(smoke))],
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, smoke: { type: 'boolean', default: false } },
})
const unknown = positionals.filter((name) => !Object.hasOwn(benches, name))
if (unknown.length > 0) {
  console.error(`unknown bench ${unknown.join(', ')}: expected ${Object.keys(benches).join(', ')}`)
  process.exit(2)
}

/** Figures of all benches. The figures of each bench are printed as soon as it has run, because all benches together
 *  take some minutes. */
const all: Figure[] = []
for (const [name, bench] of Object.entries(benches)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const figures = await bench(values.smoke)
  all.push(...figures)
  if (!values.json) printFigures(figures)
}
if (values.json) console.log(JSON.stringify(all.map((figure) => ({ ...figure, ok: isMet(figure) ?? null }))))
