import { encodeBase58 } from '../../solana/base58.ts'
import { BLOCKHASH_BLOCKS, rentExemption } from '../../solana/constants.ts'
import { CLOCK_SYSVAR } from '../../solana/programs.ts'
import { decodeTokenAccount } from '../../solana/token-account.ts'
import type { Account, Commitment, LandedTransaction, Ledger } from '../chain/ledger.ts'
import { digest } from '../keys.ts'
import {
  address,
  type Config,
  commitment,
  config,
  encoding,
  historyCommitment,
  integer,
  invalid,
  list,
  type Method,
  RpcError,
  signature,
} from './params.ts'
import { accountShape, amountShape, decimalsOf, transactionShape, versionOf } from './shapes.ts'

const SYSVAR_PROGRAM = 'Sysvar1111111111111111111111111111111111111'
const SLOTS_IN_EPOCH = 432_000
const MAX_SIGNATURES = 256
const MAX_ROWS = 1_000
const SAMPLE_SECONDS = 60
const VERSION = '3.0.0'
const UNSUPPORTED_TRANSACTION_VERSION = -32015
const TRANSACTION_VERSION = 0

/** RPC methods by name. Each returns its result for the given params or throws RpcError.
 *  https://solana.com/docs/rpc/http */
export function rpcMethods(ledger: Ledger): Record<string, Method> {
  const at = (options: unknown): Commitment => commitment(ledger, config(options))
  const context = (level: Commitment, value: unknown): object => ({
    context: { apiVersion: VERSION, slot: ledger.head(level).slot },
    value,
  })
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': VERSION, 'feature-set': 0 }),
    getGenesisHash: () => ledger.genesisHash,
    getIdentity: () => ({ identity: encodeBase58(digest(ledger.genesisHash, 'validator')) }),
    getSlot: ([options]) => ledger.head(at(options)).slot,
    getBlockHeight: ([options]) => ledger.head(at(options)).height,
    getFirstAvailableBlock: () => ledger.firstAvailableSlot,
    getTransactionCount: () => ledger.transactionCount,
    getMinimumBalanceForRentExemption: ([bytes]) => rentExemption(integer(bytes, 0, 10_485_760)),
    getBlockTime: ([slot]) => blockTime(ledger, integer(slot, 0, Number.MAX_SAFE_INTEGER)),
    getEpochInfo: ([options]) => epochInfo(ledger, at(options)),
    getRecentPerformanceSamples: ([limit]) => performanceSamples(ledger, integer(limit ?? 720, 1, 720)),
    getLatestBlockhash: ([options]) => context(at(options), ledger.latestBlockhash(at(options))),
    isBlockhashValid: ([hash, options]) => context(at(options), ledger.isBlockhashValid(address(hash), at(options))),
    getBalance: ([key, options]) => context(at(options), ledger.account(address(key), at(options))?.lamports ?? 0),
    getAccountInfo: ([key, options]) =>
      context(at(options), accountInfo(ledger, address(key), config(options), at(options))),
    getMultipleAccounts: ([keys, options]) => {
      return context(
        at(options),
        list(keys, 100).map((key) => accountInfo(ledger, address(key), config(options), at(options))),
      )
    },
    getTokenAccountBalance: ([key, options]) => context(at(options), tokenBalance(ledger, address(key), at(options))),
    getTokenAccountsByOwner: ([owner, filter, options]) => {
      return context(at(options), tokenAccounts(ledger, address(owner), config(filter), config(options), at(options)))
    },
    getSignatureStatuses: ([signatures, options]) => {
      const everything = config(options).searchTransactionHistory === true
      return context(
        'processed',
        list(signatures, MAX_SIGNATURES).map((value) => status(ledger, signature(value), everything)),
      )
    },
    getSignaturesForAddress: ([key, options]) => signatureRows(ledger, address(key), config(options)),
    getTransaction: ([value, options]) => transaction(ledger, signature(value), options),
  }
}

