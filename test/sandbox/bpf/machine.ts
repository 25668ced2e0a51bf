import {
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm'
import {
  CURVE_FEES,
  encodePool,
  POOL_PROGRAM,
  type ProgramInstruction,
  poolBinary,
  poolOf,
  vaultOf,
} from '../../../src/sandbox/chain/pool-program.ts'
import { tokenAccountAddress } from '../../../src/sandbox/keys.ts'
import { decodeBase58 } from '../../../src/solana/base58.ts'
import type { Curve } from '../../../src/solana/bonding-curve.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { encodeMint, encodeTokenAccount } from '../../../src/solana/token-account.ts'
import { decodeTransaction, type TransactionBytes } from '../../../src/solana/transaction.ts'
import { address, keypair } from '../../chain/verifier/draft.ts'

type Transaction = Parameters<LiteSVM['sendTransaction']>[0]
type Address = Parameters<LiteSVM['getBalance']>[0]
type StoredAccount = Parameters<LiteSVM['setAccount']>[0]

/** A transaction together with the keys of its message. */
type Signed = [Transaction, PublicKey[]]

export interface Landed {
  /** The number of a custom error, the name of another error, or undefined on success. */
  error: number | string | undefined
  /** The index of the instruction that failed. */
  place: number | undefined
  units: number
  /** For each instruction: the programs that it called, in the order of the calls. */
  inner: string[][]
  logs: string[]
}

/** The lamports of an account that only has to exist. */
const RENT = 10_000_000n
export const WALLET_LAMPORTS = 1_000_000_000_000n

/** Solana's runtime with the pool, a wallet and one mint. Its state changes only through transactions and `write`. */
export class Machine {
  readonly svm = new LiteSVM()
  readonly wallet = keypair('machine wallet')
  readonly mint = address('machine mint').toBase58()
  readonly tokenProgram: string

  constructor(tokenProgram: string = PROGRAMS.token) {
    this.tokenProgram = tokenProgram
    this.svm.addProgram(POOL_PROGRAM as Address, poolBinary())
    this.write(this.user, PROGRAMS.system, new Uint8Array(0), WALLET_LAMPORTS)
    this.write(CURVE_FEES, PROGRAMS.system, new Uint8Array(0))
    this.write(this.mint, tokenProgram, encodeMint())
    this.hold(this.user, 0n)
  }

  get user(): string {
    return this.wallet.publicKey.toBase58()
  }

  /** Writes the pool accounts as the sandbox writes them before a trade. */
  load(curve: Curve, feeBps?: bigint): void {
    this.write(poolOf(this.mint), POOL_PROGRAM, encodePool(this.mint, curve, feeBps), RENT + curve.realSol)
    const token = { mint: this.mint, owner: poolOf(this.mint), amount: curve.reserves.realTokens }
    this.write(vaultOf(this.mint, this.tokenProgram), this.tokenProgram, encodeTokenAccount(token))
  }

  write(where: string, owner: string, data: Uint8Array, lamports = RENT): void {
    const account = { address: where, programAddress: owner, data, lamports, executable: false }
    this.svm.setAccount({ ...account, space: BigInt(data.length) } as unknown as StoredAccount)
  }

  /** Sets the owner's token balance. */
  hold(owner: string, amount: bigint): void {
    this.write(this.tokensOf(owner), this.tokenProgram, encodeTokenAccount({ mint: this.mint, owner, amount }))
  }

  tokensOf(owner: string): string {
    return tokenAccountAddress(owner, this.mint, this.tokenProgram)
  }

  data(where: string): Uint8Array {
    const account = this.svm.getAccount(where as Address)
    return account.exists ? account.data : new Uint8Array(0)
  }

  lamports(where: string): bigint {
    return this.svm.getBalance(where as Address) ?? 0n
  }

  tokens(where: string): bigint {
    return new DataView(Uint8Array.from(this.data(where)).buffer).getBigUint64(64, true)
  }

  send(...instructions: readonly (ProgramInstruction | TransactionInstruction)[]): Landed {
    return this.land(this.sign(instructions))
  }

  land([transaction, keys]: Signed): Landed {
    const answer = this.svm.sendTransaction(transaction)
    return answer instanceof FailedTransactionMetadata
      ? { ...landed(answer.meta(), keys), ...failure(answer) }
      : landed(answer, keys)
  }

  /** Sends a transaction with this one instruction, after `finish` has changed the transaction. */
  sendAsBuilt(built: ProgramInstruction, finish: (transaction: TransactionBytes) => TransactionBytes): Landed {
    this.svm.expireBlockhash()
    const message = new TransactionMessage({
      payerKey: this.wallet.publicKey,
      recentBlockhash: this.svm.latestBlockhash(),
      instructions: [forWeb3(built)],
    }).compileToV0Message()
    const decoded = decodeTransaction(new VersionedTransaction(message).serialize())
    if (!decoded.ok) throw new Error(decoded.reason)
    const { messageBytes, message: finished } = finish(decoded.transaction)
    const signed = new VersionedTransaction(VersionedMessage.deserialize(messageBytes))
    signed.sign([this.wallet])
    const signatures = { [this.user]: signed.signatures[0] }
    const answer = this.svm.sendTransaction({ messageBytes, signatures } as unknown as Transaction)
    const keys = finished.keys.map(publicKey)
    return answer instanceof FailedTransactionMetadata
      ? { ...landed(answer.meta(), keys), ...failure(answer) }
      : landed(answer, keys)
  }

  /** Simulates these instructions on the present state. */
  simulate(...instructions: readonly (ProgramInstruction | TransactionInstruction)[]): Landed {
    const [transaction, keys] = this.sign(instructions)
    const answer = this.svm.simulateTransaction(transaction)
    const { error, place } = answer instanceof FailedTransactionMetadata ? failure(answer) : NO_FAILURE
    return { ...landed(answer.meta(), keys), error, place }
  }

  sign(instructions: readonly (ProgramInstruction | TransactionInstruction)[]): Signed {
    this.svm.expireBlockhash()
    const message = new TransactionMessage({
      payerKey: this.wallet.publicKey,
      recentBlockhash: this.svm.latestBlockhash(),
      instructions: instructions.map((one) => (one instanceof TransactionInstruction ? one : forWeb3(one))),
    }).compileToV0Message()
    const transaction = new VersionedTransaction(message)
    transaction.sign([this.wallet])
    const signatures = { [this.user]: transaction.signatures[0] }
    return [{ messageBytes: message.serialize(), signatures } as unknown as Transaction, message.staticAccountKeys]
  }
}

export function forWeb3({ program, accounts, data }: ProgramInstruction): TransactionInstruction {
  const keys = accounts.map(({ address, signer, writable }) => ({
    pubkey: publicKey(address),
    isSigner: signer,
    isWritable: writable,
  }))
  return new TransactionInstruction({ programId: publicKey(program), keys, data: Buffer.from(data) })
}

function publicKey(text: string): PublicKey {
  return new PublicKey(decodeBase58(text, 32) as Uint8Array)
}

const NO_FAILURE = { error: undefined, place: undefined }

/** LiteSVM throws objects of classes that it does not export. */
function failure(answer: FailedTransactionMetadata): Pick<Landed, 'error' | 'place'> {
  const error = answer.err()
  if (typeof error !== 'object' || !('err' in error)) return { error: String(error), place: undefined }
  const cause = error.err()
  const isCustom = typeof cause === 'object' && 'code' in cause
  return { error: isCustom ? cause.code : String(cause), place: error.index }
}

function landed(meta: TransactionMetadata, keys: PublicKey[]): Landed {
  const inner = meta
    .innerInstructions()
    .map((calls) => calls.map((call) => keys[call.instruction().programIdIndex()]?.toBase58() ?? ''))
  return { ...NO_FAILURE, units: Number(meta.computeUnitsConsumed()), inner, logs: meta.logs() }
}
