import { z } from 'zod'
import type { BotConfig } from './config.ts'
import { loadConfig } from './load.ts'
import { type BotEntry, isMap } from './read-file.ts'
import { botSchema } from './schema.ts'
import { type NumberBounds, numbersIn } from './strategies.ts'
import { formatErrors, formatPath } from './yaml/errors.ts'
import { parseWith } from './yaml/wording.ts'

/** Sections of a bot whose numbers a sweep may vary. */
const SECTIONS = ['exits', 'orders', 'exitOrders', 'limits', 'filters']

/** New values for settings of a bot, by the path of the setting, such as `exits.stopLossPercent`, in the units of the
 *  YAML. */
export type Settings = Readonly<Record<string, number>>

/** Returns the settings of a bot that are numbers, with their ranges. */
export function settingBounds(): NumberBounds[] {
  const { properties = {} } = z.toJSONSchema(botSchema, { io: 'input', unrepresentable: 'any' })
  return SECTIONS.flatMap((section) =>
    numbersIn(properties[section]).map((bounds) => ({ ...bounds, name: `${section}.${bounds.name}` })),
  )
}

/** Loads a bot of a configuration with other values of some settings, as if the file contained them. Returns the errors
 *  as text if the result is invalid. */
export async function variedBot(
  files: readonly string[],
  name: string,
  settings: Settings,
): Promise<BotConfig | { readonly problem: string }> {
  let problem: string | undefined
  const change = (entry: BotEntry): BotEntry => {
    if (!isMap(entry.raw) || entry.raw.name !== name) return entry
    const { exits } = entry.raw
    if (typeof exits === 'string' && Object.keys(settings).some((path) => path.startsWith('exits.')))
      problem = `bot ${name} has \`exits: ${exits}\`: write its exits as separate keys to vary them`
    const raw = withSettings(entry.raw, settings)
    const parsed = parseWith(botSchema, raw)
    if (!parsed.ok) problem ??= parsed.complaints.map((one) => `${formatPath(one.path)}: ${one.message}`).join('\n')
    return { raw, input: parsed.ok ? parsed.value : undefined }
  }
  const loaded = await loadConfig(files, { change })
  if (problem !== undefined) return { problem }
  if (!loaded.ok) return { problem: formatErrors(loaded.errors) }
  return loaded.config.bots.find((bot) => bot.name === name) ?? { problem: `there is no bot ${name}` }
}

function withSettings(raw: Record<string, unknown>, settings: Settings): Record<string, unknown> {
  const changed = { ...raw }
  for (const [path, value] of Object.entries(settings)) {
    const [section = '', key = ''] = path.split('.')
    const before = changed[section]
    changed[section] = { ...(isMap(before) ? before : {}), [key]: value }
  }
  return changed
}
