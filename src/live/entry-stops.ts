import { ERRORS } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import { alarmText } from '../engine/bots/thrown.ts'
import { type GateCode, type Input, isStrategyEnd, type Output } from '../engine/messages.ts'
import type { AccountMoney, BotMoney, RecoveredMoney } from '../engine/recovered-money.ts'
import type { BotSettings } from '../engine/settings.ts'

/** Why bots buy nothing for now, whatever their strategies ask for. Exits go on. */
export interface EntryStop {
  readonly code:
    | 'HALTED'
    | 'FOREIGN_TX'
    | 'UNEXPECTED_FILL'
    | 'QUARANTINED'
    | 'EXITS_ONLY'
    | 'LOSING_STREAK'
    | 'POSITIONS_LIMIT'
    | GateCode
  /** Names of the bots that it stops. */
  readonly bots: readonly string[]
  /** null: since before this process. */
  readonly since: Millis | null
  /** When it ends by itself; null: it does not. */
  readonly until: Millis | null
  /** What it is, and what ends it. */
  readonly text: string
}

type Stop = Omit<EntryStop, 'bots'>

/** What `sluice resume` ends. The rest stops entries until its cause is gone, whatever an operator says. */
const ENDED_BY_RESUME: ReadonlySet<EntryStop['code']> = new Set(['HALTED', 'QUARANTINED', 'LOSING_STREAK'])

export function outlastsResume({ code }: Pick<EntryStop, 'code'>): boolean {
  return !ENDED_BY_RESUME.has(code)
}

/** What the engine last said of who may buy, for a person who watches. */
export class EntryStops {
  /** By the name of a bot, or the account that its entries are of. */
  readonly #stops = new Map<string, readonly Stop[]>()
  /** Conditions that last, by account, '' for every account. */
  readonly #gates = new Map<string, Map<GateCode, Stop>>()
  /** Why a bot only closes what it holds. */
  readonly #reasons = new Map<string, string>()

  /** What stood before this process. A strategy that threw begins anew. */
  restore({ accounts, bots }: Pick<RecoveredMoney, 'accounts' | 'bots'>): void {
    for (const money of accounts) this.#set(money.account, stopsOfAccount(money), null)
    for (const money of bots) this.#set(money.bot, stopsOfResults(money), null)
  }

  /** The engine was told that a condition begins or ends. */
  hear(time: Millis, input: Input): void {
    if (input.kind !== 'gate') return
    const { account, open, code = 'CHAIN_UNREAD', reason = '' } = input
    const gates = this.#gates.get(account) ?? new Map<GateCode, Stop>()
    const since = gates.get(code)?.since ?? time
    gates.delete(code)
    if (!open) gates.set(code, { code, since, until: null, text: reason === '' ? ERRORS[code] : reason })
    this.#gates.set(account, gates)
  }

  take(time: Millis, output: Output): void {
    if (output.kind === 'account') this.#set(output.money.account, stopsOfAccount(output.money), time)
    else if (output.kind === 'bot') this.#set(output.money.bot, stopsOfBot(output.money), time)
    else if (output.kind === 'alarm' && isStrategyEnd(output.code)) this.#reasons.set(output.bot, alarmText(output))
  }

  /** Those of these bots that stand now; what is the same for several is one. */
  of(bots: readonly Pick<BotSettings, 'name' | 'account'>[], now: Millis): EntryStop[] {
    const found = new Map<string, EntryStop>()
    for (const { name, account } of bots)
      for (const stop of this.#standing(account.id, name)) {
        if (stop.until !== null && stop.until <= now) continue
        const reason = stop.code === 'EXITS_ONLY' ? this.#reasons.get(name) : undefined
        const text = reason === undefined ? stop.text : `${reason}; ${stop.text}`
        const key = JSON.stringify([{ ...stop, text }])
        found.set(key, { ...stop, text, bots: [...(found.get(key)?.bots ?? []), name] })
      }
    return [...found.values()]
  }

  #standing(account: string, bot: string): Stop[] {
    const gates = ['', account].flatMap((of) => [...(this.#gates.get(of)?.values() ?? [])])
    return [...gates, ...(this.#stops.get(account) ?? []), ...(this.#stops.get(bot) ?? [])]
  }

  /** What goes on keeps the time from which it did. */
  #set(who: string, stops: readonly Omit<Stop, 'since'>[], time: Millis | null): void {
    const before = this.#stops.get(who) ?? []
    const sinceOf = (code: string): Millis | null => {
      const known = before.find((stop) => stop.code === code)
      return known === undefined ? time : known.since
    }
    this.#stops.set(
      who,
      stops.map((stop) => ({ ...stop, since: sinceOf(stop.code) })),
    )
  }
}

function stopsOfAccount({
  halted,
  foreign = [],
  breached = false,
  quarantined = [],
  results,
}: AccountMoney): Omit<Stop, 'since'>[] {
  const stop = (code: Stop['code'], text: string): Omit<Stop, 'since'> => ({ code, text, until: null })
  return [
    ...(halted ? [stop('HALTED', ERRORS.HALTED)] : []),
    ...(foreign.length > 0 ? [stop('FOREIGN_TX', foreignText(foreign))] : []),
    ...(breached ? [stop('UNEXPECTED_FILL', ERRORS.UNEXPECTED_FILL)] : []),
    ...(quarantined.length > 0 ? [stop('QUARANTINED', `${ERRORS.QUARANTINED} (${quarantined.join(', ')})`)] : []),
    ...stopsOfResults({ pausedUntil: results?.pausedUntil ?? 0 }),
  ]
}

function foreignText(signatures: readonly string[]): string {
  const [first = ''] = signatures
  const text = ERRORS.FOREIGN_TX.replace('SIGNATURE', signatures.length === 1 ? first : 'all')
  return signatures.length === 1 ? text : `${text} (${signatures.join(', ')})`
}

function stopsOfBot(money: BotMoney): Omit<Stop, 'since'>[] {
  const threw = { code: 'EXITS_ONLY', text: 'it only closes what it holds, until the next start', until: null } as const
  return [...(money.status === 'exits-only' ? [threw] : []), ...stopsOfResults(money)]
}

/** A pause after losses; an older Sluice wrote none. */
function stopsOfResults({ pausedUntil = 0 }: Partial<Pick<BotMoney, 'pausedUntil'>>): Omit<Stop, 'since'>[] {
  return pausedUntil > 0 ? [{ code: 'LOSING_STREAK', text: ERRORS.LOSING_STREAK, until: pausedUntil }] : []
}
