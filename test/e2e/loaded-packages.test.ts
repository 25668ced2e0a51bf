import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { sluice } from './process.ts'

const HOOK = new URL('./loaded-packages.mjs', import.meta.url).href
const folder = temporaryFolder()
const at = (name: string): string => join(folder.path, name)
/** Packages of every command: arguments and the journal. */
const ALWAYS = ['commander', 'better-sqlite3', 'bindings', 'file-uri-to-path']
/** Packages that read a configuration and its strategies. */
const CONFIGURATION = ['yaml', 'zod', 'acorn']

beforeAll(async () => {
  await writeTape(at('tape.db'), [{ time: 1_780_000_000_000, items: noisyMarket(2_000, 3, 1_780_000_000_000) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', exits: { maxHoldSeconds: 30 } }]
  folder.write('bots.yaml', JSON.stringify({ service, bots }))
  const { code, stderr } = await sluice(['backtest', at('bots.yaml'), '--journal', at('tape.db'), '--out', at('first')])
  expect(code, stderr).toBe(0)
})

test.concurrent.each<[command: string, may: readonly string[], args: () => string[], code?: number]>([
  ['backtest', CONFIGURATION, () => [at('bots.yaml'), '--journal', at('tape.db'), '--out', at('second')]],
  ['sweep', CONFIGURATION, () => [at('bots.yaml'), '--journal', at('tape.db'), '--range', 'dropPercent=10,20']],
  ['report', [], () => ['--journal', at('first/results.db')]],
  // Results have no market rows, so the replay loads everything and then reports that it verified no segment.
  ['replay', CONFIGURATION, () => ['--verify', '--journal', at('first/results.db')], 1],
])('%s loads no package for the network, for logs or for the desk', async (command, may, args, expected = 0) => {
  const loaded = at(`${command}.loaded`)
  const env = { NODE_OPTIONS: `--import=${HOOK}`, SLUICE_LOADED: loaded }
  const { code, stderr } = await sluice([command, ...args()], env)
  expect(code, stderr).toBe(expected)
  const packages = readFileSync(loaded, 'utf8').split('\n')
  const others = new Set(packages.filter((name) => name !== '' && ![...ALWAYS, ...may].includes(name)))
  expect([...others]).toEqual([])
})
