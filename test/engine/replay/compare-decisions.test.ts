import { describe, expect, it } from 'vitest'
import { Engine } from '../../../src/engine/engine.ts'
import type { Output } from '../../../src/engine/messages.ts'
import { type Entry, verifySegment } from '../../../src/engine/replay/compare-decisions.ts'
import type { Bot, Strategy } from '../../../src/engine/strategy.ts'
import { Mints } from '../../../src/market/mints.ts'
import dipBuyer from '../../../strategies/dip-buyer.ts'
import { botSettings, MINT, startInput } from '../../support/engine-rig.ts'
import { blockOf } from '../../support/market-rows.ts'

const TIME = 1_780_000_000_000
const strategies = new Map([['dip-buyer', dipBuyer as unknown as Strategy]])
const settings = botSettings('dip-buyer', { params: { dropPercent: 15, sizeSol: 0.05 } })

/** Returns a recorded segment: prices that fall far enough for a buy, and the decisions of the engine. */
function recorded(): { entries: Entry[]; mints: Mints } {
  const mints = new Mints()
  const prices = [1, 1, 1, 1, 1, 0.8, 0.8, 0.8, 0.8]
  const block = blockOf(
    prices.map((price, at) => ({ time: TIME + at, mint: MINT, price: price * 1e-6 })),
    mints,
  )
  const given: Entry[] = [
    { kind: 'input', seq: 1, time: TIME, input: startInput([settings]) },
    { kind: 'warm', block, from: 0, to: 2 },
    { kind: 'input', seq: 2, time: TIME, input: { kind: 'feed', status: 'live', confirmed: [] } },
    ...prices.map((_, at): Entry => ({ kind: 'rows', block, from: at, to: at + 1, firstSeq: 3 + at })),
  ]
  // Adds the outputs to the entries: verifies the segment, adds the output that is missing, and verifies again, until
  // no output is missing.
  const entries: Entry[] = [...given]
  for (;;) {
    const { divergence } = verifySegment(entries, mints, strategies)
    if (divergence === null) return { entries, mints }
    const seqOf = (entry: Entry): number => ('seq' in entry ? entry.seq : 'firstSeq' in entry ? entry.firstSeq : 0)
    const behind = entries.findLastIndex((entry) => seqOf(entry) === divergence.seq)
    entries.splice(behind + 1, 0, {
      kind: 'output',
      seq: divergence.seq,
      time: timeOf(divergence.seq),
      output: JSON.parse(divergence.got, revive) as Output,
    })
  }
}
/** The rows begin with seq 3. */
const timeOf = (seq: number): number => TIME + Math.max(0, seq - 3)
const revive = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && '$bigint' in value ? BigInt(value.$bigint as string) : value

function changed(change: (entries: Entry[]) => void) {
  const { entries, mints } = recorded()
  change(entries)
  return verifySegment(entries, mints, strategies)
}
const orderAt = (entries: Entry[]): number =>
  entries.findIndex((one) => one.kind === 'output' && one.output.kind === 'order')
const orderOf = (entries: Entry[]) => {
  const entry = entries[orderAt(entries)]
  if (entry?.kind !== 'output' || entry.output.kind !== 'order') throw new Error('no order was recorded')
  return { entry, order: entry.output.order }
}

