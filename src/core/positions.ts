import { ByMint, type Owner } from './by-mint.ts'
import type { Position } from './position.ts'

/** Positions that are not closed, at most one of an account in a mint. */
export class Positions {
  readonly #byMint = new ByMint<Position>()
  /** In the order in which they were opened, whoever's they are: what goes through all of them does it in this order. */
  readonly #all = new Set<Position>()

  get(owner: Owner): Position | undefined {
    return this.#byMint.get(owner)
  }

  set(position: Position): void {
    const before = this.#byMint.get(position)
    if (before === position) return
    if (before !== undefined) this.delete(before)
    this.#byMint.set(position, position)
    this.#all.add(position)
  }

  delete(owner: Owner): void {
    const held = this.#byMint.get(owner)
    if (held === undefined) return
    this.#byMint.delete(owner)
    this.#all.delete(held)
  }

  /** What one account holds, by mint. */
  of(account: string): ReadonlyMap<string, Position> {
    return this.#byMint.of(account)
  }

  ofMint(mint: string): Position[] {
    const found = this.#byMint.ofMint(mint)
    return found.length < 2 ? found : this.all().filter((position) => position.mint === mint)
  }

  all(): Position[] {
    return [...this.#all]
  }
}
