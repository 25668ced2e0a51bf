import { isDeepStrictEqual } from 'node:util'
import type { ExitRules } from '../engine/exits/exit-settings.ts'
import type { BotExitsInput, ExitsInput } from './schema.ts'

/** Place in the configuration that sets an exit. */
export type ExitSource = 'bot' | 'defaults' | 'strategy'

/** An exit of the strategy that `defaults.exits` overrides. */
export interface OverriddenExit {
  readonly exit: keyof ExitRules
  readonly strategy: unknown
  /** Value in the configuration file, which overrides the strategy's value; `none` if the file removes the exit. */
  readonly file: unknown
}

export interface EffectiveExits {
  readonly exits: ExitRules
  /** For each exit in `exits`, the place that sets it. */
  readonly exitSources: Readonly<Partial<Record<keyof ExitRules, ExitSource>>>
  readonly overriddenExits: readonly OverriddenExit[]
}

/** Merges exits by name. The bot overrides the file's defaults, which override the strategy. `none` removes an exit.
 *  With `exits: strategy` at a bot, the strategy overrides the defaults. */
export function effectiveExits(
  bot: BotExitsInput | undefined,
  strategy: ExitRules,
  defaults: ExitsInput | undefined,
): EffectiveExits {
  const ofStrategy = [strategy, 'strategy'] as const
  const ofDefaults = [defaults ?? {}, 'defaults'] as const
  const lowestFirst =
    bot === 'strategy' ? [ofDefaults, ofStrategy] : [ofStrategy, ofDefaults, [bot ?? {}, 'bot'] as const]
  const set = new Map<string, { readonly value: unknown; readonly source: ExitSource }>()
  for (const [given, source] of lowestFirst) {
    if (given === 'none') set.clear()
    else
      for (const [exit, value] of Object.entries(given)) {
        if (value === 'none') set.delete(exit)
        else set.set(exit, { value, source })
      }
  }
  return {
    exits: Object.fromEntries([...set].map(([exit, { value }]) => [exit, value])),
    exitSources: Object.fromEntries([...set].map(([exit, { source }]) => [exit, source])),
    overriddenExits: bot === 'strategy' || bot === 'none' ? [] : overriddenBy(defaults, strategy, bot),
  }
}

/** Returns the exits of the strategy that the defaults override. Exits that the bot sets itself are left out, because
 *  their values are visible in the bot's own section. */
function overriddenBy(
  defaults: ExitsInput = {},
  strategy: ExitRules,
  bot: Exclude<ExitsInput, 'none'> = {},
): OverriddenExit[] {
  return Object.entries(strategy).flatMap(([name, value]) => {
    const exit = name as keyof Exclude<ExitsInput, 'none'>
    const file = defaults === 'none' ? 'none' : defaults[exit]
    if (file === undefined || Object.hasOwn(bot, exit) || isDeepStrictEqual(file, value)) return []
    return [{ exit, strategy: value, file }]
  })
}

/** Returns a text such as `stopLossPercent 5 instead of 25, ...`. */
export function overriddenText(exits: readonly OverriddenExit[]): string {
  return exits.map(({ exit, strategy, file }) => `${exit} ${shown(file)} instead of ${shown(strategy)}`).join(', ')
}

/** Returns one line about all bots whose strategy has overridden exits; undefined if there are none. */
export function overriddenNote(bots: readonly (EffectiveExits & { readonly name: string })[]): string | undefined {
  const changed = bots.filter(({ overriddenExits }) => overriddenExits.length > 0)
  if (changed.length === 0) return undefined
  const list = changed.map(({ name, overriddenExits }) => `${name}: ${overriddenText(overriddenExits)}`).join('; ')
  return `defaults.exits overrides exits of strategies (\`exits: strategy\` in the section of a bot keeps them): ${list}`
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