describe('the replay of a segment', () => {
  it('the replay of a segment makes the same decisions as the recording', () => {
    const { entries, mints } = recorded()
    expect(orderOf(entries).order).toMatchObject({ bot: 'dip-buyer', reason: 'fell 20.0 %' })
    expect(verifySegment(entries, mints, strategies)).toMatchObject({
      ...{ rows: 9, divergence: null },
      decisions: entries.filter(({ kind }) => kind === 'output').length,
    })
  })

  it('a replay does not compare where a strategy threw; if the strategy writes a note when the stack of its error is read, the replay contains the note too', () => {
    const nosy = {
      ...dipBuyer,
      start: (_params: unknown, bot: Bot) => {
        const error = new Error('told to')
        const stack = { get: () => bot.note(MINT, 'the stack of the error was read') }
        throw Object.defineProperty(error, 'stack', stack)
      },
    } as unknown as Strategy
    const only = new Map([['dip-buyer', nosy]])
    const start: Entry = { kind: 'input', seq: 1, time: TIME, input: startInput([settings]) }
    const thrownAt = { place: '/home/ann/dips.ts:1:2', stack: [] }
    const engine = new Engine(new Mints(), only, { thrownAt: () => thrownAt })
    engine.input(start.seq, start.time, start.input)
    const outputs = engine.outputs.map((output): Entry => ({ kind: 'output', seq: 1, time: TIME, output }))
    expect(engine.outputs).toContainEqual(
      expect.objectContaining({ kind: 'alarm', reason: 'Error: told to', thrownAt }),
    )
    expect(engine.outputs).toContainEqual(expect.objectContaining({ kind: 'note' }))
    expect(verifySegment([start, ...outputs], new Mints(), only).divergence).toBeNull()
  })

  it('a replay reports a field that differs, with its path', () => {
    const { divergence } = changed((entries) => {
      const { entry, order } = orderOf(entries)
      const output: Output = { kind: 'order', order: { ...order, size: { kind: 'sol', lamports: 7 as never } } }
      entries.splice(orderAt(entries), 1, { ...entry, output })
    })
    expect(divergence).toMatchObject({ seq: 10, field: 'order.size.lamports' })
    expect(divergence?.expected).toContain('"lamports":7')
    expect(divergence?.got).toContain('"lamports":50000000')
  })

  it('a replay reports a recorded output that the replayed engine does not make', () => {
    const { divergence } = changed((entries) => {
      const output: Output = { kind: 'note', bot: 'dip-buyer', mint: MINT, code: '', reason: 'never said' }
      entries.splice(4, 0, { kind: 'output', seq: 2, time: TIME, output })
    })
    expect(divergence).toMatchObject({ seq: 2, field: '', got: '' })
    expect(divergence?.expected).toContain('never said')
  })

  it('a replay reports an output that was not recorded', () => {
    const { divergence } = changed((entries) => entries.splice(orderAt(entries), 1))
    expect(divergence).toMatchObject({ seq: 10, field: '', expected: '' })
    expect(divergence?.got).toContain('"kind":"order"')
  })

  it('a replay reports a missing output at the end', () => {
    const { divergence } = changed((entries) => entries.splice(orderAt(entries), entries.length))
    expect(divergence).toMatchObject({ seq: 10, field: '', expected: '' })
  })

  it('if a replay emits another kind of output than the recorded one, the comparison reports it', () => {
    const { divergence } = changed((entries) => {
      const { entry } = orderOf(entries)
      entries.splice(orderAt(entries), 1, { ...entry, output: { kind: 'keys', want: ['trades'] } })
    })
    expect(divergence).toMatchObject({ seq: 10, field: 'kind' })
  })

  it('a replay reports an output at another row', () => {
    const { divergence } = changed((entries) => {
      const at = orderAt(entries)
      for (let index = at; index < entries.length; index++) {
        const entry = entries[index] as Entry
        if (entry.kind === 'output' && entry.seq === 10) entries[index] = { ...entry, seq: 9 }
      }
    })
    expect(divergence).toMatchObject({ seq: 9, field: 'seq' })
  })

  it('a replay reports an output at another time', () => {
    const { divergence } = changed((entries) => {
      const { entry } = orderOf(entries)
      entries.splice(orderAt(entries), 1, { ...entry, time: entry.time - 1 })
    })
    expect(divergence).toEqual({ seq: 10, field: 'time', expected: `${TIME + 6}`, got: `${TIME + 7}` })
  })

  it('a replay reports a decision that differs because a price was changed', () => {
    const { entries, mints } = recorded()
    const rows = entries.find((entry) => entry.kind === 'rows')
    if (rows?.kind === 'rows') (rows.block.size as Float64Array)[7] = 1
    expect(verifySegment(entries, mints, strategies).divergence).toMatchObject({ seq: 10 })
  })
})
