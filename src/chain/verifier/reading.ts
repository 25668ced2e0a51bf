import type { ErrorCode, Refusal } from '../../base/errors.ts'
import { formatSol } from '../../base/units.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import type { AskedTrade } from '../../orders/trade-request.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { tokenAccountOf } from '../addresses.ts'

/** An instruction with its accounts by address. A signer of the transaction signs every instruction that lists it. */
export interface Step {
  /** Number of the instruction in the transaction, counted from 1. */
  readonly place: number
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

/** A trade, as read from the arguments of a call to a trading program. */
export interface Trade {
  /** Names of the program and its instruction, for example `pump buy`. */
  readonly name: string
  readonly side: 'buy' | 'sell'
  readonly mint: string
  /** Which amount is exact: the input or the output of the trade. */
  readonly exact: 'in' | 'out'
  /** Limit of the trade in lamports: for a buy, the maximum cost; for a sale, the minimum proceeds. */
  readonly lamports: bigint
  /** Base units: for a buy, the minimum number of tokens received; for a sale, the exact number of tokens sold. */
  readonly tokens: bigint
  /** Whether the trade pays or receives wrapped SOL in place of SOL. */
  readonly wraps: boolean
}

/** The results of reading one transaction. The readers of the programs write into it, and `checkTerms` computes the sum
 *  of the amounts. */
export class Reading {
  readonly asked: AskedTrade
  readonly policy: BuilderPolicy
  /** Allowed signers other than the wallet. */
  readonly coSigners: ReadonlySet<string>
  readonly refusals: Refusal[] = []
  /** Parts of the transaction that Sluice cannot decode, as sentences for a person. */
  readonly notUnderstood: string[] = []
  readonly trades: Trade[] = []
  /** Lamports transferred to fee accounts of the policy, by address. */
  readonly fees = new Map<string, bigint>()
  tips = 0n
  /** Lamports put into wrapped SOL accounts of the wallet, including the rent of those that are opened with a seed. */
  wrapped = 0n
  /** The wallet's token accounts that a trade may use, by address. */
  readonly own = new Map<string, { readonly mint: string; readonly program: string }>()
  /** Wrapped SOL accounts that are opened with a seed, by address. The value is true if the account was initialized for
   *  the wallet. */
  readonly seeded = new Map<string, boolean>()
  /** Associated token accounts whose rent the wallet pays: token program by address. */
  readonly opened = new Map<string, string>()
  readonly closed = new Set<string>()
  /** Ids of the opaque programs (their instructions cannot be decoded) that receive the wallet as an account. */
  readonly opaque: string[] = []
  computeLimit: number | undefined
  microLamports: bigint | undefined

  constructor(asked: AskedTrade, policy: BuilderPolicy, coSigners: ReadonlySet<string>) {
    this.asked = asked
    this.policy = policy
    this.coSigners = coSigners
    for (const program of [PROGRAMS.token, PROGRAMS.token2022])
      this.own.set(tokenAccountOf(asked.wallet, asked.mint, program), { mint: asked.mint, program })
    const wrapped = tokenAccountOf(asked.wallet, WSOL_MINT, PROGRAMS.token)
    this.own.set(wrapped, { mint: WSOL_MINT, program: PROGRAMS.token })
  }

  get wallet(): string {
    return this.asked.wallet
  }

  refuse(code: ErrorCode, reason: string): void {
    this.refusals.push({ code, reason })
  }

  /** Whether an address is a wrapped SOL account of the wallet. */
  isWrapped(address: string | undefined): boolean {
    return address !== undefined && this.own.get(address)?.mint === WSOL_MINT
  }

  /** Records a transfer of SOL out of the wallet. */
  pay(place: number, to: string, lamports: bigint): void {
    const { feeAccounts, tips } = this.policy
    if (to === this.wallet) return
    if (this.isWrapped(to)) this.wrapped += lamports
    else if (feeAccounts.some(({ address }) => address === to)) this.fees.set(to, (this.fees.get(to) ?? 0n) + lamports)
    else if (tips.accounts.includes(to)) this.tips += lamports
    else
      this.refuse(
        'SOL_TRANSFER',
        `instruction ${place} sends ${formatSol(lamports)} SOL to ${to}, which the policy does not allow`,
      )
  }
}
