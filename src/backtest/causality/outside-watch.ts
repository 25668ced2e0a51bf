import type { Config } from '../../config/config.ts'
import { isPureBuiltin, outsideImports } from '../../config/strategy-modules.ts'
import { stackReader } from '../../config/strategy-trace.ts'

/** Functions that reach files, processes or the network without an import, each with the object that contains it. */
const DOORS: readonly (readonly [object, string])[] = [
  ...['getBuiltinModule', 'binding', '_linkedBinding', 'dlopen'].map((name) => [process, name] as const),
  ...['fetch', 'WebSocket', 'EventSource'].map((name) => [globalThis, name] as const),
]

/** While active, records everything that strategies read from outside of the tape: through imports, and through
 *  functions that need no import. Ignores calls that do not come from a strategy. */
export class OutsideWatch {
  readonly #found = new Set<string>()
  readonly #originals: (readonly [object, string, PropertyDescriptor])[] = []
  readonly #placeOf = stackReader()

  constructor() {
    for (const [owner, name] of DOORS) {
      const original = Object.getOwnPropertyDescriptor(owner, name)
      const called: unknown = Reflect.get(owner, name)
      if (original?.configurable !== true || typeof called !== 'function') continue
      this.#originals.push([owner, name, original])
      const shown = owner === process ? `process.${name}` : name
      const trap = {
        apply: (target: object, self: unknown, args: unknown[]): unknown => {
          this.#note(shown, args[0], trap.apply)
          return Reflect.apply(target as () => unknown, self, args)
        },
        construct: (target: object, args: unknown[], self: () => unknown): object => {
          this.#note(shown, args[0], trap.construct)
          return Reflect.construct(target as () => unknown, args, self) as object
        },
      }
      const { enumerable = false } = original
      Object.defineProperty(owner, name, {
        configurable: true,
        writable: true,
        enumerable,
        value: new Proxy(called, trap),
      })
    }
  }

  /** Ends the watch and returns everything that it recorded. */
  async end({ bots }: Pick<Config, 'bots'>): Promise<string[]> {
    // An import that a handler starts is resolved only after the handler has ended.
    await new Promise((resolve) => setImmediate(resolve))
    this.release()
    const imported = new Set(bots.flatMap(({ strategy }) => outsideImports(strategy.file)))
    return [...this.#found, ...imported]
  }

  release(): void {
    for (const [owner, name, original] of this.#originals.splice(0)) Object.defineProperty(owner, name, original)
  }

  /** Records a call if it comes from a strategy. `above`: the function whose caller is examined. */
  #note(name: string, what: unknown, above: (...args: never) => unknown): void {
    if (typeof what === 'string' && name === 'process.getBuiltinModule' && isPureBuiltin(what)) return
    const caller = { stack: '' }
    Error.captureStackTrace(caller, above)
    const place = this.#placeOf(caller.stack)?.place
    if (place === undefined || place.includes('node_modules/')) return
    this.#found.add(`${place} calls ${name}${typeof what === 'string' ? `('${what.slice(0, 100)}')` : ''}`)
  }
}
