import { ComputeBudgetProgram, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { PROGRAMS, WSOL_MINT } from '../../../src/solana/programs.ts'
import { address } from './draft.ts'

// Instructions in the form that builders use. They are made with web3.js, independently of the tested code.

export const TOKEN = new PublicKey(PROGRAMS.token)
export const TOKEN_2022 = new PublicKey(PROGRAMS.token2022)
export const ASSOCIATED = new PublicKey(PROGRAMS.associatedToken)
export const PUMP = new PublicKey(PROGRAMS.bondingCurve)
export const PUMP_SWAP = new PublicKey(PROGRAMS.pumpSwap)
export const WSOL = new PublicKey(WSOL_MINT)

export function instruction(
  program: PublicKey,
  data: Uint8Array | readonly number[],
  keys: readonly (PublicKey | { pubkey: PublicKey; isSigner?: boolean; isWritable?: boolean })[],
): TransactionInstruction {
  return new TransactionInstruction({
    programId: program,
    data: Buffer.from(data),
    keys: keys.map((key) =>
      key instanceof PublicKey
        ? { pubkey: key, isSigner: false, isWritable: true }
        : { isSigner: false, isWritable: true, ...key },
    ),
  })
}

export const signer = (pubkey: PublicKey) => ({ pubkey, isSigner: true, isWritable: true })
const reads = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: false })

export function u64(value: bigint | number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

const derived = new Map<string, PublicKey>()
function once(key: string, seeds: Uint8Array[], program: PublicKey): PublicKey {
  const known = derived.get(key)
  if (known) return known
  const [found] = PublicKey.findProgramAddressSync(seeds, program)
  derived.set(key, found)
  return found
}

export function ata(owner: PublicKey, mint: PublicKey, program = TOKEN): PublicKey {
  return once(`ata ${owner} ${mint} ${program}`, [owner.toBytes(), program.toBytes(), mint.toBytes()], ASSOCIATED)
}

export function curveOf(mint: PublicKey): PublicKey {
  return once(`curve ${mint}`, [Buffer.from('bonding-curve'), mint.toBytes()], PUMP)
}

export function poolOf(mint: PublicKey): PublicKey {
  const authority = once(`authority ${mint}`, [Buffer.from('pool-authority'), mint.toBytes()], PUMP)
  const seeds = [Buffer.from('pool'), Buffer.alloc(2), authority.toBytes(), mint.toBytes(), WSOL.toBytes()]
  return once(`pool ${mint}`, seeds, PUMP_SWAP)
}

export function openAta(payer: PublicKey, owner: PublicKey, mint: PublicKey, program = TOKEN, idempotent = true) {
  const keys = [
    signer(payer),
    ata(owner, mint, program),
    reads(owner),
    reads(mint),
    reads(SystemProgram.programId),
    reads(program),
  ]
  return instruction(ASSOCIATED, idempotent ? [1] : [], keys)
}

export function closeAccount(account: PublicKey, to: PublicKey, owner: PublicKey, program = TOKEN) {
  return instruction(program, [9], [account, to, signer(owner)])
}

export const syncNative = (account: PublicKey) => instruction(TOKEN, [17], [account])

export function transfer(from: PublicKey, to: PublicKey, lamports: bigint | number): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: BigInt(lamports) })
}

export function budget(units: number, microLamports: number): TransactionInstruction[] {
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
  ]
}

interface TradeParts {
  user: PublicKey
  mint: PublicKey
  program?: PublicKey
  account?: PublicKey
  quote?: PublicKey
  quoteMint?: PublicKey
  pool?: PublicKey
  one: bigint
  two: bigint
  /** Bytes of the instruction after its two amounts. */
  tail?: number[]
}

const data = (discriminator: string, { one, two, tail = [] }: TradeParts) =>
  Buffer.concat([Buffer.from(discriminator, 'hex'), u64(one), u64(two), Buffer.from(tail)])

const some = (name: string) => address(`venue ${name}`)

/** Returns the instruction `buy` of pump.fun's program (18 accounts since April 2026), or `buy_exact_sol_in`. */
export function pumpBuy(parts: TradeParts, exactIn = false): TransactionInstruction {
  const { user, mint, program = TOKEN, account = ata(user, mint, program), pool = curveOf(mint) } = parts
  return instruction(PUMP, data(exactIn ? '38fc74089edfcd5f' : '66063d1201daebea', { tail: [1], ...parts }), [
    ...[reads(some('global')), some('fee'), reads(mint), pool, some('curve tokens'), account, signer(user)],
    ...[reads(SystemProgram.programId), reads(program), some('creator'), reads(some('events')), reads(PUMP)],
    ...[reads(some('volume')), some(`volume ${user}`), reads(some('fee config')), reads(some('fee program'))],
    ...[reads(some('curve v2')), some('new fee')],
  ])
}

export function pumpSell(parts: TradeParts): TransactionInstruction {
  const { user, mint, program = TOKEN, account = ata(user, mint, program), pool = curveOf(mint) } = parts
  return instruction(PUMP, data('33e685a4017f83ad', parts), [
    ...[reads(some('global')), some('fee'), reads(mint), pool, some('curve tokens'), account, signer(user)],
    ...[reads(SystemProgram.programId), some('creator'), reads(program), reads(some('events')), reads(PUMP)],
    ...[reads(some('fee config')), reads(some('fee program')), reads(some('curve v2')), some('new fee')],
  ])
}

const SECOND = { buy: 'b817ee6167c5d33d', exactIn: 'c2ab1c46684d5b2f', sell: '5df6823ce7e940b2' }

export function pumpSecond(kind: keyof typeof SECOND, parts: TradeParts): TransactionInstruction {
  const { user, mint, program = TOKEN_2022, account = ata(user, mint, program), pool = curveOf(mint) } = parts
  const { quoteMint = WSOL, quote = ata(user, WSOL) } = parts
  const rest = Array.from({ length: kind === 'sell' ? 10 : 11 }, (_none, index) => reads(some(`v2 ${index}`)))
  return instruction(PUMP, data(SECOND[kind], parts), [
    ...[reads(some('global')), reads(mint), reads(quoteMint), reads(program), reads(TOKEN), reads(ASSOCIATED)],
    ...[
      some('fee'),
      some('fee wsol'),
      some('buyback'),
      some('buyback wsol'),
      pool,
      some('curve tokens'),
      some('curve wsol'),
    ],
    ...[signer(user), account, quote, ...rest],
  ])
}

const SWAP = { buy: '66063d1201daebea', exactIn: 'c62e1552b4d9e870', sell: '33e685a4017f83ad' }

export function pumpSwap(kind: keyof typeof SWAP, parts: TradeParts): TransactionInstruction {
  const { user, mint, program = TOKEN, account = ata(user, mint, program), pool = poolOf(mint) } = parts
  const { quoteMint = WSOL, quote = ata(user, WSOL) } = parts
  const rest = Array.from({ length: kind === 'sell' ? 11 : 14 }, (_none, index) => reads(some(`swap ${index}`)))
  return instruction(PUMP_SWAP, data(SWAP[kind], kind === 'sell' ? parts : { tail: [1], ...parts }), [
    ...[pool, signer(user), reads(some('swap config')), reads(mint), reads(quoteMint), account, quote],
    ...[some('pool tokens'), some('pool wsol'), reads(some('protocol')), some('protocol wsol')],
    ...[reads(program), reads(TOKEN), ...rest],
  ])
}
