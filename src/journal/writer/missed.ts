import type { Millis, Seq } from '../../base/units.ts'
import type { Write } from '../schema/statements.ts'

interface Stretch {
  readonly segment: number
  readonly firstSeq: Seq
  readonly lastSeq: Seq
  readonly firstTime: Millis
  readonly lastTime: Millis
  /** Number of market rows among the lost records. */
  readonly rows: number
}

/** Collects the records that were lost because the disk was full. Consecutive lost records form a range of seqs, which
 *  becomes one row of table `missing`. */
export class Missed {
  #stretch: Stretch | undefined
  #isWritten = true

  add(more: Stretch): void {
    const { segment, firstSeq, firstTime, lastSeq, lastTime, rows } = this.#stretch ?? { ...more, rows: 0 }
    this.#stretch = {
      ...{ segment, firstSeq, firstTime, rows: rows + more.rows },
      ...{ lastSeq: Math.max(lastSeq, more.lastSeq), lastTime: Math.max(lastTime, more.lastTime) },
    }
    this.#isWritten = false
  }

  /** Returns the row for the present range of lost records; empty if the row was already written. */
  pending(): Write[] {
    if (this.#isWritten || this.#stretch === undefined) return []
    const { firstSeq, lastSeq, segment, firstTime, lastTime, rows } = this.#stretch
    return [['missing', firstSeq, lastSeq, segment, firstTime, lastTime, rows]]
  }

  /** Called when the present range of lost records is durable in the journal. */
  wrote(): void {
    this.#isWritten = true
  }

  /** Ends the present range of lost records, so that later losses begin a new range. */
  end(): void {
    this.#stretch = undefined
    this.#isWritten = true
  }
}

/** Kinds of inputs and outputs that are dropped on a full disk. They record neither an order nor a fill, and most of
 *  them can occur in any number. Records of the feed and of subscription keys are not among them: each contains only
 *  the change since the previous one, so none may be lost. */
const IDLE_INPUTS: ReadonlySet<unknown> = new Set(['timer', 'mint', 'pool', 'list', 'wallet', 'plan'])
const IDLE_OUTPUTS: ReadonlySet<unknown> = new Set([
  ...['note', 'log', 'message', 'refused', 'poll', 'timer', 'timerCleared', 'bot', 'account', 'tokenState'],
])

/** Whether a write is dropped on a full disk, to keep the reserve for orders and fills. */
export function isIdle(write: Write): boolean {
  const [name] = write
  if (name === 'input') return IDLE_INPUTS.has(write[4])
  if (name === 'output') return IDLE_OUTPUTS.has(write[4])
  return name === 'frame' || name === 'framesOver' || name === 'netResult'
}

/** Returns the seq and time of an input or output; undefined for other writes. */
export function placeOf(write: Write): { readonly seq: Seq; readonly time: Millis } | undefined {
  const [name, seq] = write
  if (name === 'input') return { seq: seq as Seq, time: write[3] as Millis }
  return name === 'output' ? { seq: seq as Seq, time: write[3] as Millis } : undefined
}
