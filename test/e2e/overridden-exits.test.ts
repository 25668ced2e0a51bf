import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Project } from './project.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const project = new Project(folder.path)
const CHANGED = 'stopLossPercent 5 instead of 20, maxHoldSeconds 900 instead of 1800'

test('check, run and backtest name the bot for which the file overrides exits of the strategy', async () => {
  await writeTape(join(folder.path, 'tape.db'), [{ time: T0, items: noisyMarket(200, 3, T0) }])
  folder.write(
    'bots.yaml',
    `service: sandbox
defaults:
  exits: { stopLossPercent: 5, maxHoldSeconds: 900 }
bots:
  - { name: trend, strategy: momentum }
  - { name: own, strategy: momentum, exits: strategy }
`,
  )
  const check = JSON.parse(project.process('check', 'bots.yaml', '--json').stdout)
  expect(check).toMatchObject({
    warnings: [],
    bots: [
      {
        exits: { stopLossPercent: 5, maxHoldSeconds: 900 },
        exitSources: { stopLossPercent: 'defaults', maxHoldSeconds: 'defaults' },
        overriddenExits: [
          { exit: 'stopLossPercent', strategy: 20, file: 5 },
          { exit: 'maxHoldSeconds', strategy: 1800, file: 900 },
        ],
      },
      { exits: { stopLossPercent: 20, maxHoldSeconds: 1800 }, overriddenExits: [] },
    ],
  })
  const shown = project
    .process('check', 'bots.yaml')
    .stdout.split('\n')
    .filter((line) => line.includes('overrides'))
  expect(shown).toEqual([expect.stringContaining(`defaults.exits overrides the strategy: ${CHANGED}`)])
  for (const args of [
    ['backtest', 'bots.yaml', '--journal', 'tape.db', '--json'],
    ['run', 'bots.yaml', '--seconds', '1'],
  ]) {
    const { stderr } = project.process(...args)
    const lines = stderr.split('\n').filter((line) => line.includes('overrides exits'))
    expect(lines).toEqual([expect.stringContaining(`trend: ${CHANGED}`)])
    expect(lines[0]).not.toContain('own:')
  }
})
