import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/machine.ts'
import { solToLamports } from '../../base/units.ts'
import { rentExemption } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { Dialect } from '../dialect.ts'
import { digest, namedAddress, type Secret, secretOf } from '../keys.ts'
import type { CurveTrade, Market } from '../market/market.ts'
import { savePool } from '../market/market.ts'
import type { Records } from '../records.ts'
import { machineOf } from './chain-record.ts'
import { Ambush, HOSTILE_PROGRAM, hostileBinary, THIEF } from './hostile-program.ts'
import type { Ledger } from './ledger.ts'
import { MarketVenue } from './market-venue.ts'
import type { Table } from './message.ts'
import { CURVE_FEES, POOL_PROGRAM, poolBinary } from './pool-program.ts'
import { type TokenPrograms, tokenPrograms, transferProgram } from './program.ts'
import { RuntimeLedger } from './runtime-ledger.ts'
import { SmallLedger } from './small-ledger.ts'
import { loadNative, type Native } from './svm.ts'
import { TIP_ACCOUNT, tradeBuilder, transferBuilder } from './trade-draft.ts'
import { SERVICE_FEES, TRADE_PROGRAM, TradeProgram } from './trade-program.ts'

export type ChainKind = 'runtime' | 'small'

export interface OpenChainOptions {
  clock: Clock
  records: Records
  market: Market
  dialect: Dialect
  seed: number
  chain?: ChainKind
  entropy?: string
  wallets?: readonly string[]
  fundSol?: number
  slotMs?: number
}

export interface OpenedChain {
  ledger: Ledger
  wallet: Secret
  /** Keys of the wallets that have a name. */
  named: ReadonlyMap<string, Secret>
  /** Key with which the service signs as a co-signer. Its account has its own balance. */
  coSigner: Secret
  /** Controls the hostile program, which some built transactions call. */
  ambush: Ambush
  tokenPrograms: TokenPrograms
}

const DEFAULT_FUND_SOL = 10
const CO_SIGNER_LAMPORTS = 1_000_000_000_000
const EMPTY_ACCOUNT_LAMPORTS = rentExemption(0)

/** Lookup table of the service. It contains the accounts that every trade uses. */
export const SERVICE_TABLE: Table = {
  address: namedAddress('service table'),
  entries: [CURVE_FEES, SERVICE_FEES, PROGRAMS.system, PROGRAMS.token, PROGRAMS.token2022, PROGRAMS.associatedToken],
}

/** Opens the saved chain or creates a new one, with the market and the service's wallet on it. */
export async function openChain(options: OpenChainOptions): Promise<OpenedChain> {
  const { records, market, dialect, seed, clock, slotMs } = options
  const { entropy = randomBytes(16).toString('hex'), fundSol = DEFAULT_FUND_SOL } = options
  const wallet = walletOf(records, 'wallet', seed, entropy)
  const named = new Map(
    (options.wallets ?? []).map((name) => [name, walletOf(records, `wallet ${name}`, seed, entropy)]),
  )
  const wallets = [wallet, ...named.values()]
  const coSigner = secretOf(digest('co-signer ', wallet.bytes))
  const ambush = new Ambush()
  const native = await nativeFor(records, options.chain)
  const traded = (own: CurveTrade): void => {
    market.print(own)
    savePool(records, market.token(own.mint)!)
  }
  const chain = { clock, records, seed, entropy, slotMs }
  const funds = Object.fromEntries(wallets.map(({ address }) => [address, solToLamports(fundSol)]))
  if (!native) {
    const programs = { [TRADE_PROGRAM]: new TradeProgram(market, traded), transfer: transferProgram }
    return {
      wallet,
      named,
      coSigner,
      ambush,
      tokenPrograms: () => 'token',
      ledger: new SmallLedger({ ...chain, programs, funds }),
    }
  }
  const programOf = tokenPrograms(dialect, records)
  const tables = [SERVICE_TABLE]
  const ledger = new RuntimeLedger({
    ...{ ...chain, native, tables },
    programs: { [POOL_PROGRAM]: poolBinary(), [HOSTILE_PROGRAM]: hostileBinary() },
    builders: { [TRADE_PROGRAM]: tradeBuilder(market, programOf), transfer: transferBuilder },
    venue: new MarketVenue(market, programOf, tables, traded, ambush),
    secrets: new Map(wallets.map((one) => [one.address, one])),
    funds: {
      ...funds,
      [coSigner.address]: CO_SIGNER_LAMPORTS,
      ...Object.fromEntries([CURVE_FEES, SERVICE_FEES, TIP_ACCOUNT, THIEF].map((one) => [one, EMPTY_ACCOUNT_LAMPORTS])),
    },
  })
  return { wallet, named, coSigner, ambush, tokenPrograms: programOf, ledger }
}

function walletOf(records: Records, key: string, seed: number, entropy: string): Secret {
  const saved = records.read<string>('secret').get(key)
  const secret = saved ?? digest(`${key} `, String(seed), entropy).toString('hex')
  records.write([{ kind: 'secret', key, body: secret }])
  return secretOf(Buffer.from(secret, 'hex'))
}

/** Loads the runtime if the chain needs it; undefined for the small ledger. A chain that began on the small ledger
 *  moves to the runtime once the runtime is installed, and never back. */
async function nativeFor(records: Records, chain: ChainKind | undefined): Promise<Native | undefined> {
  const native = chain === 'small' ? undefined : await loadNative()
  const needed = chain === 'runtime' || machineOf(records) === 'runtime'
  if (!native && needed)
    throw new Error('this chain needs the Solana runtime: install litesvm, or start a new chain with another --state')
  return native
}
