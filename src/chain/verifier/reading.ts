import type { ErrorCode, Refusal } from '../../base/errors.ts'
import type { AskedTrade } from '../../orders/asked-trade.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { tokenAccountOf } from '../addresses.ts'

/** An instruction with its accounts by address. Whoever signs the transaction signs every instruction that names
 *  him. */
export interface Step {
  /** From 1, for people. */
  readonly place: number
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

/** What a trading program was told, in its own words. */
export interface Trade {
  /** As `pump buy`. */
  readonly name: string
  readonly side: 'buy' | 'sell'
  readonly mint: string
  /** Which amount is exact: what goes in, or what comes out. */
  readonly exact: 'in' | 'out'
  /** A buy costs at most so much; a sale gives at least so much. */
  readonly lamports: bigint
  /** A buy gives at least so many; a sale takes exactly so many. Base units. */
  readonly tokens: bigint
  /** The SOL comes from, or goes to, an account of wrapped SOL. */
  readonly wraps: boolean
}

/** What has been read of a transaction so far. Readers of the single programs write into it; the judge adds it up. */
export class Reading {
  readonly asked: AskedTrade
  readonly policy: BuilderPolicy
  /** Who signs beside the wallet, and may. */
  readonly coSigners: ReadonlySet<string>
  readonly refusals: Refusal[] = []
  /** For people: what of it nobody here can read. */
  readonly notUnderstood: string[] = []
  readonly trades: Trade[] = []
  /** SOL to strangers by address. */
  readonly fees = new Map<string, bigint>()
  tips = 0n
  /** SOL put into the wallet's own wrapped SOL, the rent of seeded accounts included. */
  wrapped = 0n
  /** The wallet's own token accounts that a trade may use, by address. */
  readonly own = new Map<string, { readonly mint: string; readonly program: string }>()
  /** Accounts of wrapped SOL opened by a seed: whether they were made the wallet's. */
  readonly seeded = new Map<string, boolean>()
  /** Associated accounts that the wallet pays the rent of, by address: the token program. */
  readonly opened = new Map<string, string>()
  readonly closed = new Set<string>()
  /** Programs that are not understood and get hold of the wallet. */
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

  /** The wallet's own account of wrapped SOL. */
  isWrapped(address: string | undefined): boolean {
    return address !== undefined && this.own.get(address)?.mint === WSOL_MINT
  }

  /** SOL leaves the wallet by a transfer. */
  pay(place: number, to: string, lamports: bigint): void {
    const { feeAccounts, tips } = this.policy
    if (to === this.wallet) return
    if (this.isWrapped(to)) this.wrapped += lamports
    else if (feeAccounts.some(({ address }) => address === to)) this.fees.set(to, (this.fees.get(to) ?? 0n) + lamports)
    else if (tips.accounts.includes(to)) this.tips += lamports
    else
      this.refuse(
        'SOL_TRANSFER',
        `instruction ${place} sends ${sol(lamports)} SOL to ${to}, which the policy does not name`,
      )
  }
}

/** Lamports as SOL, of a stranger's number too, which may be more than there is. */
export function sol(lamports: bigint): string {
  const digits = (lamports < 0n ? -lamports : lamports).toString().padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  return `${lamports < 0n ? '-' : ''}${digits.slice(0, -9)}${fraction ? `.${fraction}` : ''}`
}
