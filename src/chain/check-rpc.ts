import type { Clock, Rpc, RpcResult } from '../core/ports.ts'
import type { Millis } from '../core/units.ts'
import { inTurn } from './rpc.ts'
import { RPC_UNREACHABLE } from './rpc-errors.ts'

/** All checks of one transaction, while there is a node that has not been found slow. */
const PROMPT_MS = 5_000
/** And where there is none: what was built is past its expiry by then. */
const LONGEST_MS = 60_000
/** A node that was slow is asked first again so long after that. */
const FORGIVEN_MS = 60_000

/** The chain for the checks of one transaction. */
export interface CheckRpc {
  /** Fails from its deadline on, what is under way too: what was not checked by then does not pass. */
  readonly rpc: Rpc
  /** They are over. */
  readonly end: () => void
}

/** The nodes as those ask them who hold back a transaction until it is checked. Each call of a slow node may come back just in time, and all
 *  of them together a minute later; so they share a deadline, and the checks after that begin with the next node. */
export class CheckRpcs {
  readonly #nodes: readonly Rpc[]
  readonly #clock: Clock
  /** Deadlines that passed, and when the last one did. */
  #slow = 0
  #slowAt: Millis = Number.NEGATIVE_INFINITY

  /** `nodes`: in the order of preference. */
  constructor(nodes: readonly Rpc[], clock: Clock) {
    this.#nodes = nodes
    this.#clock = clock
  }

  begin(): CheckRpc {
    const { length } = this.#nodes
    if (this.#clock.now() - this.#slowAt > FORGIVEN_MS) this.#slow = 0
    const turn = this.#slow
    const limitMs = length > 1 && turn < length ? PROMPT_MS : LONGEST_MS
    const late: RpcResult = {
      ...{ ok: false, code: RPC_UNREACHABLE },
      message: `the checks took longer than ${limitMs / 1_000} s`,
    }
    let isOver = false
    let end = (): void => {}
    const deadline = new Promise<RpcResult>((resolve) => {
      end = this.#clock.after(limitMs, () => {
        isOver = true
        this.#found(turn)
        resolve(late)
      })
    })
    const rotated = this.#nodes.map((_, index) => this.#nodes[(turn + index) % length] as Rpc)
    const ask = inTurn(
      rotated.map(
        (node): Rpc =>
          (...call) =>
            isOver ? Promise.resolve(late) : node(...call),
      ),
    )
    return { rpc: (...call) => Promise.race([ask(...call), deadline]), end }
  }

  /** Too slow; told once by all that began with the same node. */
  #found(turn: number): void {
    if (turn !== this.#slow) return
    this.#slow++
    this.#slowAt = this.#clock.now()
  }
}
