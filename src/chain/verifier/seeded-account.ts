import { type ByteReader, Malformed } from '../../solana/byte-reader.ts'
import { readCreateWithSeed } from '../../solana/instructions.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { TOKEN_ACCOUNT_BYTES } from '../../solana/token-account.ts'
import { seededAddress } from '../addresses.ts'

/** An account that a CreateAccountWithSeed instruction opens. */
export interface SeededAccount {
  readonly address: string | undefined
  readonly lamports: bigint
  /** Whether all of these hold: the wallet pays for the account, the address of the account is derived from the wallet,
   *  and the account has the owner and the length of a token account. */
  readonly isTokenAccountOfWallet: boolean
}

/** Reads a CreateAccountWithSeed instruction. `reader` has already read the instruction number. An entry of `accounts`
 *  is undefined if it is in a lookup table, which the signer cannot read. */
export function readSeededAccount(
  reader: ByteReader,
  accounts: readonly (string | undefined)[],
  wallet: string,
): SeededAccount {
  const { base, seed, lamports, space, owner } = readCreateWithSeed(reader)
  const [from, address, third = base, ...more] = accounts
  if (more.length > 0) throw new Malformed('CreateAccountWithSeed has more than three accounts')
  const isWallets = from === wallet && base === wallet && third === wallet
  const isToken = owner === PROGRAMS.token && space === BigInt(TOKEN_ACCOUNT_BYTES)
  const isDerived = address === seededAddress(base, seed, owner)
  return { address, lamports, isTokenAccountOfWallet: isWallets && isToken && isDerived }
}
