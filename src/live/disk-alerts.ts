import type { Machine } from '../base/machine.ts'
import type { Input } from '../engine/messages.ts'
import { SPACE_LIMITS, type SpaceReport } from '../journal/writer/space.ts'
import type { Gateway } from '../orders/gateway.ts'
import type { Log } from '../runtime/log.ts'
import type { AnySegment } from '../runtime/segment.ts'
import type { ViewModel } from '../runtime/view/view-model.ts'
import type { Alert } from './alerts.ts'

export interface DiskRoomParts {
  readonly gateway: Pick<Gateway, 'diskLow'>
  readonly post: (input: Input) => void
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly alert: (text: string) => void
}

export interface WatchedDisk {
  readonly model: Pick<ViewModel, 'onSpace'>
  readonly machine: Pick<Machine, 'clock'>
  readonly segment: Pick<AnySegment, 'gateway' | 'runner'>
  readonly log: DiskRoomParts['log']
}

/** Passes each report about free space on the journal's disk to a `DiskRoom`, which stops entries on a nearly full
 *  disk. */
export function watchDisk({ model, machine, segment, log }: WatchedDisk, raise: (alert: Alert) => void): void {
  const room = new DiskRoom({
    gateway: segment.gateway,
    post: (input) => segment.runner.post(input),
    alert: (text) => raise({ kind: 'disk', bot: '', text, time: machine.clock.now() }),
    log,
  })
  model.onSpace((report) => room.take(report))
}

/** Stops entries while the journal's disk is nearly full, reports the reason, and permits entries again once there is
 *  enough space. */
export class DiskRoom {
  readonly #parts: DiskRoomParts
  #state: SpaceReport['state'] = 'ample'

  constructor(parts: DiskRoomParts) {
    this.#parts = parts
  }

  take({ state, freeBytes }: SpaceReport): void {
    const before = this.#state
    if (state === before) return
    this.#state = state
    const { log } = this.#parts
    const free = `${mebibytes(freeBytes)} free on the disk that holds the journal`
    if (stopsEntries(state)) this.#stop(`${free}${PROBLEMS[state]}`)
    else if (stopsEntries(before)) this.#goOn(free)
    if (state === 'noTape')
      log.warn(`${free}: the market is not recorded until ${mebibytes(1.25 * SPACE_LIMITS.tapeBytes)} are free`)
    if (state === 'ample' && before === 'noTape') log.info(`${free}: the market is recorded again`)
  }

  #stop(reason: string): void {
    const { gateway, post, log, alert } = this.#parts
    gateway.diskLow(true)
    post({ kind: 'gate', account: '', open: false, code: 'DISK_LOW', reason })
    log.error(`DISK_LOW: ${reason}`)
    alert(reason)
  }

  #goOn(free: string): void {
    const { gateway, post, log, alert } = this.#parts
    gateway.diskLow(false)
    post({ kind: 'gate', account: '', open: true, code: 'DISK_LOW' })
    const text = `${free}: the disk no longer stops entries`
    log.info(text)
    alert(text)
  }
}

type Short = 'noEntries' | 'full' | 'stuck'

function stopsEntries(state: SpaceReport['state']): state is Short {
  return state === 'noEntries' || state === 'full' || state === 'stuck'
}

const ENTRIES_GO_ON = `entries continue automatically once ${mebibytes(1.25 * SPACE_LIMITS.entryBytes)} are free`

const PROBLEMS: Readonly<Record<Short, string>> = {
  noEntries: ` (less than ${mebibytes(SPACE_LIMITS.entryBytes)}): entries are stopped, exits continue. Free some space there; ${ENTRIES_GO_ON}`,
  full: `, and it refused a write: entries are stopped, exits continue in the space that the journal reserved for them. Free some space there; ${ENTRIES_GO_ON}`,
  stuck: `, and the journal's reserved space is used up: NOTHING CAN BE SOLD until there is space, because an order is recorded before it is sent. Free some space there now; exits then continue within seconds, without a restart`,
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 2 ** 20)} MiB`
}
