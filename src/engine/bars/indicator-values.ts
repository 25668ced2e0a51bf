import type { TokenId } from '../../market/block.ts'

/** Reads the values of a bot's indicators. */
export interface ValueSource {
  /** Value of an indicator of a token, by its index among the bot's indicators. */
  valueOf(index: number, token: TokenId): unknown
}

/** The values of a token's indicators as a strategy sees them. Each property returns the current value. */
class Values {
  readonly #source: ValueSource
  /** Number of the token; -1 if the token has no bars or was freed. All values are then undefined. */
  #token: TokenId

  constructor(source: ValueSource, token: TokenId) {
    this.#source = source
    this.#token = token
    Object.preventExtensions(this)
  }

  static read(values: Values, index: number): unknown {
    const token = values.#token
    return token < 0 ? undefined : values.#source.valueOf(index, token)
  }

  /** Detaches these values from their token, because the token's number may be given to another token. */
  static forget(values: Values): void {
    values.#token = -1
  }
}

export type ValuesClass = new (source: ValueSource, token: TokenId) => Values

/** Makes all values undefined. Called when the token is freed, because its number may be given to another token. */
export const forgetValues: (values: Values) => void = Values.forget
export type { Values }

/** Classes by the names of their properties. Bots with the same names share a class, because code that reads objects of
 *  many classes is several times slower in V8. */
const classes = new Map<string, ValuesClass>()

/** Returns a class whose objects have one property for each of these indicators. The properties are getters of the
 *  prototype, so that an object takes little memory. */
export function valuesClass(names: readonly string[]): ValuesClass {
  const key = JSON.stringify(names)
  const known = classes.get(key) ?? newClass(names)
  classes.set(key, known)
  return known
}

function newClass(names: readonly string[]): ValuesClass {
  class NamedValues extends Values {}
  const { prototype } = NamedValues
  const toJSON = function (this: NamedValues): object {
    return Object.fromEntries(names.map((name, index) => [name, Values.read(this, index)]))
  }
  Object.defineProperty(prototype, 'toJSON', { value: toJSON, configurable: true })
  for (const [index, name] of names.entries())
    Object.defineProperty(prototype, name, {
      get(this: NamedValues): unknown {
        return Values.read(this, index)
      },
      enumerable: true,
      configurable: true,
    })
  Object.freeze(prototype)
  return NamedValues
}

Object.freeze(Values.prototype)
