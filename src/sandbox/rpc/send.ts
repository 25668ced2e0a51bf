import { decodeLongBase58, encodeBase58 } from '../../solana/base58.ts'
import { PACKET_BYTES } from '../../solana/constants.ts'
import {
  type Account,
  BadTransaction,
  type Blockhash,
  type Commitment,
  type Ledger,
  type SimulatedTransaction,
  type TransactionError,
  Unsupported,
} from '../chain/ledger.ts'
import type { Faults } from '../faults.ts'
import { address, type Config, commitment, config, integer, invalid, list, type Method, RpcError } from './params.ts'
import { accountShape, balancesShape } from './shapes.ts'

const PREFLIGHT_FAILURE = -32002
const SIGNATURE_FAILURE = -32003
const METHOD_NOT_FOUND = -32601
/** Length of the longest transaction as base58 text, characters. */
const MAX_BASE58 = 1_683

/** RPC methods that receive a transaction. They answer like Agave (rpc/src/rpc.rs, 3.0). */
export function sendMethods(ledger: Ledger, faults: Faults): Record<string, Method> {
  return {
    sendTransaction: ([encoded, options]) => telling(() => send(ledger, faults, encoded, config(options))),
    simulateTransaction: ([encoded, options]) => telling(() => simulate(ledger, encoded, config(options))),
  }
}

function send(ledger: Ledger, faults: Faults, encoded: unknown, options: Config): string {
  const bytes = wire(encoded, options.encoding ?? 'base58')
  if (options.maxRetries !== undefined) integer(options.maxRetries, 0, Number.MAX_SAFE_INTEGER)
  const level = commitment(ledger, { ...options, commitment: options.preflightCommitment ?? 'finalized' })
  if (options.skipPreflight !== true) preflight(ledger, bytes, level)
  return ledger.send(bytes, faults.strike('sendDropped') ? Number.POSITIVE_INFINITY : undefined)
}

function preflight(ledger: Ledger, bytes: Uint8Array, level: Commitment): void {
  const simulated = ledger.simulate(bytes, { commitment: level, verifySignatures: true, replaceBlockhash: false })
  const { error, logs, computeUnits } = simulated
  if (error === null) return
  throw new RpcError(PREFLIGHT_FAILURE, `Transaction simulation failed: ${sentence(error)}`, {
    ...{ accounts: null, err: error, innerInstructions: null, logs, replacementBlockhash: null },
    ...{ returnData: returnShape(simulated), unitsConsumed: computeUnits },
  })
}

function simulate(ledger: Ledger, encoded: unknown, options: Config): object {
  const bytes = wire(encoded, options.encoding ?? 'base58')
  const { sigVerify = false, replaceRecentBlockhash = false, innerInstructions = false } = options
  if (sigVerify === true && replaceRecentBlockhash === true)
    throw invalid('sigVerify may not be used with replaceRecentBlockhash')
  const level = commitment(ledger, options)
  const simulated = ledger.simulate(bytes, {
    commitment: level,
    verifySignatures: sigVerify === true,
    replaceBlockhash: replaceRecentBlockhash === true,
  })
  const { error, logs, computeUnits, feeLamports, replacement } = simulated
  const value = {
    err: error,
    logs,
    accounts: options.accounts === undefined ? null : accountsAfter(ledger, level, simulated, config(options.accounts)),
    unitsConsumed: computeUnits,
    returnData: returnShape(simulated),
    innerInstructions: innerInstructions === true ? innerShape(simulated) : null,
    replacementBlockhash: replacement === undefined ? null : blockhashShape(replacement),
    fee: error === null ? feeLamports : null,
    ...balancesShape(simulated),
  }
  return { context: { apiVersion: '3.0.0', slot: ledger.head(level).slot }, value }
}

/** State of the requested accounts after the simulation; none if the transaction fails. */
function accountsAfter(ledger: Ledger, level: Commitment, simulated: SimulatedTransaction, asked: Config): unknown[] {
  const { encoding = 'base64', addresses } = asked
  if (encoding !== 'base64' && encoding !== 'jsonParsed') throw invalid(`${String(encoding)} encoding not supported`)
  const most = Math.max(simulated.accounts.length, 1)
  if (Array.isArray(addresses) && addresses.length > most && simulated.error === null)
    throw invalid(`Too many accounts provided; max ${most}`)
  return list(addresses, 256).map((value) => {
    const key = address(value)
    if (simulated.error !== null) return null
    const account: Account | undefined = simulated.after.has(key)
      ? simulated.after.get(key)
      : ledger.account(key, level)
    return account ? accountShape(account, encoding) : null
  })
}

/** Inner instructions in the JSON format. A real node parses the instructions of programs that it knows; the sandbox
 *  returns all of them unparsed. */
function innerShape({ inner, accounts }: SimulatedTransaction): object[] {
  return inner.map(([index, called]) => ({
    index,
    instructions: called.map(({ program, accounts: places, data, stackHeight }) => ({
      programId: accounts[program]!.address,
      accounts: places.map((place) => accounts[place]!.address),
      data: encodeBase58(Buffer.from(data, 'hex')),
      stackHeight,
    })),
  }))
}

function returnShape({ returned }: SimulatedTransaction): object | null {
  return returned === undefined ? null : { programId: returned.program, data: [returned.data, 'base64'] }
}

function blockhashShape({ blockhash, lastValidBlockHeight }: Blockhash): object {
  return { blockhash, lastValidBlockHeight }
}

/** Decodes the text of a transaction to its bytes. */
function wire(encoded: unknown, encoding: unknown): Uint8Array {
  if (typeof encoded !== 'string') throw invalid('invalid type: expected a string')
  if (encoding === 'base64') {
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.length % 4 !== 0)
      throw invalid('invalid base64 encoding: InvalidPadding')
    return sized(Buffer.from(encoded, 'base64'))
  }
  if (encoding !== 'base58')
    throw invalid(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`)
  if (encoded.length > MAX_BASE58) throw tooLarge(encoded.length, 'encoded')
  const bytes = decodeLongBase58(encoded, PACKET_BYTES)
  if (!bytes) throw invalid('invalid base58 encoding: InvalidCharacter')
  return sized(bytes)
}

function sized(bytes: Uint8Array): Uint8Array {
  if (bytes.length > PACKET_BYTES) throw tooLarge(bytes.length, 'decoded')
  return bytes
}

function tooLarge(size: number, what: string): RpcError {
  return invalid(
    `${what} solana_transaction::versioned::VersionedTransaction too large: ${size} bytes (max: encoded/raw ${MAX_BASE58}/${PACKET_BYTES})`,
  )
}

/** Calls `run`, and converts errors of the ledger to those of a node. */
function telling<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof Unsupported) throw new RpcError(METHOD_NOT_FOUND, error.message)
    if (!(error instanceof BadTransaction)) throw error
    if (error.kind === 'unsigned') throw new RpcError(SIGNATURE_FAILURE, error.message)
    throw invalid(`failed to deserialize solana_transaction::versioned::VersionedTransaction: ${error.message}`)
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  AddressLookupTableIndex: 'Transaction address table lookup uses an invalid index',
}

/** Text of a TransactionError, as Rust's Display formats it. */
function sentence(error: TransactionError): string {
  if (typeof error === 'string') return SENTENCES[error] ?? error
  const { InstructionError: failed } = error
  if (!Array.isArray(failed)) return JSON.stringify(error)
  const [index, why] = failed as [number, string | { Custom: number }]
  const reason = typeof why === 'string' ? why : `custom program error: 0x${why.Custom.toString(16)}`
  return `Error processing Instruction ${index}: ${reason}`
}
