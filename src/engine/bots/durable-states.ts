import type { Json } from '../../base/json.ts'
import { dayOf, type Millis } from '../../base/units.ts'
import type { EngineState } from '../engine-state.ts'
import type { TokenState } from '../recovered-money.ts'
import type { BotSettings } from '../settings.ts'

/** Longest durable state of one token, characters of JSON. */
const MOST_OF_TOKEN = 10_000
/** Largest total length of the durable states of one bot, characters of JSON. A restart reads them all, and records
 *  them in one row of the journal. */
const MOST_OF_BOT = 4_000_000
/** A shorter state counts as this many characters, because its row in the journal has other columns too. */
const LEAST_OF_TOKEN = 100

interface Entry {
  readonly record: TokenState
  readonly text: string
}

/** The values of `token.durable` of one bot. The journal has a row for each value, and deletes the row when the token
 *  is freed. */
export class DurableStates {
  readonly #state: EngineState
  readonly #bot: string
  readonly #account: string
  readonly #byMint = new Map<string, Entry>()
  #characters = 0

  constructor(state: EngineState, { name, account }: BotSettings, restored: readonly TokenState[]) {
    this.#state = state
    this.#bot = name
    this.#account = account.id
    for (const record of restored)
      if (record.bot === name && record.account === account.id) this.#put(record, JSON.stringify(record.value))
  }

  get isEmpty(): boolean {
    return this.#byMint.size === 0
  }

  records(): TokenState[] {
    return [...this.#byMint.values()].map(({ record }) => record)
  }

  valueOf(mint: string): Json {
    return this.#byMint.get(mint)?.record.value ?? null
  }

  /** Saves a value; null deletes it. Throws RangeError if the value is too long. `seenAt`: when the bot first saw the
   *  token. */
  save(mint: string, seenAt: Millis, value: Json): void {
    const known = this.#byMint.get(mint)
    if (value === null) {
      this.free(mint)
      return
    }
    const text = JSON.stringify(value)
    if (text === known?.text) return
    const total = this.#characters - lengthOf(known?.text) + lengthOf(text)
    if (text.length > MOST_OF_TOKEN)
      throw new RangeError(
        `token.durable of ${mint} has ${text.length} characters of JSON; the maximum is ${MOST_OF_TOKEN}`,
      )
    if (total > MOST_OF_BOT)
      throw new RangeError(
        `the durable states of ${this.#bot} have ${total} characters of JSON; the maximum is ${MOST_OF_BOT}. Assign null to those that are not needed`,
      )
    const record = {
      ...{ account: this.#account, bot: this.#bot, mint },
      ...{ seenAt: known?.record.seenAt ?? seenAt, day: dayOf(this.#state.now), value },
    }
    this.#put(record, text)
    this.#state.emit({ kind: 'tokenState', state: record })
  }

  /** Records the current UTC day as the day of the token's last event, if it is not recorded yet. After a restart, the
   *  recorded day decides whether the token is freed. */
  seen(mint: string): void {
    const known = this.#byMint.get(mint)
    if (known === undefined) return
    const day = dayOf(this.#state.now)
    if (known.record.day === day) return
    const record = { ...known.record, day }
    this.#byMint.set(mint, { ...known, record })
    this.#state.emit({ kind: 'tokenState', state: record })
  }

  /** Deletes the values of tokens, sorted by mint. The order of `mints` depends on the numbers of the tokens, which
   *  differ in a replay. */
  freeAll(mints: readonly string[]): void {
    for (const mint of mints.filter((one) => this.#byMint.has(one)).sort()) this.free(mint)
  }

  /** Deletes the value of a token. */
  free(mint: string): void {
    const known = this.#byMint.get(mint)
    if (known === undefined) return
    this.#byMint.delete(mint)
    this.#characters -= lengthOf(known.text)
    this.#state.emit({ kind: 'tokenState', state: { ...known.record, value: null } })
  }

  #put(record: TokenState, text: string): void {
    this.#characters += lengthOf(text) - lengthOf(this.#byMint.get(record.mint)?.text)
    this.#byMint.set(record.mint, { record, text })
  }
}

/** Returns the number of characters by which the state of a token counts towards `MOST_OF_BOT`; 0 if there is no
 *  state. */
function lengthOf(text: string | undefined): number {
  return text === undefined ? 0 : Math.max(LEAST_OF_TOKEN, text.length)
}
