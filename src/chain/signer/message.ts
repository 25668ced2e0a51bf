import type { ErrorCode } from '../../base/errors.ts'
import { CLEAR_CLOSE_AUTHORITY, SYSTEM, TOKEN } from '../../solana/instructions.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { isSameBytes, type Message } from '../../solana/transaction.ts'

/** The parts of an instruction that can be read without lookup tables. */
export interface Step {
  /** Number of the instruction, counted from 1. */
  readonly place: number
  /** Address of the program. Programs are never in lookup tables. */
  readonly program: string
  /** Indexes of the accounts in the message. Two accounts with the same index are the same account. */
  readonly places: readonly number[]
  /** Addresses of the accounts; undefined if an account is in a lookup table, in which case it cannot sign. */
  readonly accounts: readonly (string | undefined)[]
  readonly data: Uint8Array
}

export function stepsOf({ keys, instructions }: Message): Step[] {
  return instructions.map(({ program, accounts: places, data }, index) => ({
    ...{ place: index + 1, program: keys[program] as string, places, data },
    accounts: places.map((place) => keys[place]),
  }))
}

/** The results of reading one message, instruction by instruction. */
export class Findings {
  readonly wallet: string
  /** Signers of the message, the wallet first. */
  readonly signers: ReadonlySet<string>
  /** Address of the wallet's account of wrapped SOL. */
  readonly wrappedAccount: string
  readonly refusals: string[] = []
  /** Lamports that leave the wallet for another account. */
  spent = 0n
  /** Lamports that go into wrapped SOL accounts of the wallet. */
  wrapped = 0n
  /** Maximum cost, in lamports, of the trades by programs whose instructions can be decoded. `traded` is paid from the
   *  wallet, `tradedWrapped` from wrapped SOL. */
  traded = 0n
  tradedWrapped = 0n
  /** Number of instructions of trading programs. */
  trades = 0
  /** Number of token accounts that are opened for the wallet. */
  opened = 0
  /** Wrapped SOL accounts that are opened with a seed, by address. The value is true if the account was initialized for
   *  the wallet. */
  readonly seeded = new Map<string, boolean>()
  computeLimit: number | undefined
  microLamports: bigint | undefined

  constructor(wallet: string, signers: readonly string[], wrappedAccount: string) {
    this.wallet = wallet
    this.signers = new Set(signers)
    this.wrappedAccount = wrappedAccount
  }

  refuseFor(reason: string): void {
    this.refusals.push(reason)
  }

  /** Called by the functions that read instructions for both signer and verifier. The code is ignored, because the
   *  signer has one code for every refusal. */
  refuse(_code: ErrorCode, reason: string): void {
    this.refuseFor(reason)
  }

  /** Whether an address signs the transaction and is not the wallet. */
  isCoSigner(address: string | undefined): boolean {
    return address !== undefined && address !== this.wallet && this.signers.has(address)
  }
}

/** Returns the kind of a guard, an instruction that only checks a balance or revokes rights; undefined for every other
 *  instruction. */
export function guards(step: Step, wallet: string): 'lamports' | 'tokens' | undefined {
  const { program, data, accounts } = step
  const isLamports =
    program === PROGRAMS.system && data.length === 12 && data[0] === SYSTEM.transfer && accounts.length === 2
  if (isLamports && accounts.every((one) => one === wallet)) return 'lamports'
  if (program !== PROGRAMS.token && program !== PROGRAMS.token2022) return undefined
  return isSelfTransfer(step, wallet) || revokesRights(step, wallet) ? 'tokens' : undefined
}

/** Whether an instruction is a checked transfer of tokens from an account of the wallet to itself. The transfer fails
 *  if the account holds fewer tokens. */
function isSelfTransfer({ data, accounts, places }: Step, wallet: string): boolean {
  return data[0] === TOKEN.transferChecked && places.length === 4 && places[0] === places[2] && accounts[3] === wallet
}

/** Whether the wallet revokes rights to its tokens, by Revoke or by SetAuthority that clears the close authority. */
export function revokesRights({ data, accounts }: Step, wallet: string): boolean {
  const isRevoke = data.length === 1 && data[0] === TOKEN.revoke
  const clearsCloseAuthority = isSameBytes(data, CLEAR_CLOSE_AUTHORITY)
  return (isRevoke || clearsCloseAuthority) && accounts.length === 2 && accounts[1] === wallet
}
