import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { sluice } from './process.ts'

const HOOK = new URL('./loaded-packages.mjs', import.meta.url).href
const folder = temporaryFolder()
const at = (name: string): string => join(folder.path, name)
/** Packages that every command loads, for its arguments and the journal. */
const ALWAYS = ['commander', 'better-sqlite3', 'bindings', 'file-uri-to-path']
/** Packages that a command loads to read a configuration. The strategy passed its check before, so no command parses it
 *  again. */
const CONFIGURATION = ['yaml', 'zod']

beforeAll(async () => {
  await writeTape(at('tape.db'), [{ time: 1_780_000_000_000, items: noisyMarket(2_000, 3, 1_780_000_000_000) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', exits: { maxHoldSeconds: 30 } }]
  folder.write('bots.yaml', JSON.stringify({ service, bots }))
  const backtest = ['backtest', at('bots.yaml'), '--journal', at('tape.db')]
  const first = [backtest, [...backtest, '--out', at('first')], ['check', at('bots.yaml')]]
  for (const { code, stderr } of await Promise.all(first.map((args) => sluice(args)))) expect(code, stderr).toBe(0)
})

/** Runs a command, and returns the names of the modules that it loads, as `loaded-packages.mjs` reports them. */
async function modulesOf(name: string, args: readonly string[], expected = 0): Promise<Set<string>> {
  const loaded = at(`${name}.loaded`)
  const { code, stderr } = await sluice(args, { NODE_OPTIONS: `--import=${HOOK}`, SLUICE_LOADED: loaded })
  expect(code, stderr).toBe(expected)
  return new Set(readFileSync(loaded, 'utf8').trim().split('\n'))
}

test.concurrent.each<[command: string, may: readonly string[], args: () => string[], code?: number]>([
  ['backtest', CONFIGURATION, () => [at('bots.yaml'), '--journal', at('tape.db'), '--out', at('second')]],
  ['sweep', CONFIGURATION, () => [at('bots.yaml'), '--journal', at('tape.db'), '--range', 'dropPercent=10,20']],
  ['report', [], () => ['--journal', at('first/results.db')]],
  // The journal of a backtest's results has no market rows. The replay therefore loads everything and then reports that
  // it verified no segment.
  ['replay', CONFIGURATION, () => ['--verify', '--journal', at('first/results.db')], 1],
])(
  'the command %s loads no package for the network, for logs or for the desk',
  async (command, may, args, expected = 0) => {
    const modules = await modulesOf(command, [command, ...args()], expected)
    const packages = [...modules].filter((name) => !/^(node:|file:|bin\/|src\/|strategies\/)/.test(name))
    const others = packages.filter((name) => ![...ALWAYS, ...may].includes(name))
    expect(others).toEqual([])
  },
)

test.concurrent('a backtest without --out loads no code for feeds, TLS, threads, reports or writing a journal', async () => {
  const modules = await modulesOf('prints', ['backtest', at('bots.yaml'), '--journal', at('tape.db')])
  const unused = [
    ...['node:http', 'node:perf_hooks', 'node:readline/promises', 'node:tls', 'node:worker_threads'],
    ...['src/backtest/calibration.ts', 'src/backtest/causality/verify.ts', 'src/backtest/results-folder.ts'],
    ...['src/backtest/report/build-report.ts', 'src/config/builder-policy-file.ts', 'src/config/certificate.ts'],
    ...['src/config/determinism/check.ts', 'src/journal/writer/writer.ts', 'src/venues/token-service/feed.ts'],
  ]
  expect(unused.filter((name) => modules.has(name))).toEqual([])
  expect(modules).toContain('src/engine/engine.ts')
})
