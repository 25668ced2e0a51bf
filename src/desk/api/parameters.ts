import type { Millis } from '../../base/units.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { Refusal } from '../refusal.ts'

/** Maximum number of rows of one page. `ROWS`: number of rows if the request has no `limit`. */
const MOST_ROWS = 500
const ROWS = 100
/** Maximum number of characters of a name. */
const MOST_CHARACTERS = 200
/** Last time that a date can have. */
const LAST_TIME: Millis = 8.64e15

/** The query of a request. Each method reads one parameter and throws Refusal (400) if its value is invalid. */
export class Parameters {
  readonly #given: ReadonlyMap<string, string>

  /** Throws Refusal (400) for a parameter that is not in `known`, and for one that is given twice. */
  constructor(given: Iterable<readonly [string, string]>, known: readonly string[]) {
    const read = new Map<string, string>()
    for (const [name, value] of given) {
      if (!known.includes(name))
        throw invalid(`a parameter is unknown; the parameters are ${known.join(', ') || 'none'}`)
      if (read.has(name)) throw invalid(`${name} is given twice`)
      read.set(name, value)
    }
    this.#given = read
  }

  limit(): number {
    return this.#integer('limit', 1, MOST_ROWS) ?? ROWS
  }

  points(most: number): number {
    return this.#integer('points', 2, most) ?? most
  }

  time(name: 'from' | 'to'): Millis | undefined {
    return this.#integer(name, 0, LAST_TIME)
  }

  /** Length of the requested range. The parameter is in seconds. */
  span(): Millis | undefined {
    const seconds = this.#integer('span', 1, 86_400)
    return seconds === undefined ? undefined : seconds * 1000
  }

  mint(): string | undefined {
    const mint = this.#given.get('mint')
    return mint === undefined ? undefined : checkedMint(mint)
  }

  /** Name of a bot; an unknown name matches no row. */
  bot(): string | undefined {
    return this.text('bot')
  }

  /** A parameter that must be one of `words`; undefined if it is absent. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.#given.get(name)
    if (value === undefined || words.includes(value as Word)) return value as Word | undefined
    throw invalid(`${name} is invalid; expected ${words.join(', ')}`)
  }

  /** A short text; undefined if the parameter is absent. */
  text(name: string): string | undefined {
    const value = this.#given.get(name)
    if (value === undefined || (value !== '' && value.length <= MOST_CHARACTERS)) return value
    throw invalid(`${name} is invalid; expected 1 to ${MOST_CHARACTERS} characters`)
  }

  /**
   * Position in the list at which the page begins, as the previous answer returned it in `next`; undefined for the
   * first page. A position consists of `count` numbers.
   */
  before(count: number): readonly number[] | undefined {
    const value = this.#given.get('before')
    if (value === undefined) return undefined
    const numbers = /^\d{1,16}(\.\d{1,16})*$/.test(value) ? value.split('.').map(Number) : []
    if (numbers.length === count && numbers.every(Number.isSafeInteger)) return numbers
    throw invalid('before is invalid; expected the value of next in the answer with the previous page')
  }

  #integer(name: string, least: number, most: number): number | undefined {
    const value = this.#given.get(name)
    if (value === undefined) return undefined
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
    if (number >= least && number <= most) return number
    throw invalid(`${name} is invalid; expected a whole number from ${least} to ${most}`)
  }
}

/** Returns a mint. Throws Refusal (400) if the text is not an address. */
export function checkedMint(text: string): string {
  if (isPublicKey(text)) return text
  throw invalid('the mint is invalid; expected the address of a token')
}

/** Returns the refusal of a request with an invalid parameter. */
export function invalid(text: string): Refusal {
  return new Refusal(400, 'REQUEST_INVALID', text)
}
