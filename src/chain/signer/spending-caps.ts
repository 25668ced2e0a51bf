import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, truncateSync, writeSync } from 'node:fs'
import { SignerFailure } from './key-file.ts'

/** Caps on the lamports that signed requests may spend. Each request counts with the maximum cost that it declared.
 *  null: no cap. */
export interface Caps {
  readonly perTransaction: bigint | null
  readonly perHour: bigint | null
  readonly perDay: bigint | null
}

const MINUTE_MS = 60_000
const HOUR = 60
const DAY = 24 * HOUR
/** Number of minutes for which the ring buffer has a sum. It is more than a day. */
const SLOTS = 1_500
const SLOT_BYTES = 32
const HEADER_BYTES = 64
const SUM_BYTES = 16
const MARK = 'sluice signer 1\n'
const MOST = 2n ** 64n - 1n

/** Sums, per minute, of the maximum costs that signed requests declared. The sums are stored in a file of fixed size
 *  that is synced before a signature is returned. Each sum is written by one write, within one sector of the disk. A
 *  minute counts against the cap per hour as long as any part of it may be within the last hour; the same applies to
 *  the cap per day. */
export class Spending {
  readonly #file: number
  readonly #wallet: Uint8Array
  readonly #caps: Caps
  readonly #nowMs: () => number
  /** For each entry of the ring buffer, its minute (`#minutes`) and the sum of the maximum costs signed in that minute
   *  (`#lamports`). */
  readonly #minutes = new Float64Array(SLOTS)
  readonly #lamports = new BigUint64Array(SLOTS)
  /** The latest minute that was counted. It is kept because the clock may go back. */
  #latest = 0

  /** Opens or creates the file at `path`, mode 0600. Throws a SignerFailure if it is damaged, belongs to another
   *  wallet, or is accessible to other users. */
  constructor(path: string, wallet: Uint8Array, caps: Caps, nowMs: () => number) {
    this.#wallet = wallet
    this.#caps = caps
    this.#nowMs = nowMs
    this.#file = open(path)
    try {
      this.#load(path)
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  /** Counts the maximum cost that a request declares, in lamports. If a cap would be exceeded, returns the reason and
   *  counts nothing. */
  take(lamports: bigint): string | undefined {
    const { perTransaction, perHour, perDay } = this.#caps
    const clock = Math.floor(this.#nowMs() / MINUTE_MS)
    const minute = Math.max(clock, this.#latest)
    const behind = minute > clock ? `; the clock is ${minute - clock} minutes behind the last count` : ''
    const over = (what: string, sum: bigint, cap: bigint | null) =>
      cap !== null && sum > cap
        ? `the cap ${what} is ${cap} lamports, but with this request the total would be ${sum}${behind}`
        : undefined
    const refusal =
      over('per transaction', lamports, perTransaction) ??
      over('per hour', this.#within(HOUR, minute) + lamports, perHour) ??
      over('per day', this.#within(DAY, minute) + lamports, perDay)
    if (refusal === undefined) this.#count(minute, lamports)
    return refusal
  }

  close(): void {
    closeSync(this.#file)
  }

  #within(minutes: number, now: number): bigint {
    let sum = 0n
    for (let slot = 0; slot < SLOTS; slot++)
      if ((this.#minutes[slot] as number) >= now - minutes) sum += this.#lamports[slot] as bigint
    return sum
  }

  #count(minute: number, lamports: bigint): void {
    const slot = minute % SLOTS
    const before = this.#minutes[slot] === minute ? (this.#lamports[slot] as bigint) : 0n
    const sum = before + lamports
    this.#latest = minute
    this.#minutes[slot] = minute
    this.#lamports[slot] = sum < MOST ? sum : MOST
    const bytes = this.#encode(minute, this.#lamports[slot] as bigint)
    if (writeSync(this.#file, bytes, 0, SLOT_BYTES, HEADER_BYTES + slot * SLOT_BYTES) !== SLOT_BYTES)
      throw new Error('the spending counters were written only in part')
  }

  #encode(minute: number, lamports: bigint): Buffer {
    const bytes = Buffer.alloc(SLOT_BYTES)
    bytes.writeBigUInt64LE(BigInt(minute), 0)
    bytes.writeBigUInt64LE(lamports, 8)
    createHash('sha256').update(this.#wallet).update(bytes.subarray(0, 16)).digest().copy(bytes, 16, 0, SUM_BYTES)
    return bytes
  }

  #load(path: string): void {
    const { size, mode, uid } = fstatSync(this.#file)
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
      throw new SignerFailure(`${path}: the signer's user must own it, with mode 0600`)
    const header = Buffer.concat([Buffer.from(MARK), Buffer.alloc(16), this.#wallet])
    const bytes = Buffer.alloc(HEADER_BYTES + SLOTS * SLOT_BYTES)
    if (size === 0) {
      header.copy(bytes)
      this.#make(path, bytes)
      return
    }
    if (size !== bytes.length || readSync(this.#file, bytes, 0, bytes.length, 0) !== bytes.length) throw damaged(path)
    if (!bytes.subarray(0, 32).equals(header.subarray(0, 32))) throw damaged(path)
    if (!bytes.subarray(0, HEADER_BYTES).equals(header))
      throw new SignerFailure(`${path}: contains the counters of another wallet; use one state file per wallet`)
    for (let slot = 0; slot < SLOTS; slot++)
      this.#loadSlot(path, slot, bytes.subarray(HEADER_BYTES + slot * SLOT_BYTES).subarray(0, SLOT_BYTES))
  }

  /** Creates the file at its full size, so that later writes succeed on a full disk. A file of another size counts as
   *  damaged. */
  #make(path: string, bytes: Buffer): void {
    let written = 0
    let reason = 'ENOSPC'
    try {
      written = writeSync(this.#file, bytes, 0, bytes.length, 0)
    } catch (error) {
      reason = (error as NodeJS.ErrnoException).code ?? reason
    }
    if (written === bytes.length) return
    truncateSync(path)
    throw new SignerFailure(`${path}: the spending counters cannot be stored there (${reason})`)
  }

  #loadSlot(path: string, slot: number, bytes: Buffer): void {
    if (bytes.every((byte) => byte === 0)) return
    const minute = Number(bytes.readBigUInt64LE(0))
    const lamports = bytes.readBigUInt64LE(8)
    if (!this.#encode(minute, lamports).equals(bytes) || minute % SLOTS !== slot) throw damaged(path)
    this.#minutes[slot] = minute
    this.#lamports[slot] = lamports
    this.#latest = Math.max(this.#latest, minute)
  }
}

/** Opens the file with O_DSYNC, because Node's permission model forbids fsync. */
function open(path: string): number {
  const { O_RDWR, O_CREAT, O_DSYNC, O_NOFOLLOW } = constants
  try {
    return openSync(path, O_RDWR | O_CREAT | O_DSYNC | O_NOFOLLOW, 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SignerFailure(`${path}: the spending counters cannot be stored there (${code})`)
  }
}

function damaged(path: string): SignerFailure {
  return new SignerFailure(`${path}: damaged, so the spending of the last day is unknown; remove it to start from zero`)
}
