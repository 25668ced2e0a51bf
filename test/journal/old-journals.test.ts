import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { recordedEntries } from '../../src/backtest/replay/segments.ts'
import { encodeJson } from '../../src/base/json.ts'
import { compared } from '../../src/engine/bots/thrown-value.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { Strategy } from '../../src/engine/strategy.ts'
import { bringUpToDate } from '../../src/journal/migrate.ts'
import { type JournalReader, openReader } from '../../src/journal/reader/reader.ts'
import { SCHEMA_VERSION } from '../../src/journal/schema/migrations.ts'
import type { Segment } from '../../src/journal/tape/recorded-segments.ts'
import { Mints } from '../../src/market/mints.ts'
import { called } from '../e2e/called.ts'
import { journalPath } from '../support/journal-samples.ts'
import dipBuyer from './journals/dip-buyer.ts'
import launchSniper from './journals/launch-sniper.ts'
import momentum from './journals/momentum.ts'

/** A field of a decision whose replayed value differs from the recorded one. */
interface Divergence {
  readonly at: string
  readonly kind: string
  readonly field: string
  readonly expected: unknown
  readonly got: unknown
}

/** The strategies of the commit that recorded the journals, because the present strategies make other decisions. */
const STRATEGIES = new Map<string, Strategy>(
  [dipBuyer, launchSniper, momentum].map((strategy) => [strategy.name, strategy as Strategy]),
)

/** Permitted differences from the recorded decisions, because a defect was repaired. The key names the commit of the
 *  repair; the function returns whether the repair explains the difference. */
const EXPLAINED: Readonly<Record<string, (divergence: Divergence) => boolean>> = {
  // Since the repair, each attempt reserves MOST_ROUNDING (6) lamports more. A buy has 1 attempt, a sale at most 5.
  // Before the repair, the verifier refused a transaction whose builder had rounded the priority fee or the amount up.
  '3a6add4: the reservation leaves room for the rounding of an honest builder': ({ field, expected, got }) =>
    field === 'order.reserveLamports' && [6, 30].includes(Number(got) - Number(expected)),
}

/** The arguments of each command. FILE is replaced by a path of the test. */
const COMMANDS = [
  ['orders'],
  ['fills'],
  ['fills', '--json'],
  ['positions'],
  ['report'],
  ['report', '--json'],
  ['ledger'],
  ['ledger', 'o1'],
  ['why', 'o1'],
  ['export', '--out', 'FILE.ndjson'],
  ['export', '--tax', 'FILE.csv'],
]

describe.each(['cloud', 'local'])('a journal that commit 3702d38 recorded with the %s executor', (name) => {
  const recorded = gunzipSync(readFileSync(new URL(`./journals/${name}.db.gz`, import.meta.url)))
  const path = journalPath()
  const backup = `${path}.backup`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, recorded)

  test('an old journal is migrated, and its backup is not changed', () => {
    copyFileSync(path, backup)
    expect(bringUpToDate(path).to).toBe(SCHEMA_VERSION)
    expect(readFileSync(backup).equals(recorded)).toBe(true)
  })

  test.each(COMMANDS.map((args) => [args]))('`sluice %s` can read an old journal', async (args) => {
    const { code, stdout } = await called([...args.map((arg) => arg.replace('FILE', path)), '--journal', path])
    expect(code).toBe(0)
    expect(stdout).not.toBe('')
  })

  test('`sluice replay` does not verify an old journal, and names the reason: other code recorded it', async () => {
    const { code, stdout, stderr } = await called(['replay', '--journal', path])
    expect(code).toBe(1)
    expect(`${stdout}${stderr}`).toContain('other code')
  })

  test('a replay of an old journal makes the recorded decisions, except where a defect was repaired', async () => {
    const reader = openReader(path)
    const divergences = []
    for (const segment of reader.segments()) {
      const replayed = repeated(reader, segment)
      expect(replayed.decisions).toBeGreaterThan(20)
      divergences.push(...replayed.divergences)
    }
    reader.close()
    const isExplained = (one: Divergence): boolean => Object.values(EXPLAINED).some((explains) => explains(one))
    expect(divergences.filter((one) => !isExplained(one))).toEqual([])
    for (const [cause, explains] of Object.entries(EXPLAINED))
      expect(divergences.filter(explains).length, cause).toBeGreaterThan(0)
  })
})

/**
 * Replays a segment, even if other code recorded it, and compares every decision. `verifySegment`, in contrast, stops
 * at the first difference.
 */
function repeated(reader: JournalReader, segment: Segment) {
  const mints = new Mints()
  const engine = new Engine(mints, STRATEGIES)
  const expected: string[] = []
  const got: string[] = []
  const drain = (seq: number): void => {
    for (const output of engine.outputs) got.push(encodeJson({ seq, ...compared(output) }))
    engine.outputs.length = 0
  }
  for (const entry of recordedEntries(reader, segment, mints)) {
    if (entry.kind === 'output') expected.push(encodeJson({ seq: entry.seq, ...compared(entry.output) }))
    else if (entry.kind === 'input') {
      engine.input(entry.seq, entry.time, entry.input)
      drain(entry.seq)
    } else if (entry.kind === 'warm') for (let row = entry.from; row < entry.to; row++) engine.warm(entry.block, row)
    else
      for (let row = entry.from; row < entry.to; ) {
        row = engine.rows(entry.firstSeq + row - entry.from, entry.block, row, entry.to)
        drain(entry.firstSeq + row - 1 - entry.from)
      }
  }
  const divergences: Divergence[] = []
  for (let n = 0; n < Math.max(expected.length, got.length); n++)
    divergences.push(...differences(parsed(expected[n]), parsed(got[n])))
  return { decisions: expected.length, divergences }
}

type Decision = { readonly seq: number; readonly kind: string } & Record<string, unknown>

const parsed = (text: string | undefined): Decision => JSON.parse(text ?? '{"seq":-1,"kind":"missing"}') as Decision

function differences(expected: Decision, got: Decision): Divergence[] {
  const about = { at: `seq ${expected.seq}`, kind: expected.kind }
  const found: Divergence[] = []
  const compare = (one: unknown, other: unknown, field: string): void => {
    if (JSON.stringify(one) === JSON.stringify(other) || isReworded(expected, field, one, other)) return
    if (!isRecord(one) || !isRecord(other)) found.push({ ...about, field, expected: one, got: other })
    else
      for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
        compare(one[key], other[key], field === '' ? key : `${field}.${key}`)
  }
  compare(expected, got, '')
  return found
}

/**
 * Returns whether a text for users was only reworded. The text of an error code may change in any way, and any other
 * text only if its numbers are the same.
 */
function isReworded({ code }: Decision, field: string, one: unknown, other: unknown): boolean {
  if (!/(^|\.)(reason|exiting)$/.test(field) || typeof one !== 'string' || typeof other !== 'string') return false
  const numbersOf = (text: string): string => (text.match(/\d+(\.\d+)?/g) ?? []).sort().join(' ')
  return (typeof code === 'string' && code !== '') || numbersOf(one) === numbersOf(other)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
