import type { Refusal } from '../../base/errors.ts'
import type { AskedTrade } from '../../orders/asked-trade.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { type AccountState, tokenAccountOf } from '../../solana/token-account.ts'
import { keyBytes } from '../../solana/transaction.ts'
import { creatorVaultOf, volumeAccumulatorOf } from '../addresses.ts'

type States = ReadonlyMap<string, AccountState | null>

/** What a program that is not understood is handed. */
export interface Handed {
  /** Of all accounts of the message. */
  readonly states: States
  /** Those that may be written to. */
  readonly writable: readonly string[]
  /** The wallet's token accounts that the trade may use. */
  readonly own: readonly string[]
  readonly asked: AskedTrade
  readonly policy: BuilderPolicy
}

/** An account that the wallet commands, or may command. */
export interface Exposure {
  readonly address: string
  readonly state: AccountState
  readonly kind: 'names the wallet' | 'holds SOL'
}

/** A pump.fun curve: eight bytes, five u64, whether it is complete, then its creator. */
const CREATOR_AT = 49

/** What a program that is not understood could take with the wallet's signature, although neither bound nor guard
 *  counts it. It may leave all of that alone in a simulation, so it must not be handed it at all: what `exposuresIn`
 *  finds, and programs that the policy does not name. */
export function exposedBy(handed: Handed, mayCall: readonly string[]): Refusal[] {
  const callable = [...handed.states].flatMap(([address, state]): Refusal[] => {
    if (state?.executable !== true || mayCall.includes(address)) return []
    return [{ code: 'INNER_PROGRAM', reason: `${address} could be called by a program that is not understood` }]
  })
  return [...callable, ...exposuresIn(handed).map(refusalOf)]
}

/** Two kinds of accounts:
 *
 *  - those that name the wallet anywhere: as owner, delegate or authority of tokens, a mint, a nonce, a stake, a table, a multisig. Which field
 *    it is does not matter: wherever a program keeps who may command an account, it keeps the key. They need not be writable, since a multisig
 *    or a mint with a permanent delegate decides over other accounts;
 *  - those of the System program that hold SOL. One that the wallet opened by a seed is the wallet's to empty, and its address, a hash, does
 *    not tell. So the policy has to say which are somebody else's. */
export function exposuresIn(handed: Handed): Exposure[] {
  const { states, writable, asked } = handed
  const wallet = Buffer.from(keyBytes(asked.wallet))
  const harmless = harmlessIn(handed)
  return [...states].flatMap(([address, state]): Exposure[] => {
    if (state === null || state.executable || address === asked.wallet || harmless.has(address)) return []
    if (isTraded(address, state, handed)) return []
    if (Buffer.from(state.data).includes(wallet)) return [{ address, state, kind: 'names the wallet' }]
    const holdsSol = state.owner === PROGRAMS.system && state.lamports > 0n && writable.includes(address)
    return holdsSol ? [{ address, state, kind: 'holds SOL' }] : []
  })
}

function refusalOf({ address, state, kind }: Exposure): Refusal {
  const tokens = tokenAccountOf(state)
  const holds = tokens === undefined ? '' : ` and holds ${tokens.tokens} of ${tokens.mint}`
  const what = kind === 'holds SOL' ? 'holds SOL and may be one that the wallet opened by a seed' : `${kind}${holds}`
  const otherwise = 'if that cannot cost the wallet anything, list it in opaqueAccounts of the policy'
  const reason = `a program that is not understood could take what is in ${address}, which ${what}; ${otherwise}`
  return { code: 'ACCOUNT_FOREIGN', reason }
}

/** The wallet's own account of the traded token, which guards hold, or of wrapped SOL, which is not kept between
 *  trades. A right to any other empty account would wait for what is bought next. */
function isTraded(address: string, state: AccountState, { own, asked }: Handed): boolean {
  const tokens = tokenAccountOf(state)
  if (tokens === undefined || tokens.owner !== asked.wallet || !own.includes(address)) return false
  return tokens.mint === asked.mint || (tokens.mint === WSOL_MINT && tokens.tokens === 0n)
}

/** What the policy says is somebody else's, who signs himself, and what pump.fun and PumpSwap keep: the record of the
 *  wallet's volume, which pays nobody but the wallet, and the vaults of creators, whose addresses follow from the
 *  curves and so from no seed. */
function harmlessIn({ states, asked, policy }: Handed): ReadonlySet<string> {
  const { opaqueAccounts, feeAccounts, tips, coSigners } = policy
  const vaults = [...states.values()].flatMap((state) => {
    if (state?.owner !== PROGRAMS.bondingCurve || state.data.length < CREATOR_AT + 32) return []
    return [creatorVaultOf(state.data.subarray(CREATOR_AT, CREATOR_AT + 32))]
  })
  const records = [PROGRAMS.bondingCurve, PROGRAMS.pumpSwap].map((venue) => volumeAccumulatorOf(asked.wallet, venue))
  const fees = feeAccounts.map(({ address }) => address)
  return new Set([...opaqueAccounts, ...fees, ...tips.accounts, ...coSigners, ...vaults, ...records])
}
