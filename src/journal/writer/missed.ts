import type { Millis, Seq } from '../../base/units.ts'
import type { Write } from '../schema/statements.ts'

interface Stretch {
  readonly segment: number
  readonly firstSeq: Seq
  readonly lastSeq: Seq
  readonly firstTime: Millis
  readonly lastTime: Millis
  /** Market rows among it. */
  readonly rows: number
}

/** What the disk had no room for: only that it existed is written, one row for a stretch of it. */
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

  /** What has to be written of it still. */
  pending(): Write[] {
    if (this.#isWritten || this.#stretch === undefined) return []
    const { firstSeq, lastSeq, segment, firstTime, lastTime, rows } = this.#stretch
    return [['missing', firstSeq, lastSeq, segment, firstTime, lastTime, rows]]
  }

  /** What was pending is durable. */
  wrote(): void {
    this.#isWritten = true
  }

  /** What is missed next is another stretch. */
  end(): void {
    this.#stretch = undefined
    this.#isWritten = true
  }
}

/** Inputs and outputs that no money is read from. A strategy can cause any number of them. Those of the feed and its
 *  keys stay: each row of them says what changed since the one before. */
const IDLE_INPUTS: ReadonlySet<unknown> = new Set(['timer', 'mint', 'pool', 'list', 'wallet', 'plan'])
const IDLE_OUTPUTS: ReadonlySet<unknown> = new Set([
  ...['note', 'refused', 'poll', 'timer', 'timerCleared', 'bot', 'account'],
])

/** Whether a write is given up on a full disk, so that what was reserved is for orders and fills. */
export function isIdle(write: Write): boolean {
  const [name] = write
  if (name === 'input') return IDLE_INPUTS.has(write[4])
  if (name === 'output') return IDLE_OUTPUTS.has(write[4])
  return name === 'frame' || name === 'framesOver'
}

/** Seq and time of an input or output. */
export function placeOf(write: Write): { readonly seq: Seq; readonly time: Millis } | undefined {
  const [name, seq] = write
  if (name === 'input') return { seq: seq as Seq, time: write[3] as Millis }
  return name === 'output' ? { seq: seq as Seq, time: write[3] as Millis } : undefined
}
