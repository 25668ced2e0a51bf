import type { Machine } from '../base/machine.ts'
import { lamports } from '../base/units.ts'
import type { Rpcs } from '../chain/rpc/rpc.ts'
import { LiveWallet } from '../chain/wallet/live-wallet.ts'
import { WalletReader } from '../chain/wallet/wallet-reader.ts'
import type { Config } from '../config/config.ts'
import { accountOf } from '../engine/account.ts'
import type { Input } from '../engine/messages.ts'
import type { Recovered } from '../journal/reader/recovery.ts'
import type { Gateway } from '../orders/gateway.ts'
import type { Journal } from '../orders/ports.ts'
import type { Log } from '../runtime/log.ts'
import type { ViewModel } from '../runtime/view/view-model.ts'
import type { ServiceAccess, WalletKeys } from './service-access.ts'

export interface ChainParts {
  readonly config: Config
  readonly service: Pick<ServiceAccess, 'host' | 'rpc'>
  /** The wallets with which live bots trade. */
  readonly wallets: readonly Pick<WalletKeys, 'name' | 'publicKey'>[]
  readonly machine: Machine
  readonly journal: Journal
  readonly model: ViewModel
  readonly past: Recovered
  readonly log: Pick<Log, 'info' | 'error'>
  /** Whether at least one bot may trade real money. */
  readonly live: boolean
  readonly post: (input: Input) => void
}

/** The parts that all wallets of a chain share. */
interface SharedByWallets {
  readonly rpcs: Pick<Rpcs, 'any' | 'each'>
  readonly genesis: string
  readonly orders: () => Gateway
  /** Called when Sluice cannot continue the proof of whether an order without an answer executed. */
  readonly undecided: (text: string) => void
}

const FIRST_ALONE =
  'the wallet is read; entries may begin. Until the chain shows that no other process buys with this wallet, only one entry is sent'

/** One wallet with which live bots trade: its account, its audit and its balance. */
export class LiveAccount {
  /** Name of the wallet in the configuration; '' if it has none. */
  readonly name: string
  /** Public key. */
  readonly publicKey: string
  /** Id of the account. */
  readonly account: string
  readonly wallet: LiveWallet
  readonly #balance: WalletReader
  readonly #parts: ChainParts
  readonly #shared: SharedByWallets

  constructor(parts: ChainParts, { name, publicKey }: Pick<WalletKeys, 'name' | 'publicKey'>, shared: SharedByWallets) {
    const { service, machine, post } = parts
    const { rpcs, genesis } = shared
    this.name = name
    this.publicKey = publicKey
    this.account = accountOf('live', service.host, genesis, publicKey).id
    this.#parts = parts
    this.#shared = shared
    const account = this.account
    this.#balance = new WalletReader({
      ...{ rpc: rpcs.any, clock: machine.clock, wallet: publicKey },
      read: (balance, slot) => post({ kind: 'wallet', account, lamports: lamports(balance), slot }),
    })
    this.wallet = this.#openWallet()
  }

  #openWallet(): LiveWallet {
    const { config, machine, journal, model, past, post } = this.#parts
    const { rpcs, genesis, orders, undecided } = this.#shared
    const { account } = this
    const known = past.wallets.find(({ cursor }) => cursor.account === account && cursor.genesis === genesis)
    return new LiveWallet({
      ...machine,
      ...{ rpcs, account, genesis, wallet: this.publicKey, lateMs: config.service.lateMs },
      secondOpinionLamports: config.chain.secondOpinionLamports,
      past: {
        cursor: known?.cursor,
        transactions: known?.transactions ?? [],
        watches: past.watches.filter(({ attempt }) => attempt.account === account),
      },
      booked: () => model.bookedIn(account),
      write: (record) => journal.write(record),
      late: (attempt, fill, code) => orders().lateFill(attempt, fill, code),
      paid: (attempt, signature, feeLamports) => orders().feePaid(attempt, signature, feeLamports),
      standIn: (attempt) => orders().standIn(attempt),
      on: {
        gate: (open, single) => this.#gate(open, single),
        foreign: (found) => post({ kind: 'foreign', account, ...found }),
        deficit: (mint, tokens) => post({ kind: 'deficit', account, mint, tokens }),
        landed: () => this.#balance.refresh(),
        notice: (text) => this.#parts.log.info(`chain: ${this.#of(text)}`),
        alarm: (text) => this.#alarm(text),
        undecided: (text) => {
          this.#alarm(text)
          undecided(this.#of(text))
        },
      },
    })
  }

  /** Starts the audit. Call it once the open orders of earlier processes are resumed. */
  start(): void {
    this.#balance.start()
    this.wallet.start()
  }

  stop(): void {
    this.#balance.stop()
    this.wallet.stop()
  }

  /** Assigns the wallet's tokens of a mint to this bot. */
  adopt(bot: string, mint: string, holding: { tokens: bigint; decimals: number }): void {
    this.#parts.post({ kind: 'adopt', account: this.account, bot, mint, ...holding })
  }

  #gate(open: boolean, single: boolean): void {
    const { log, post } = this.#parts
    if (open)
      log.info({ ...this.wallet.baseline() }, `audit: ${this.#of(single ? FIRST_ALONE : 'entries may continue')}`)
    else {
      const unknown = 'wallet state unknown: no RPC answered for 3 minutes; entries wait, full exits continue'
      log.error(`audit: ${this.#of(unknown)}`)
    }
    post({ kind: 'gate', account: this.account, open, ...(single && { single }) })
  }

  #alarm(text: string): void {
    this.#parts.log.error(`chain: ${this.#of(text)}`)
  }

  /** Puts the name of the wallet before a text, if the wallet has a name. */
  #of(text: string): string {
    return this.name === '' ? text : `wallet ${this.name}: ${text}`
  }
}
