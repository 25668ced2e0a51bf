import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { called } from '../e2e/called.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()

beforeAll(async () => {
  mkdirSync(join(folder.path, 'data'))
  await writeTape(join(folder.path, 'own.db'), [{ time: T0, items: noisyMarket(300, 3, T0) }])
  await writeTape(join(folder.path, 'data/sluice.db'), [{ time: T0, items: noisyMarket(200, 3, T0) }])
  const bots = 'service: sandbox\nbots: [{ name: a, strategy: dip-buyer }]\n'
  folder.write('own.yaml', `journal: { path: own.db }\n${bots}`)
  folder.write('usual.yaml', bots)
})

const sweep = ['--range', 'dropPercent=5:10:5', '--hold-out', '0', '--jobs', '1']

test.each<[command: string, more: string[]]>([
  ['backtest', []],
  ['sweep', sweep],
  ['plan-advise', []],
])('%s without --journal reads the journal of the configuration and names it on stderr', async (command, more) => {
  const stdouts: string[] = []
  for (const [file, given, said] of [
    ['own.yaml', [], 'sluice: reading the tape of own.db, the journal of own.yaml\n'],
    ['own.yaml', ['--journal', 'own.db'], ''],
    ['usual.yaml', [], 'sluice: reading the tape of data/sluice.db, the journal of usual.yaml\n'],
  ] as const) {
    const { code, stdout, stderr } = await called([command, file, ...more, ...given, '--json'], folder.path)
    expect({ code, stderr }).toEqual({ code: 0, stderr: said })
    stdouts.push(stdout)
  }
  expect(stdouts[0]).toBe(stdouts[1])
})

test('the rows come from the journal of the configuration', async () => {
  const rowsOf = async (file: string) => JSON.parse((await called(['backtest', file, '--json'], folder.path)).stdout)
  expect([await rowsOf('own.yaml'), await rowsOf('usual.yaml')]).toMatchObject([{ events: 300 }, { events: 200 }])
})
