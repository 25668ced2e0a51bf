import { afterEach, describe, expect, test } from 'vitest'
import type { Ledger, Transaction } from '../../src/sandbox/chain/ledger.ts'
import { BASE_FEE } from '../../src/solana/constants.ts'

/** A new chain with one funded wallet. The test advances the time. */
export interface LedgerWorld {
  readonly ledger: Ledger
  /** Holds `funds` lamports. */
  readonly wallet: string
  readonly funds: number
  readonly stranger: string
  transfer(from: string, to: string, lamports: number): Transaction
  /** Lets this number of Solana slots pass. */
  advance(slots: number): void
}

const FEE = BASE_FEE

/** Tests that every adapter of the port `Ledger` (src/sandbox/chain/ledger.ts) has to pass. */
export function ledgerContract(name: string, open: () => LedgerWorld): void {
  describe(name, () => {
    let world: LedgerWorld
    const start = (): LedgerWorld => {
      world = open()
      return world
    }
    const balance = (address: string, commitment: 'processed' | 'confirmed' | 'finalized' = 'processed'): number => {
      return world.ledger.account(address, commitment)?.lamports ?? 0
    }
    afterEach(() => world.ledger.close())

    test('the finalized slot is 32 slots behind the newest one, and block heights do not count empty slots', () => {
      const { ledger, advance } = start()
      advance(200)
      const heads = (['processed', 'confirmed', 'finalized'] as const).map((commitment) => ledger.head(commitment))
      const [processed, confirmed, finalized] = heads as [(typeof heads)[0], (typeof heads)[0], (typeof heads)[0]]
      expect(processed.slot).toBeGreaterThan(confirmed.slot)
      expect(processed.slot - finalized.slot).toBeGreaterThanOrEqual(32)
      expect(processed.slot - finalized.slot).toBeLessThan(45)
      advance(200)
      const later = ledger.head('processed')
      expect(later.slot - processed.slot).toBeGreaterThan(later.height - processed.height)
      expect(later.height).toBeGreaterThan(processed.height + 150)
      expect(ledger.blockTime(later.slot)).toBeGreaterThan(ledger.blockTime(processed.slot)!)
    })

    test('a transaction lands within a few Solana slots, and has its balances before and after', () => {
      const { ledger, advance, wallet, stranger, funds, transfer } = start()
      const signature = ledger.submit({ ...transfer(wallet, stranger, 2_000_000), priorityFeeLamports: 700 })
      expect(ledger.transaction(signature)).toBeUndefined()
      advance(6)
      const landed = ledger.transaction(signature)!
      expect(landed).toMatchObject({ signature, error: null, feeLamports: FEE + 700 })
      expect(landed.accounts[0]).toMatchObject({
        address: wallet,
        signer: true,
        preLamports: funds,
        postLamports: funds - 2_000_000 - FEE - 700,
      })
      expect(landed.accounts.find(({ address }) => address === stranger)).toMatchObject({
        preLamports: 0,
        postLamports: 2_000_000,
      })
      expect(balance(stranger)).toBe(2_000_000)
    })

    test('two equal requests create two different transactions', () => {
      const { ledger, advance, wallet, stranger, transfer } = start()
      const signatures = [
        ledger.submit(transfer(wallet, stranger, 1_000_000)),
        ledger.submit(transfer(wallet, stranger, 1_000_000)),
      ]
      advance(6)
      expect(new Set(signatures).size).toBe(2)
      expect(balance(stranger)).toBe(2_000_000)
    })

    test('a failed transaction pays its fees and changes nothing else', () => {
      const { ledger, advance, wallet, stranger, funds, transfer } = start()
      const signature = ledger.submit({ ...transfer(wallet, stranger, funds * 2), priorityFeeLamports: 300 })
      advance(6)
      const landed = ledger.transaction(signature)!
      expect(landed.error).toMatchObject({ InstructionError: [expect.any(Number), { Custom: 1 }] })
      expect(balance(wallet)).toBe(funds - FEE - 300)
      expect(balance(stranger)).toBe(0)
    })

    test('a transaction that cannot pay its fee, or that the network loses, never lands', () => {
      const { ledger, advance, wallet, stranger, transfer } = start()
      const unpaid = ledger.submit(transfer(stranger, wallet, 1))
      const lost = ledger.submit(transfer(wallet, stranger, 1_000_000), Number.POSITIVE_INFINITY)
      advance(200)
      expect(ledger.transaction(unpaid)).toBeUndefined()
      expect(ledger.transaction(lost)).toBeUndefined()
      expect(balance(stranger)).toBe(0)
    })

    test('a transfer is first visible at commitment processed, then confirmed, then finalized', () => {
      const { ledger, advance, wallet, stranger, transfer } = start()
      const signature = ledger.submit(transfer(wallet, stranger, 5_000_000), 1)
      const seen = { processed: 0, confirmed: 0, finalized: 0 }
      for (let slots = 1; slots <= 60; slots++) {
        advance(1)
        for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
          const through =
            (ledger.transaction(signature)?.slot ?? Number.POSITIVE_INFINITY) <= ledger.head(commitment).slot
          expect(balance(stranger, commitment)).toBe(through ? 5_000_000 : 0)
          if (through && seen[commitment] === 0) seen[commitment] = slots
        }
      }
      expect(seen.processed).toBeLessThan(seen.confirmed)
      expect(seen.finalized - seen.processed).toBeGreaterThanOrEqual(32)
    })

    test('signatures are listed newest first, between two given signatures, up to a limit', () => {
      const { ledger, advance, wallet, stranger, transfer } = start()
      const sent = Array.from({ length: 5 }, () => {
        const signature = ledger.submit(transfer(wallet, stranger, 1_000_000), 1)
        advance(3)
        return signature
      })
      advance(40)
      const list = (query: { before?: string; until?: string; limit?: number }): string[] => {
        return ledger
          .signatures({ address: wallet, limit: 1_000, commitment: 'finalized', ...query })
          .map(({ signature }) => signature)
      }
      const [first, second, third, fourth, fifth] = sent as [string, string, string, string, string]
      expect(list({})).toEqual([fifth, fourth, third, second, first])
      expect(list({ before: fourth, until: first })).toEqual([third, second])
      expect(list({ limit: 2 })).toEqual([fifth, fourth])
      expect(ledger.signatures({ address: stranger, limit: 10, commitment: 'finalized' })).toHaveLength(5)
      expect(ledger.transactionCount).toBe(5)
    })

    test('a fork reverses a confirmed transaction, which may land again', () => {
      const { ledger, advance, wallet, stranger, funds, transfer } = start()
      const signature = ledger.submit(transfer(wallet, stranger, 5_000_000), 1)
      advance(8)
      expect(balance(stranger, 'confirmed')).toBe(5_000_000)
      expect(ledger.fork(signature, 4)).toEqual([signature])
      expect(ledger.transaction(signature)).toBeUndefined()
      expect([balance(wallet), balance(stranger)]).toEqual([funds, 0])
      advance(10)
      expect(ledger.transaction(signature)?.error).toBeNull()
      expect(balance(stranger)).toBe(5_000_000)
    })

    test('a fork also reverses later transactions, but no final transaction', () => {
      const { ledger, advance, wallet, stranger, transfer } = start()
      const final = ledger.submit(transfer(wallet, stranger, 1_000_000), 1)
      advance(60)
      const second = ledger.submit(transfer(wallet, stranger, 2_000_000), 1)
      advance(4)
      const third = ledger.submit(transfer(wallet, stranger, 4_000_000), 1)
      advance(4)
      expect(ledger.fork(second)).toEqual([second, third])
      expect(balance(stranger)).toBe(1_000_000)
      expect(ledger.fork(final)).toEqual([])
      advance(100)
      expect(balance(stranger)).toBe(1_000_000)
    })

    test('a blockhash is valid for 150 blocks', () => {
      const { ledger, advance } = start()
      const { blockhash, lastValidBlockHeight } = ledger.latestBlockhash('confirmed')
      expect(lastValidBlockHeight - ledger.head('confirmed').height).toBe(150)
      while (ledger.head('confirmed').height < lastValidBlockHeight) {
        expect(ledger.isBlockhashValid(blockhash, 'confirmed')).toBe(true)
        advance(10)
      }
      advance(10)
      expect(ledger.isBlockhashValid(blockhash, 'confirmed')).toBe(false)
      expect(ledger.isBlockhashValid(ledger.genesisHash, 'confirmed')).toBe(false)
    })

    test('a new chain does not know an invented blockhash', () => {
      const { ledger } = start()
      expect(ledger.isBlockhashValid(ledger.genesisHash, 'confirmed')).toBe(false)
    })

    test('a node that is behind shows an earlier state of the chain', () => {
      const { ledger, advance, wallet, stranger, transfer } = start()
      const { slot } = ledger.head('processed')
      ledger.submit(transfer(wallet, stranger, 1_000_000), 1)
      advance(20)
      const lag = ledger.head('processed').slot - slot
      expect(ledger.lagging(lag, () => [ledger.head('processed').slot, balance(stranger)])).toEqual([slot, 0])
      advance(200)
      expect(ledger.lagging(40, () => balance(stranger, 'finalized'))).toBe(1_000_000)
      expect(balance(stranger)).toBe(1_000_000)
    })

    test('every block is reported once, with its transactions', () => {
      const { ledger, advance, wallet, stranger, transfer } = start()
      const told: [number, string[]][] = []
      ledger.onBlock((slot, landed) => told.push([slot, landed.map(({ signature }) => signature)]))
      const signature = ledger.submit(transfer(wallet, stranger, 1_000_000))
      advance(20)
      expect(told.map(([slot]) => slot)).toEqual([...new Set(told.map(([slot]) => slot))].sort((a, b) => a - b))
      expect(told.flatMap(([, signatures]) => signatures)).toEqual([signature])
    })
  })
}
