import type { Clock } from '../../src/base/machine.ts'
import { solToLamports } from '../../src/base/units.ts'
import type { Bank } from '../../src/sandbox/chain/bank.ts'
import type { Ledger, Transaction } from '../../src/sandbox/chain/ledger.ts'
import { MarketVenue } from '../../src/sandbox/chain/market-venue.ts'
import { CURVE_FEES, POOL_PROGRAM, poolBinary } from '../../src/sandbox/chain/pool-program.ts'
import { type Program, transferProgram } from '../../src/sandbox/chain/program.ts'
import { RuntimeLedger } from '../../src/sandbox/chain/runtime-ledger.ts'
import { SmallLedger } from '../../src/sandbox/chain/small-ledger.ts'
import type { Native } from '../../src/sandbox/chain/svm.ts'
import { transferBuilder } from '../../src/sandbox/chain/trade-draft.ts'
import { TRADE_PROGRAM, TradeProgram } from '../../src/sandbox/chain/trade-program.ts'
import { secretOf, tokenAccountAddress, walletAddress } from '../../src/sandbox/keys.ts'
import type { Market } from '../../src/sandbox/market/market.ts'
import { forgetfulRecords } from '../../src/sandbox/records.ts'
import { rentExemption } from '../../src/solana/constants.ts'
import type { Scenario } from './scenario.ts'

/** Address and secret key of the first wallet. */
export const OWNER = secretOf(Buffer.alloc(32, 7))
export const WALLET = walletAddress(Buffer.alloc(32, 7))
/** The second wallet of a run with two wallets. */
export const SECOND = walletAddress(Buffer.alloc(32, 9))
const OTHER = secretOf(Buffer.alloc(32, 8))
export const STRANGER = walletAddress(Buffer.alloc(32, 8))
const FUNDS = solToLamports(20)

/** Public keys of the wallets of a run. */
export function walletsOf({ wallets }: Pick<Scenario, 'wallets'>): readonly string[] {
  return [WALLET, SECOND].slice(0, wallets)
}

/** Public key of the wallet to which a live account belongs. */
export function walletIn(account: string): string {
  return account.slice(account.lastIndexOf('|') + 1)
}

/** A ledger whose test sets the number of Solana slots until a transaction lands. */
export type TimedLedger = Ledger & { landsAfter: number | undefined }

export interface LedgerParts {
  readonly clock: Clock
  readonly scenario: Pick<Scenario, 'seed' | 'wallets'>
  readonly market: Market
  /** Solana's runtime. undefined for a small ledger that does not execute transaction bytes. */
  readonly native: Native | undefined
}

export function openLedger({ clock, scenario, market, native }: LedgerParts): TimedLedger {
  const { seed } = scenario
  const funds = Object.fromEntries([...walletsOf(scenario), STRANGER].map((address) => [address, FUNDS]))
  const traded = (trade: Parameters<Market['print']>[0]): void => market.print(trade)
  const common = { clock, records: forgetfulRecords(), seed, entropy: 'simulation' }
  if (native === undefined) {
    const programs = { [TRADE_PROGRAM]: new TradeProgram(market, traded), transfer: transferProgram, gift: giftProgram }
    return new TimedSmallLedger({ ...common, programs, funds })
  }
  return new TimedRuntimeLedger({
    ...{ ...common, native, programs: { [POOL_PROGRAM]: poolBinary() }, builders: { transfer: transferBuilder } },
    venue: new MarketVenue(market, () => 'token', [], traded),
    secrets: new Map([OWNER, OTHER].map((secret) => [secret.address, secret])),
    funds: { ...funds, [CURVE_FEES]: rentExemption(0) },
  })
}

class TimedSmallLedger extends SmallLedger {
  landsAfter: number | undefined

  override submit(transaction: Transaction, afterSlots = this.landsAfter): string {
    return super.submit(transaction, afterSlots)
  }
}

class TimedRuntimeLedger extends RuntimeLedger {
  landsAfter: number | undefined

  override send(bytes: Uint8Array, afterSlots = this.landsAfter): string {
    return super.send(bytes, afterSlots)
  }
}

interface GiftData {
  readonly mint: string
  readonly tokens: bigint
}

/** A program with which strangers send tokens. */
const giftProgram: Program<GiftData> = {
  plan: ({ mint }) => ({
    accounts: [{ address: tokenAccountAddress(WALLET, mint), writable: true }],
    tokenAccounts: [{ account: tokenAccountAddress(WALLET, mint), mint, owner: WALLET }],
    instructions: [{ program: STRANGER, accounts: [STRANGER], data: '' }],
  }),
  execute: ({ mint, tokens }, bank: Bank) => {
    const address = bank.openTokenAccount(STRANGER, WALLET, mint)
    const { lamports, token } = bank.read(address) ?? { lamports: 0, token: undefined }
    if (token !== undefined) bank.set(address, { lamports, token: { ...token, amount: token.amount + tokens } })
  },
}
