import { useEffect, useState } from 'preact/hooks'
import type { LogLine, View } from '../../runtime/view/view.ts'

/** The state of the page's connection to the running process. */
export interface Link {
  /** `ended`: the session has ended, so that a new login is required. */
  readonly state: 'connecting' | 'live' | 'lost' | 'ended'
  /** Time of the browser's clock at which the last message arrived; 0 before the first one. */
  readonly heardAt: number
}

export interface Me {
  readonly name: string
  readonly readOnly: boolean
}

export interface Desk {
  readonly view: View | null
  readonly link: Link
  readonly me: Me | null
  /** The latest log lines since the page was opened, newest first. */
  readonly news: readonly LogLine[]
}

/** A value that components can subscribe to. */
export class Store<Value> {
  #value: Value
  readonly #listeners = new Set<() => void>()

  constructor(value: Value) {
    this.#value = value
  }

  get(): Value {
    return this.#value
  }

  set(part: Partial<Value>): void {
    this.#value = { ...this.#value, ...part }
    for (const listener of [...this.#listeners]) listener()
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export function useStore<Value>(store: Store<Value>): Value {
  const [, redraw] = useState(0)
  useEffect(() => store.listen(() => redraw((count) => count + 1)), [store])
  return store.get()
}
