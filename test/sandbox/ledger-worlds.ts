import type { ChainOptions } from '../../src/sandbox/chain/chain-ledger.ts'
import type { Ledger } from '../../src/sandbox/chain/ledger.ts'
import { transferProgram } from '../../src/sandbox/chain/program.ts'
import { RuntimeLedger } from '../../src/sandbox/chain/runtime-ledger.ts'
import { SmallLedger } from '../../src/sandbox/chain/small-ledger.ts'
import { loadNative } from '../../src/sandbox/chain/svm.ts'
import { transferBuilder } from '../../src/sandbox/chain/trade-draft.ts'
import { type Secret, secretOf } from '../../src/sandbox/keys.ts'
import { fileRecords, forgetfulRecords } from '../../src/sandbox/records.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import type { ChainChoice } from '../contracts/chain.contract.ts'
import type { LedgerWorld } from '../contracts/ledger.contract.ts'

const SLOT_MS = 400
const FUNDS = 10_000_000_000

const WALLET = secretOf(Buffer.alloc(32, 7))
const STRANGER = secretOf(Buffer.alloc(32, 8))

const native = await loadNative()

export const openSmall = (choice: ChainChoice = {}): LedgerWorld => {
  return world(
    choice,
    (options, funds) => new SmallLedger({ ...options, funds, programs: { transfer: transferProgram } }),
  )
}

export const openRuntime = (choice: ChainChoice = {}): LedgerWorld => {
  if (!native) throw new Error('litesvm is not installed')
  const secrets = new Map([WALLET, STRANGER].map((secret): [string, Secret] => [secret.address, secret]))
  const builders = { transfer: transferBuilder }
  const venue = { meet: () => {}, account: () => undefined, landed: () => {} }
  return world(choice, (options, funds) => {
    return new RuntimeLedger({ ...options, native, funds, secrets, builders, venue, programs: {} })
  })
}

function world(
  choice: ChainChoice,
  open: (options: ChainOptions, funds: Record<string, number>) => Ledger,
): LedgerWorld {
  const { file, seed = 7, entropy = 'test', clock = new SimulatedClock(1_700_000_000_000) } = choice
  const records = file === undefined ? forgetfulRecords() : fileRecords(file)
  const ledger = open({ clock, records, seed, entropy, slotMs: SLOT_MS }, { [WALLET.address]: FUNDS })
  return {
    ledger,
    wallet: WALLET.address,
    funds: FUNDS,
    stranger: STRANGER.address,
    transfer: (from, to, lamports) => ({
      payer: from,
      instruction: { program: 'transfer', data: { from, to, lamports } },
      priorityFeeLamports: 0,
    }),
    advance: (slots) => clock.advanceTo(clock.now() + slots * SLOT_MS),
  }
}
