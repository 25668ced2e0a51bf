import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
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
