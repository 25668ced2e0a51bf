import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { seededRandom } from '../src/base/random.ts'
import { openReader } from '../src/journal/reader/reader.ts'
import { journalPath } from './support/journal-samples.ts'
import { BOUGHT, LIMITS, LOSSES, TOLD, wishAt } from './support/losses.ts'
import { recordPaperRun } from './support/paper-run.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/**
 * Number of times that the process is killed. Each kill needs a new process, so a larger number makes the test longer.
 */
const KILLS = Number(process.env.SLUICE_KILLS ?? 1)
const SEED = Number(process.env.SLUICE_SEED ?? 1)
const folder = temporaryFolder()
const child = fileURLToPath(new URL('./support/losses.main.ts', import.meta.url))

function configFile(): string {
  const strategy = folder.write('told.ts', TOLD)
  const exits = { stopLossPercent: 20, windowPrints: 5 }
  return folder.write(
    'losses.yaml',
    JSON.stringify({
      service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
      // Whether an order lands is random. With this seed, both buys of every bot land.
      paper: { seed: 3, latency: { p50Seconds: 0.5, p95Seconds: 0.6 } },
      bots: Object.entries(LIMITS).map(([name, limits]) => ({ name, strategy, limits, exits })),
    }),
  )
}

/** Returns the number of buys of each bot that has limits. The buys are counted by their fills. */
function bought(journal: string): Record<string, number> {
  const reader = openReader(journal)
  const buys = reader.fills().filter(({ side }) => side === 'buy')
  reader.close()
  const bounded = Object.keys(LIMITS).filter((name) => name !== 'free')
  return Object.fromEntries(bounded.map((name) => [name, buys.filter(({ bot }) => bot === name).length]))
}

/** Returns for each bot its number of buys and the code of its last refusal. */
function outcome(journal: string): Record<string, [buys: number, code: string | undefined]> {
  const reader = openReader(journal)
  try {
    const refused = [...reader.decisions()].filter(({ kind }) => kind === 'refused')
    const buys = reader.orders().filter(({ side }) => side === 'buy')
    return Object.fromEntries(
      Object.keys(LIMITS).map((name) => {
        const own = <T extends { bot: string }>(rows: T[]): T[] => rows.filter(({ bot }) => bot === name)
        return [name, [own(buys).length, own(refused).at(-1)?.code]]
      }),
    )
  } finally {
    reader.close()
  }
}

test(
  'a stop of entries after losses survives kill -9 and ends on time',
  async () => {
    const random = seededRandom(SEED)
    const config = configFile()
    for (let kill = 0; kill < KILLS; kill++) {
      const journal = journalPath()
      const rows = BOUGHT + random.integer(LOSSES.length - BOUGHT)
      const where = `seed ${SEED}, killed at row ${rows}`
      const { signal, stderr } = spawnSync(
        process.execPath,
        ['--conditions', 'development', child, journal, config, `${rows}`],
        { encoding: 'utf8' },
      )
      expect(signal, `${where}: ${stderr}`).toBe('SIGKILL')
      expect(bought(journal), where).toEqual({ streak: 2, drawdown: 2, day: 2 })

      await recordPaperRun(journal, config, wishAt(600), 'stop')
      const { free, ...bounded } = outcome(journal)
      expect(bounded, where).toEqual({
        streak: [2, 'LOSING_STREAK'],
        drawdown: [2, 'DRAWDOWN_LIMIT'],
        day: [2, 'LOSS_LIMIT'],
      })
      expect(free?.[0]).toBeGreaterThan(2)

      // On the next day, the pause after a losing streak has ended, but the stop after a drawdown continues.
      await recordPaperRun(journal, config, wishAt(13 * 3600), 'stop')
      expect(outcome(journal), where).toMatchObject({
        streak: [3, expect.anything()],
        drawdown: [2, 'DRAWDOWN_LIMIT'],
        day: [3, expect.anything()],
      })
    }
  },
  400_000 + KILLS * 10_000,
)
