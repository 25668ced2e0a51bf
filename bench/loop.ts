import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { botSettings } from '../test/support/engine-rig.ts'
import { probe } from './feed.ts'
import { type Figure, isMain, pairsOf, printFigures } from './figure.ts'
import { stampNow } from './frames.ts'
import { startRig } from './rig.ts'
import { type Server, startServer } from './server.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const PER_SECOND = 20_000
const SECONDS = 4
const RUNS = 7

/** 99th percentiles of two delays, microseconds. `loop`: delay of a timer of the event loop; `frame`: time from the
 *  server's socket until the engine has handled the frame. */
interface Delays {
  readonly loop: number
  readonly frame: number
}

async function delays(server: Server, seconds: number, folder: string | undefined): Promise<Delays> {
  const late: number[] = []
  const rig = await startRig({
    ...{ url: server.feedUrl, bot: botSettings(probe.name), strategy: probe, ...(folder && { folder }) },
    observe: (block, from) => late.push(stampNow() - (block.marketCap[from] as number)),
  })
  const loop = monitorEventLoopDelay({ resolution: 1 })
  server.tell({ kind: 'pace', perSecond: PER_SECOND, seconds })
  await sleep(seconds * 300) // compiled and warm
  loop.enable()
  late.length = 0
  await sleep(seconds * 600)
  loop.disable()
  const sorted = Float64Array.from(late).sort()
  await sleep(seconds * 200)
  await rig.close()
  return { loop: loop.percentile(99) / 1000, frame: (sorted[Math.floor(sorted.length * 0.99)] as number) / 1000 }
}

export async function benchLoop(smoke = false): Promise<Figure[]> {
  const [seconds, runs] = smoke ? [1, 1] : [SECONDS, RUNS]
  const server = await startServer()
  try {
    return await inTemporaryFolder(async (folder) => {
      const figures: Figure[] = []
      const found = await pairsOf(
        runs,
        () => delays(server, seconds, folder),
        () => delays(server, seconds, undefined),
      )
      for (const [kind, name] of [
        ['loop', 'loop delay'],
        ['frame', 'socket to engine'],
      ] as const) {
        const { ours, bare, ratio } = found[kind]
        const what = `${name}, p99 at 20,000 messages/s`
        figures.push({ name: `${what}, no journal`, unit: 'us', ...bare }, { name: what, unit: 'us', ...ours })
        figures.push({ name: what, unit: 'x no journal', goal: 1.5, atMost: true, ...ratio })
      }
      return figures
    })
  } finally {
    server.close()
  }
}

if (isMain(import.meta.url)) printFigures(await benchLoop())
