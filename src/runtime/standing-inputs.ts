import type { Input } from '../core/messages.ts'

/** More is not kept by an engine either. */
const MINTS_KEPT = 1000

/** What an engine knows from inputs alone, and no row of the journal holds: a fresh one has to be told again. */
export class StandingInputs {
  readonly #byKey = new Map<string, Input>()

  take(input: Input): void {
    const key = keyOf(input)
    if (key === undefined) return
    this.#byKey.delete(key)
    this.#byKey.set(key, input)
    if (this.#byKey.size <= MINTS_KEPT) return
    const oldest = [...this.#byKey].find(([, { kind }]) => kind === 'mint')
    if (oldest !== undefined) this.#byKey.delete(oldest[0])
  }

  all(): readonly Input[] {
    return [...this.#byKey.values()]
  }
}

function keyOf(input: Input): string | undefined {
  switch (input.kind) {
    case 'feed':
    case 'plan':
      return input.kind
    case 'gate':
      return `gate ${input.account} ${input.code ?? ''}`
    case 'mint':
      return `mint ${input.mint}`
    case 'command':
      return input.command.name === 'stop' ? 'stop' : undefined
    default:
      return undefined
  }
}
