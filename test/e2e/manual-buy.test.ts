import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openReader } from '../../src/journal/reader/reader.ts'
import { eventOf } from '../../src/market/block.ts'
import { Mints } from '../../src/market/mints.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { launch, type Sluice, sluice } from './process.ts'
import { until } from './until.ts'

const { path } = temporaryFolder()
const journal = join(path, 'bought.db')

// The strategy waits for a fall that does not occur, so only the operator makes this bot buy.
const BOTS = `service: sandbox
journal: { path: ${journal} }
bots:
  - name: hands
    strategy: dip-buyer
    params: { dropPercent: 90, sizeSol: 0.05 }
    mode: live
    orders: { slippagePercent: 50 }
    exits: { stopLossPercent: 90, maxHoldSeconds: 5 }
    limits: { maxSolPerOrder: 0.1, maxOpenPositions: 3 }
`

/** Mints on the tape, those with the most trades first. */
function tradedMints(): string[] {
  const reader = openReader(journal)
  try {
    const counts = new Map<string, number>()
    for (const block of reader.blocks(new Mints()))
      for (let row = 0; row < block.length; row++) {
        const event = eventOf(block, row)
        if (event.type === 'trade') counts.set(event.mint, (counts.get(event.mint) ?? 0) + 1)
      }
    return [...counts].sort(([, one], [, other]) => other - one).map(([mint]) => mint)
  } finally {
    reader.close()
  }
}

/** Buys the first token that the limits and the prices allow. Returns its mint. */
async function buyOne(bots: Sluice): Promise<string> {
  await until('the start', () => /"?running/.test(bots.stderr))
  return until('a token that can be bought', async () => {
    for (const mint of tradedMints().slice(0, 5)) {
      const bought = await sluice(['buy', mint, '--bot', 'hands', '--sol', '0.05', '--journal', journal])
      if (bought.code === 0) return mint
    }
    return false
  })
}

test('sluice buy MINT buys for a running bot on the sandbox, and the bot manages the position and sells it', async ({
  onTestFinished,
}) => {
  const file = join(path, 'hands.yaml')
  writeFileSync(file, BOTS)
  const bots = launch(['run', file, '--json'])
  onTestFinished(async () => {
    bots.child.kill('SIGKILL')
    await bots.ended
  })
  const mint = await buyOne(bots)
  const fills = async (): Promise<{ side: string; bot: string; mint: string; orderId: string; tokens: number }[]> =>
    JSON.parse((await sluice(['fills', '--journal', journal, '--json'])).stdout).fills
  const [buy, sale] = await until('the sale by the exit', async () => {
    const all = (await fills()).filter((fill) => fill.mint === mint)
    return all.length >= 2 && all.toSorted((one) => (one.side === 'buy' ? -1 : 1))
  })
  expect(buy).toMatchObject({ side: 'buy', bot: 'hands' })
  expect(sale).toMatchObject({ side: 'sell', bot: 'hands', tokens: buy?.tokens })
  const { positions } = JSON.parse((await sluice(['positions', '--journal', journal, '--json'])).stdout)
  expect(positions.filter((position: { mint: string; state: string }) => position.mint === mint)).toEqual([])

  const { orders } = JSON.parse((await sluice(['orders', '--journal', journal, '--json'])).stdout)
  const reasonOf = (id = ''): string => orders.find((order: { id: string }) => order.id === id)?.reason
  expect(reasonOf(buy?.orderId)).toContain('by hand')
  expect(reasonOf(sale?.orderId)).toContain('held for 5 s')
  // The order of the operator is a decision of the run like any other, so a replay repeats it.
  bots.child.kill('SIGINT')
  expect(await bots.ended).toBe(0)
  const replay = await sluice(['replay', '--journal', journal, '--verify', '--json'])
  expect(JSON.parse(replay.stdout.trim().split('\n').at(-1) ?? '{}')).toMatchObject({ divergence: null })
})
