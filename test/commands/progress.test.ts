import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Report } from '../../src/backtest/report/report.ts'
import { Progress, progressLine } from '../../src/commands/terminal.ts'
import { loadConfig } from '../../src/config/load.ts'
import { called } from '../e2e/called.ts'
import { noisyMarket } from '../support/recorded-tape.ts'
import { simulateRun } from '../support/simulated-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test.each([
  [0, 100, 0, '0 % of 100 rows'],
  [0, 100, 60_000, '0 % of 100 rows'],
  [50, 100, 999, '50 % of 100 rows'],
  [2_000_000, 8_000_000, 1_000, '25 % of 8000000 rows, 2.0 M rows/s, 3 s left'],
  [7_999_999, 8_000_000, 4_000, '99 % of 8000000 rows, 2.0 M rows/s, 1 s left'],
  [8_000_000, 8_000_000, 4_000, '100 % of 8000000 rows, 2.0 M rows/s, 0 s left'],
  [8_000_001, 8_000_000, 4_000, '100 % of 8000000 rows, 2.0 M rows/s, 0 s left'],
])('the progress line after %d of %d rows and %d ms', (rows, of, tookMs, line) => {
  expect(progressLine(rows, of, tookMs)).toBe(line)
})

test('the progress line shows bytes in MB, and says when it counts decisions and not rows', () => {
  expect(progressLine(30e6, 120e6, 2_000, 'bytes')).toBe('25 % of 120.0 MB, 15.0 MB/s, 6 s left')
  expect(progressLine(1e6, 4e6, 2_000, 'decisions')).toBe('25 % of 4000000 decisions, 0.5 M decisions/s, 6 s left')
})

describe('a line of progress', () => {
  const written = (isTTY: boolean, columns?: number) => {
    const texts: string[] = []
    const stream = { isTTY, columns, write: (text: string) => texts.push(text) > 0 } as unknown as NodeJS.WriteStream
    const progress = new Progress(stream, 10, { startedAt: -1_000, label: 'backup' })
    progress.at(5, 20)
    progress.end()
    return texts
  }

  test('the progress line is written only to a terminal, and is cleared at the end', () => {
    expect(written(false)).toEqual([])
    expect(written(true)).toEqual([expect.stringContaining('backup: 25 % of 20 rows'), '\r\u001b[K'])
  })

  test('the progress line is not cut on a terminal that reports a width of 0', () => {
    expect(written(true, 0)[0]).toContain('backup: 25 % of 20 rows')
  })
})

describe('on a terminal', () => {
  const folder = temporaryFolder()
  const RUN = join(folder.path, 'run.db')
  const RESULTS = join(folder.path, 'results')
  const T0 = 1_780_000_000_000
  const isTTY = process.stderr.isTTY
  const BOTS = folder.write(
    'bots.yaml',
    JSON.stringify({
      service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' },
      bots: [{ name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 15, sizeSol: 0.05 } }],
    }),
  )

  beforeAll(async () => {
    const loaded = await loadConfig([BOTS])
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
    await simulateRun(RUN, { time: T0, items: noisyMarket(1_100, 5, T0), config: loaded.config })
    const recorded = readFileSync(new URL('../journal/journals/cloud.db.gz', import.meta.url))
    writeFileSync(join(folder.path, 'old.db'), gunzipSync(recorded))
    writeFileSync(join(folder.path, 'other-old.db'), gunzipSync(recorded))
    await called(['backtest', BOTS, '--journal', RUN, '--out', RESULTS])
    process.stderr.isTTY = true
  })

  afterAll(() => {
    process.stderr.isTTY = isTTY
  })

  /** Returns the percentages that a command showed, and the text that was left on the progress line at the end. */
  async function shownBy(args: readonly string[]) {
    const { code, stderr } = await called(args)
    const lines = stderr.split('\r').map(stripVTControlCharacters)
    const shares = lines.flatMap((line) => /(\d+) % of [1-9]/.exec(line)?.[1] ?? []).map(Number)
    return { code, shares, left: lines.at(-1)?.trim() }
  }

  const AT = new Date(T0 + 90_000).toISOString().slice(0, 19)
  const MINT = noisyMarket(1, 5, T0)[0]?.mint ?? ''

  test.each([
    [[], []],
    [['--runs', '1'], ['dips']],
  ])('a backtest with --out and %j plays further runs for the bots %j', async (more, bots) => {
    const out = join(folder.path, `further-${more.length}`)
    await called(['backtest', BOTS, '--journal', RUN, '--out', out, ...more])
    const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Report
    expect(Object.keys(report.extras)).toEqual(bots)
  })

  test.each([
    ['plan-advise', BOTS, '--journal', RUN],
    ['backtest', BOTS, '--journal', RUN, '--verify-causal'],
    ['backtest', BOTS, '--journal', RUN, '--out', join(folder.path, 'again'), '--runs', '1'],
    ['attribute', RUN, RESULTS],
    ['compare', RESULTS, RUN],
    ['migrate', '--journal', join(folder.path, 'old.db')],
    ['migrate', '--journal', join(folder.path, 'other-old.db'), '--skip-backup'],
    ['replay', '--journal', RUN],
    ['why', MINT, '--at', `${AT}Z`, '--journal', RUN],
  ])('%s %s shows its progress and clears the line at the end', async (...args) => {
    const { code, shares, left } = await shownBy(args)
    expect({ code, left }).toEqual({ code: 0, left: '' })
    expect(shares.length).toBeGreaterThan(0)
    for (const share of shares) expect(share).toBeLessThanOrEqual(100)
  })
})
