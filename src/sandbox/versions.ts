/** An account as of a slot; state undefined: closed. */
export interface Version<State> {
  slot: number
  state: State | undefined
}

/** What every account was at every slot that is not final yet. */
export class Versions<State> {
  readonly #versions: Map<string, Version<State>[]>

  constructor(saved: Map<string, Version<State>[]>) {
    this.#versions = saved
  }

  at(address: string, slot: number): State | undefined {
    return this.#versions.get(address)?.findLast((version) => version.slot <= slot)?.state
  }

  newest(address: string): State | undefined {
    return this.#versions.get(address)?.at(-1)?.state
  }

  has(address: string): boolean {
    return this.#versions.has(address)
  }

  addresses(): IterableIterator<string> {
    return this.#versions.keys()
  }

  /** The account from a slot on; versions older than the newest final one are let go. */
  put(address: string, state: State | undefined, slot: number, finalSlot: number): void {
    const versions = (this.#versions.get(address) ?? []).filter((version) => version.slot < slot)
    const oldest = versions.findLastIndex((version) => version.slot <= finalSlot)
    this.#versions.set(address, [...versions.slice(Math.max(0, oldest)), { slot, state }])
  }

  /** Takes back everything from this slot on; returns the accounts that changed. */
  rewind(slot: number): string[] {
    const changed: string[] = []
    for (const [address, versions] of this.#versions) {
      const kept = versions.filter((version) => version.slot < slot)
      if (kept.length === versions.length) continue
      if (kept.length > 0) this.#versions.set(address, kept)
      else this.#versions.delete(address)
      changed.push(address)
    }
    return changed
  }

  /** To be saved; undefined where nothing is left of the account. */
  saved(address: string): readonly Version<State>[] | undefined {
    return this.#versions.get(address)
  }
}
