import type { Millis } from '../../base/units.ts'
import { CLOCK_SYSVAR } from '../../solana/programs.ts'
import type { AccountState } from '../../solana/token-account.ts'
import { readAccounts } from './accounts.ts'
import { type Head, readHead, Unread } from './read.ts'
import type { Rpc } from './rpc.ts'
import { RPC_OTHER_CLUSTER, RPC_UNREACHABLE } from './rpc-errors.ts'

/** Head (newest block) of one node, with its time. If the node does not know the time of the head, the time of an older
 *  block is given instead. */
export interface DatedHead {
  readonly head: Head
  /** Time of the head, or an earlier time; undefined if the node reports no block time at all. */
  readonly time: Millis | undefined
}

/** Distances from the head back to older slots at which block times are requested, in Solana slots. A node may not have
 *  the times of its newest blocks yet, and a slot may have been skipped. */
const OLDER_SLOTS = [8, 32, 64, 128] as const
/** Length of a Clock account, and the offset of its time in seconds. The slot and the epochs come before the time. */
const CLOCK_BYTES = 40
const TIME_AT = 32

/** Reads the head and its time; throws Unread if no node answers. The time is the chain's own, voted by the validators.
 *  `getBlockTime` is asked first. If the node has no block time for the head, the Clock account is read, from which
 *  block times are copied. If that fails too, older slots are tried. */
export async function readDatedHead(rpc: Rpc): Promise<DatedHead> {
  const head = await readHead(rpc, 'confirmed')
  const time = await blockTimeOf(rpc, head.slot)
  if (time !== undefined) return { head, time }
  const clock = await readClock(rpc)
  // The Clock account may be from a later slot than the head. The head is therefore read again, at that slot or a later
  // one.
  if (clock !== undefined)
    return { head: clock.slot > head.slot ? await readHead(rpc, 'confirmed', clock.slot) : head, time: clock.time }
  for (const back of OLDER_SLOTS) {
    const older = await blockTimeOf(rpc, head.slot - back)
    if (older !== undefined) return { head, time: older }
  }
  return { head, time: undefined }
}

/** Returns the time in a Clock account; undefined if the account has another layout or an impossible time. */
export function clockTimeOf({ data }: AccountState): Millis | undefined {
  if (data.length !== CLOCK_BYTES) return undefined
  const seconds = Buffer.from(data).readBigInt64LE(TIME_AT)
  return seconds > 0n && seconds < 1_000_000_000_000n ? Number(seconds) * 1_000 : undefined
}

/** Reads the time of a block; undefined if the node has no time for this slot. */
async function blockTimeOf(rpc: Rpc, slot: number): Promise<Millis | undefined> {
  if (slot < 0) return undefined
  const answer = await rpc('getBlockTime', [slot])
  if (answer.ok)
    return Number.isSafeInteger(answer.value) && (answer.value as number) > 0
      ? (answer.value as number) * 1_000
      : undefined
  if (answer.code === RPC_UNREACHABLE || answer.code === RPC_OTHER_CLUSTER) throw new Unread(answer.message)
  return undefined
}

async function readClock(rpc: Rpc): Promise<{ slot: number; time: Millis } | undefined> {
  try {
    const { slot, accounts } = await readAccounts(rpc, [CLOCK_SYSVAR])
    const [account] = accounts
    const time = account ? clockTimeOf(account) : undefined
    return time === undefined ? undefined : { slot, time }
  } catch (error) {
    if (!(error instanceof Unread)) throw error
    return undefined
  }
}
