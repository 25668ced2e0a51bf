import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { namedAddress } from '../../src/sandbox/addresses.ts'
import { transferProgram } from '../../src/sandbox/program.ts'
import { fileRecords, forgetfulRecords } from '../../src/sandbox/records.ts'
import { SmallLedger } from '../../src/sandbox/small-ledger.ts'
import { SimulatedClock } from '../../src/simulation/clock.ts'
import { type LedgerWorld, ledgerContract } from '../contracts/ledger.contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-ledger-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SLOT_MS = 400
const FUNDS = 10_000_000_000

interface Choice {
  file?: string
  seed?: number
  entropy?: string
  clock?: SimulatedClock
}

function open({
  file,
  seed = 7,
  entropy = 'test',
  clock = new SimulatedClock(1_700_000_000_000),
}: Choice = {}): LedgerWorld {
  const wallet = namedAddress('wallet')
  const programs = { transfer: transferProgram }
  const records = file === undefined ? forgetfulRecords() : fileRecords(file)
  const ledger = new SmallLedger({
    clock,
    records,
    programs,
    seed,
    entropy,
    slotMs: SLOT_MS,
    funds: { [wallet]: FUNDS },
  })
  return {
    ledger,
    wallet,
    funds: FUNDS,
    stranger: namedAddress('stranger'),
    transfer: (from, to, lamports) => ({
      payer: from,
      instruction: { program: 'transfer', data: { from, to, lamports } },
      priorityFeeLamports: 0,
    }),
    advance: (slots) => clock.advanceTo(clock.now() + slots * SLOT_MS),
  }
}

ledgerContract('small ledger', open)
let files = 0
ledgerContract('small ledger with a state file', () => open({ file: join(folder, `contract-${files++}.db`) }))

describe('small ledger', () => {
  test('the same seed and entropy make the same chain, another of either a new one', () => {
    const history = (choice: Choice): string => {
      const { ledger, advance, wallet, stranger, transfer } = open(choice)
      const signatures = [1, 2, 3].map((amount) => ledger.submit(transfer(wallet, stranger, amount)))
      advance(50)
      const slots = signatures.map((signature) => ledger.transaction(signature)?.slot)
      ledger.close()
      return JSON.stringify([
        ledger.genesisHash,
        signatures,
        slots,
        ledger.head('finalized'),
        ledger.latestBlockhash('confirmed'),
      ])
    }
    expect(history({})).toBe(history({}))
    expect(history({ entropy: 'other' })).not.toBe(history({}))
    expect(history({ seed: 8 })).not.toBe(history({}))
  })

  test('a chain goes on from its file: name, history, balances and what was under way', () => {
    const file = join(folder, 'restart.db')
    const clock = new SimulatedClock(1_700_000_000_000)
    const before = open({ file, clock })
    const landed = before.ledger.submit(before.transfer(before.wallet, before.stranger, 1_000), 1)
    before.advance(5)
    const pending = before.ledger.submit(before.transfer(before.wallet, before.stranger, 2_000), 3)
    const heads = (['processed', 'confirmed', 'finalized'] as const).map((commitment) => before.ledger.head(commitment))
    const record = before.ledger.transaction(landed)
    before.ledger.close()

    const after = open({ file, clock, seed: 99, entropy: 'ignored' })
    expect(after.ledger.genesisHash).toBe(before.ledger.genesisHash)
    expect(
      (['processed', 'confirmed', 'finalized'] as const).map((commitment) => after.ledger.head(commitment)),
    ).toEqual(heads)
    expect(after.ledger.transaction(landed)).toEqual(record)
    after.advance(6)
    expect(after.ledger.transaction(pending)?.error).toBeNull()
    expect(after.ledger.account(after.stranger, 'processed')?.lamports).toBe(3_000)
    expect(
      after.ledger
        .signatures({ address: after.wallet, limit: 9, commitment: 'confirmed' })
        .map(({ signature }) => signature),
    ).toEqual([pending, landed])
    after.ledger.close()
  })

  test('heights never go back, however long it slept and whatever the slot time', () => {
    const file = join(folder, 'heights.db')
    const clock = new SimulatedClock(1_700_000_000_000)
    let last = { slot: 0, height: 0 }
    for (const sleepMs of [0, 1, 350, 60_000, 3_600_000, 40 * 86_400_000]) {
      clock.advanceTo(clock.now() + sleepMs)
      const { ledger, advance } = open({ file, clock })
      const woken = ledger.head('processed')
      expect(woken.slot).toBeGreaterThanOrEqual(last.slot)
      expect(woken.height).toBeGreaterThanOrEqual(last.height)
      advance(7)
      last = ledger.head('processed')
      expect(last.height).toBeGreaterThan(woken.height)
      ledger.close()
    }
  })

  test('two processes on one file: the second is refused', () => {
    const file = join(folder, 'locked.db')
    const { ledger } = open({ file })
    expect(() => open({ file })).toThrow(/locked/)
    ledger.close()
  })
})