function blockTime(ledger: Ledger, slot: number): number {
  const time = ledger.blockTime(slot)
  if (time === undefined)
    throw new RpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`)
  return Math.floor(time / 1_000)
}

function epochInfo(ledger: Ledger, level: Commitment): object {
  const { slot, height } = ledger.head(level)
  const epoch = Math.floor(slot / SLOTS_IN_EPOCH)
  return {
    absoluteSlot: slot,
    blockHeight: height,
    epoch,
    slotIndex: slot % SLOTS_IN_EPOCH,
    slotsInEpoch: SLOTS_IN_EPOCH,
    transactionCount: ledger.transactionCount,
  }
}

function performanceSamples(ledger: Ledger, limit: number): object[] {
  const { slot } = ledger.head('finalized')
  const numSlots = Math.round((SAMPLE_SECONDS * 1_000) / ledger.slotMs)
  const samples = Math.min(limit, Math.max(1, Math.floor((slot - ledger.firstAvailableSlot) / numSlots)))
  return Array.from({ length: samples }, (_none, index) => {
    return {
      slot: slot - index * numSlots,
      numSlots,
      numTransactions: numSlots * 1_000,
      numNonVoteTransactions: numSlots * 300,
      samplePeriodSecs: SAMPLE_SECONDS,
    }
  })
}

function accountInfo(ledger: Ledger, key: string, options: Config, level: Commitment): object | null {
  const account = key === CLOCK_SYSVAR ? clockAccount(ledger, level) : ledger.account(key, level)
  return account ? accountShape(account, encoding(options.encoding, 'base58')) : null
}

/** The clock account, which contains the slot, epochs and the time in seconds (solana-clock). */
function clockAccount(ledger: Ledger, level: Commitment): Account {
  const { slot } = ledger.head(level)
  const epoch = BigInt(Math.floor(slot / SLOTS_IN_EPOCH))
  const time = BigInt(Math.floor((ledger.blockTime(slot) ?? 0) / 1_000))
  const data = Buffer.alloc(40)
  for (const [index, value] of [BigInt(slot), 0n, epoch, epoch + 1n, time].entries())
    data.writeBigInt64LE(value, 8 * index)
  return { lamports: rentExemption(data.length), owner: SYSVAR_PROGRAM, executable: false, data }
}

function tokenBalance(ledger: Ledger, key: string, level: Commitment): object {
  const account = ledger.account(key, level)
  const token = account && decodeTokenAccount(account.data)
  if (!token) throw invalid('Invalid param: could not find account')
  return amountShape(token.amount, decimalsOf(token.mint))
}

function tokenAccounts(ledger: Ledger, owner: string, filter: Config, options: Config, level: Commitment): object[] {
  if (filter.mint === undefined && filter.programId === undefined) throw invalid('expected a filter: mint or programId')
  const shape = encoding(options.encoding, 'base64')
  return ledger.tokenAccounts(owner, level).flatMap((pubkey) => {
    const account = ledger.account(pubkey, level) as Account
    const wanted =
      filter.mint === undefined
        ? account.owner === filter.programId
        : decodeTokenAccount(account.data)?.mint === filter.mint
    return wanted ? [{ pubkey, account: accountShape(account, shape) }] : []
  })
}

/** Status of a signature. The status cache of a node reaches back as far as the lifetime of a blockhash. An older
 *  status requires the option `searchTransactionHistory`. */
function status(ledger: Ledger, value: string, everything: boolean): object | null {
  const landed = ledger.transaction(value)
  const head = ledger.head('processed').slot
  if (!landed || landed.slot > head || (!everything && landed.slot < head - BLOCKHASH_BLOCKS)) return null
  const confirmationStatus = reached(ledger, landed)
  const confirmations = confirmationStatus === 'finalized' ? null : head - landed.slot
  const { slot, error } = landed
  return { slot, confirmations, err: error, status: error === null ? { Ok: null } : { Err: error }, confirmationStatus }
}

function reached(ledger: Ledger, { slot }: LandedTransaction): Commitment {
  if (slot <= ledger.head('finalized').slot) return 'finalized'
  return slot <= ledger.head('confirmed').slot ? 'confirmed' : 'processed'
}

function signatureRows(ledger: Ledger, key: string, options: Config): object[] {
  const rows = ledger.signatures({
    address: key,
    limit: integer(options.limit ?? MAX_ROWS, 1, MAX_ROWS),
    before: options.before === undefined ? undefined : signature(options.before),
    until: options.until === undefined ? undefined : signature(options.until),
    commitment: historyCommitment(ledger, options),
  })
  return rows.map((landed) => ({
    signature: landed.signature,
    slot: landed.slot,
    err: landed.error,
    memo: null,
    blockTime: landed.blockTime,
    confirmationStatus: reached(ledger, landed),
  }))
}

function transaction(ledger: Ledger, value: string, options: unknown): object | null {
  // Nodes also accept the name of an encoding in place of the configuration object.
  const settings = typeof options === 'string' ? { encoding: options } : config(options)
  const shape = encoding(settings.encoding, 'json')
  const landed = ledger.transaction(value)
  if (!landed || landed.slot > ledger.head(historyCommitment(ledger, settings)).slot) return null
  if (typeof settings.maxSupportedTransactionVersion !== 'number' && versionOf(landed) !== 'legacy') {
    const message = `Transaction version (${TRANSACTION_VERSION}) is not supported by the requesting client`
    throw new RpcError(UNSUPPORTED_TRANSACTION_VERSION, message)
  }
  return transactionShape(landed, shape)
}
