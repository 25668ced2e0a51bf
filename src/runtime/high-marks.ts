import { ByMint } from '../core/by-mint.ts'
import type { Output } from '../core/messages.ts'
import type { Mark } from './engine-thread.ts'

/** Highest prices of positions as an engine in another thread tells them, until they are written: the last of each. One that comes before
 *  its position is closed, and is written after, would be taken for that of the next position in the same mint. */
export class HighMarks {
  #byPosition = new ByMint<Mark>()

  add(marks: readonly Mark[]): void {
    for (const mark of marks) this.#byPosition.set(mark, mark)
  }

  /** What the engine has decided since. */
  heard(outputs: readonly Output[]): void {
    for (const output of outputs)
      if (output.kind === 'position' && output.position.state === 'closed') this.#byPosition.delete(output.position)
  }

  /** All that are there; they are not there any more. */
  take(): Mark[] {
    const marks = [...this.#byPosition.values()]
    this.#byPosition = new ByMint()
    return marks
  }
}
