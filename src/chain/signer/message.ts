import type { ErrorCode } from '../../base/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { Message } from '../../solana/transaction.ts'

/** An instruction as far as it can be read without the chain. */
export interface Step {
  /** From 1, for people. */
  readonly place: number
  /** Programs never stand in a lookup table. */
  readonly program: string
  /** Places among all accounts; two alike are one account. */
  readonly places: readonly number[]
  /** By address; undefined where it stands in a lookup table, so it is nobody who signs. */
  readonly accounts: readonly (string | undefined)[]
  readonly data: Uint8Array
}

export function stepsOf({ keys, instructions }: Message): Step[] {
  return instructions.map(({ program, accounts: places, data }, index) => ({
    ...{ place: index + 1, program: keys[program] as string, places, data },
    accounts: places.map((place) => keys[place]),
  }))
}

/** What was read so far of what the wallet would sign. */
export class Findings {
  readonly wallet: string
  /** Who signs, the wallet first. */
  readonly signers: ReadonlySet<string>
  /** The wallet's own account of wrapped SOL. */
  readonly wrappedAccount: string
  readonly refusals: string[] = []
  /** Lamports that leave the wallet for good. */
  spent = 0n
  /** Lamports that become the wallet's own wrapped SOL. */
  wrapped = 0n
  /** What known trades cost at most: out of the wallet, and out of wrapped SOL. */
  traded = 0n
  tradedWrapped = 0n
  /** Instructions of programs that are not Solana's own. */
  trades = 0
  /** Token accounts that are opened for the wallet. */
  opened = 0
  /** Accounts of wrapped SOL opened by a seed: whether they were made the wallet's. */
  readonly seeded = new Map<string, boolean>()
  computeLimit: number | undefined
  microLamports: bigint | undefined

  constructor(wallet: string, signers: readonly string[], wrappedAccount: string) {
    this.wallet = wallet
    this.signers = new Set(signers)
    this.wrappedAccount = wrappedAccount
  }

  object(reason: string): void {
    this.refusals.push(reason)
  }

  /** As readers that the verifier has too call it; a signer has one code for everything. */
  refuse(_code: ErrorCode, reason: string): void {
    this.object(reason)
  }

  /** That belongs to whoever signs beside the wallet. */
  isCoSigner(address: string | undefined): boolean {
    return address !== undefined && address !== this.wallet && this.signers.has(address)
  }
}

/** Whether an instruction only checks that so much is still there, or takes back rights to it: what guards at the end
 *  of a transaction do. */
export function guards(step: Step, wallet: string): 'lamports' | 'tokens' | undefined {
  const { program, data, accounts } = step
  const isLamports = program === PROGRAMS.system && data.length === 12 && data[0] === 2 && accounts.length === 2
  if (isLamports && accounts.every((one) => one === wallet)) return 'lamports'
  if (program !== PROGRAMS.token && program !== PROGRAMS.token2022) return undefined
  return isSelfTransfer(step, wallet) || takesBack(step, wallet) ? 'tokens' : undefined
}

/** Tokens from an account of the wallet to itself, checked: it fails where so many are not there. */
function isSelfTransfer({ data, accounts, places }: Step, wallet: string): boolean {
  return data[0] === 12 && places.length === 4 && places[0] === places[2] && accounts[3] === wallet
}

/** Revoke, or SetAuthority of the right to close to nobody. */
export function takesBack({ data, accounts }: Step, wallet: string): boolean {
  const isRevoke = data.length === 1 && data[0] === 5
  const isNobodyCloses = data.length === 3 && data[0] === 6 && data[1] === 3 && data[2] === 0
  return (isRevoke || isNobodyCloses) && accounts.length === 2 && accounts[1] === wallet
}
