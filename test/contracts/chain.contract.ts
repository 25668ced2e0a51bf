import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import type { LedgerWorld } from './ledger.contract.ts'

export interface ChainChoice {
  file?: string
  seed?: number
  entropy?: string
  clock?: SimulatedClock
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-chain-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Tests that every chain with a file must pass: the chain keeps its name, and another process can continue it. */
export function chainContract(name: string, open: (choice: ChainChoice) => LedgerWorld): void {
  describe(name, () => {
    test('the same seed and entropy make the same chain; another seed or entropy makes a new one', () => {
      const history = (choice: ChainChoice): string => {
        const { ledger, advance, wallet, stranger, transfer } = open(choice)
        const signatures = [1_000_000, 2_000_000, 3_000_000].map((amount) =>
          ledger.submit(transfer(wallet, stranger, amount)),
        )
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

    test('a chain continues from its file with the same name, history, balances and pending transactions', () => {
      const file = join(folder, `${name} restart.db`)
      const clock = new SimulatedClock(1_700_000_000_000)
      const before = open({ file, clock })
      const landed = before.ledger.submit(before.transfer(before.wallet, before.stranger, 1_000_000), 1)
      before.advance(5)
      const pending = before.ledger.submit(before.transfer(before.wallet, before.stranger, 2_000_000), 3)
      const heads = (['processed', 'confirmed', 'finalized'] as const).map((commitment) =>
        before.ledger.head(commitment),
      )
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
      expect(after.ledger.account(after.stranger, 'processed')?.lamports).toBe(3_000_000)
      expect(
        after.ledger
          .signatures({ address: after.wallet, limit: 9, commitment: 'confirmed' })
          .map(({ signature }) => signature),
      ).toEqual([pending, landed])
      after.ledger.close()
    })

    test('block heights never decrease, after any pause and with any Solana slot time', () => {
      const file = join(folder, `${name} heights.db`)
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

    test('a second process that opens the same file is refused', () => {
      const file = join(folder, `${name} locked.db`)
      const { ledger } = open({ file })
      expect(() => open({ file })).toThrow(/locked/)
      ledger.close()
    })
  })
}
