import { ERRORS } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import { alarmText } from '../../engine/bots/thrown-value.ts'
import { type GateCode, type Input, isStrategyEnd, type Output } from '../../engine/messages.ts'
import type { AccountMoney, BotMoney, RecoveredMoney } from '../../engine/recovered-money.ts'
import type { BotSettings } from '../../engine/settings.ts'
import type { EntryStop } from './view.ts'

type Stop = Omit<EntryStop, 'bots'>

/** A stop is a reason for which bots may not buy. `sluice resume` ends the stops with these codes; every other stop
 *  lasts until its cause ends. */
const ENDED_BY_RESUME: ReadonlySet<EntryStop['code']> = new Set(['HALTED', 'QUARANTINED', 'LOSING_STREAK'])

export function outlastsResume({ code }: Pick<EntryStop, 'code'>): boolean {
  return !ENDED_BY_RESUME.has(code)
}

/** Tracks the reasons for which entries (buys) are stopped, for status displays. It reads the engine's inputs and
 *  outputs. */
export class EntryStops {
  /** The entry stops of a bot by its name, and those of a whole account by its id. */
  readonly #stops = new Map<string, readonly Stop[]>()
  /** The stops whose cause an input reported, by account; for example that the chain cannot be read. A stop lasts until
   *  an input reports that its cause has ended. The key '' holds the stops that apply to all accounts. */
  readonly #gates = new Map<string, Map<GateCode, Stop>>()
  /** Reasons for which a bot may only close positions, by bot. */
  readonly #reasons = new Map<string, string>()

  /** Restores the stops of the previous process. The stop of a strategy that threw is not restored, because the
   *  strategy starts again. */
  restore({ accounts, bots }: Pick<RecoveredMoney, 'accounts' | 'bots'>): void {
    for (const money of accounts) this.#set(money.account, stopsOfAccount(money), null)
    for (const money of bots) this.#set(money.bot, stopsOfResults(money), null)
  }

  /** Receives an input, which may say that the cause of a stop began or ended. */
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

  /** Returns the reasons why these bots may not buy at present. A reason that several bots share is listed once. */
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

  /** Replaces the stops of a bot or account. A stop that continues keeps its start time. */
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
  const threw = { code: 'EXITS_ONLY', text: 'the bot only closes positions until the next start', until: null } as const
  return [...(money.status === 'exits-only' ? [threw] : []), ...stopsOfResults(money)]
}

/** Returns the stop of a bot that pauses after a losing streak; empty if it does not pause. Journals of earlier
 *  versions have no field `pausedUntil`. */
function stopsOfResults({ pausedUntil = 0 }: Partial<Pick<BotMoney, 'pausedUntil'>>): Omit<Stop, 'since'>[] {
  return pausedUntil > 0 ? [{ code: 'LOSING_STREAK', text: ERRORS.LOSING_STREAK, until: pausedUntil }] : []
}
