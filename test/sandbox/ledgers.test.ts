import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { compileMessage, signMessage, transferCall } from '../../src/sandbox/chain/message.ts'
import { type ChainChoice, chainContract } from '../contracts/chain.contract.ts'
import { ledgerContract } from '../contracts/ledger.contract.ts'
import { openRuntime, openSmall } from './ledger-worlds.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-ledger-'))
afterAll(() => rmSync(folder, { recursive: true }))

for (const [name, open] of [
  ['small ledger', openSmall],
  ['Solana runtime', openRuntime],
] as const) {
  let files = 0
  ledgerContract(name, open)
  ledgerContract(`${name} with a state file`, () => open({ file: join(folder, `${name} ${files++}.db`) }))
  chainContract(name, (choice: ChainChoice) => open(choice))
}

test('a simulation on an earlier state of the Solana runtime does not change the present state', () => {
  const { ledger, wallet, stranger, funds, transfer, advance } = openRuntime()
  ledger.submit(transfer(wallet, stranger, 1_000_000), 1)
  advance(1)
  const { blockhash } = ledger.latestBlockhash('confirmed')
  const calls = [transferCall(wallet, stranger, 1_000_000n)]
  const bytes = signMessage(compileMessage({ payer: wallet, blockhash, calls }), new Map())
  const how = { commitment: 'confirmed', verifySignatures: false, replaceBlockhash: false } as const
  expect(ledger.simulate(bytes, how)).toMatchObject({ error: null, accounts: [{ preLamports: funds }, {}, {}] })
  ledger.submit(transfer(wallet, stranger, 2_000_000), 1)
  advance(3)
  expect(ledger.account(stranger, 'processed')?.lamports).toBe(3_000_000)
  ledger.close()
})
