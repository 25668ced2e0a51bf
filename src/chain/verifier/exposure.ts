import type { Refusal } from '../../base/errors.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import type { AskedTrade } from '../../orders/trade-request.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { type AccountState, tokenAccountOf } from '../../solana/token-account.ts'
import { keyBytes } from '../../solana/transaction.ts'
import { creatorVaultOf, volumeAccumulatorOf } from '../addresses.ts'

type States = ReadonlyMap<string, AccountState | null>

/** Accounts that a transaction passes to an opaque program, whose instructions Sluice cannot decode. */
export interface Handed {
  /** States of all accounts of the message. */
  readonly states: States
  /** Addresses of the writable accounts. */
  readonly writable: readonly string[]
  /** Token accounts of the wallet that the trade may use. */
  readonly own: readonly string[]
  readonly asked: AskedTrade
  readonly policy: BuilderPolicy
}

/** An account over which the wallet has, or may have, authority. */
export interface Exposure {
  readonly address: string
  readonly state: AccountState
  readonly kind: 'names the wallet' | 'holds SOL'
}

/** Offset of the creator in the account of a pump.fun curve, after 8 bytes of discriminator, five u64 and a flag. */
const CREATOR_AT = 49

/** Returns the refusals of an opaque program, whose instructions Sluice cannot decode. The program has the wallet's
 *  signature. It is refused if it could take anything that the guards at the end of the transaction do not protect,
 *  through one of the accounts or programs that it receives. A simulation does not show this risk, because the program
 *  may behave differently later. */
export function exposedBy(handed: Handed, mayCall: readonly string[]): Refusal[] {
  const callable = [...handed.states].flatMap(([address, state]): Refusal[] => {
    if (state?.executable !== true || mayCall.includes(address)) return []
    return [
      { code: 'INNER_PROGRAM', reason: `an opaque program could call ${address}, which the policy does not list` },
    ]
  })
  return [...callable, ...exposuresIn(handed).map(refusalOf)]
}

/** Finds the accounts over which the wallet has, or may have, authority. There are two kinds. The data of the first
 *  kind contain the wallet's key, as owner, delegate or authority of tokens, mints, nonces, stakes, tables or
 *  multisigs. These accounts count even if they are readonly, because a multisig or a permanent delegate has power over
 *  other accounts. The second kind are System accounts with SOL: the wallet may have derived them from a seed, which an
 *  address does not show. Accounts that the policy lists, for example of third parties, are left out. */
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
  const what = kind === 'holds SOL' ? 'holds SOL and may be derived from the wallet by a seed' : `${kind}${holds}`
  const remedy = 'if the wallet cannot lose anything through this account, list it in opaqueAccounts of the policy'
  const reason = `an opaque program could empty ${address}, which ${what}: ${remedy}`
  return { code: 'ACCOUNT_FOREIGN', reason }
}

/** Whether the trade itself needs an account. It needs the wallet's account of the traded token, which guards protect.
 *  It also needs the wallet's account of wrapped SOL, which should be empty between trades and counts only if it is.
 *  Every other empty account counts as exposed: if another key has a right to such an account, the right would also
 *  apply to tokens that the wallet buys later. */
function isTraded(address: string, state: AccountState, { own, asked }: Handed): boolean {
  const tokens = tokenAccountOf(state)
  if (tokens === undefined || tokens.owner !== asked.wallet || !own.includes(address)) return false
  return tokens.mint === asked.mint || (tokens.mint === WSOL_MINT && tokens.tokens === 0n)
}

/** Returns the addresses of the accounts through which the wallet cannot lose anything. These are the accounts listed
 *  in the policy, the wallet's volume records of pump.fun and PumpSwap (which pay only the wallet), and creator vaults,
 *  whose addresses are derived from the curves. */
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
