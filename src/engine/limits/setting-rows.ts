import type { z } from 'zod'
import { formatSol, type Lamports, lamportsToSol, solToLamports } from '../../base/units.ts'
import { described, type KeyText } from '../key-text.ts'

// A table of settings describes each key of a section of the configuration: its schema, its default, its conversion to
// the engine's units, its sentence in `sluice check`, and its messages.

/** Unit in the YAML. The engine uses lamports for `sol` and milliseconds for `seconds`. */
export type SettingUnit = 'sol' | 'seconds' | 'percent' | 'count' | 'file' | 'choice'

const UNIT_WORDS: Readonly<Partial<Record<SettingUnit, string>>> = {
  sol: 'SOL',
  seconds: 'seconds',
  percent: 'percent',
  count: 'count',
}

export interface SettingRow<Value, Settings> {
  /** Key in the YAML. */
  readonly key: string
  readonly unit: SettingUnit
  /** Description for people, in one sentence. */
  readonly about: string
  /** Effect of leaving out a key whose `default` is null. */
  readonly absent?: string
  /** Schema of the value that the YAML contains, in the unit of the YAML. */
  readonly schema: z.ZodType
  /** Default in the unit of the engine; null means no limit. */
  readonly default: Value
  /** Returns the sentence of this setting for `check`. `shown` is the value in the unit of the YAML. */
  readonly text?: (shown: string, settings: Settings) => string
  /** Present if the setting can only be checked with the announcements of new tokens. */
  readonly needsLaunches?: true
}

/** A table of settings: the entry of each setting, by the setting's name in the engine. */
export type SettingRows<Settings> = { readonly [F in keyof Settings]: SettingRow<Settings[F], Settings> }

type AnyRows = Readonly<Record<string, Omit<SettingRow<unknown, never>, 'text'>>>
type Shape<Rows extends AnyRows> = { [F in keyof Rows as Rows[F]['key']]: z.ZodExactOptional<Rows[F]['schema']> }

/** Returns the shape of the YAML section, in which every key is optional. */
export function shapeOf<const Rows extends AnyRows>(rows: Rows): Shape<Rows> {
  const entries = Object.values(rows).map((row) => [row.key, described(row.schema, textOf(row)).exactOptional()])
  return Object.fromEntries(entries) as Shape<Rows>
}

function textOf({ about, unit, default: value, absent }: AnyRows[string]): KeyText {
  return {
    about,
    ...(UNIT_WORDS[unit] !== undefined && { unit: UNIT_WORDS[unit] }),
    ...(value !== null && { default: toYaml(unit, value) }),
    ...(absent !== undefined && { absent }),
  }
}

/** Returns the settings of the engine, from the keys that the YAML sets. */
export function settingsFrom<S extends object>(rows: SettingRows<S>, written: object): S {
  const entries = rowsOf(rows).map(([field, row]) => {
    const value: unknown = (written as Record<string, unknown>)[row.key]
    return [field, value === undefined ? row.default : toEngine(row.unit, value)]
  })
  return Object.fromEntries(entries) as S
}

/** Returns the settings with the keys and the units of the YAML; null for a setting without a limit. */
export function writtenFrom<S extends object>(rows: SettingRows<S>, settings: S): Record<string, unknown> {
  const entries = rowsOf(rows).map(([field, row]) => {
    const value: unknown = settings[field]
    return [row.key, value === null ? null : toYaml(row.unit, value)]
  })
  return Object.fromEntries(entries) as Record<string, unknown>
}

/** Returns one sentence for each setting that is not null, in the order of the table. */
export function sentencesOf<S extends object>(rows: SettingRows<S>, settings: S): string[] {
  return rowsOf(rows).flatMap(([field, { unit, text }]) => {
    const value: unknown = settings[field]
    if (value === null || value === undefined || text === undefined) return []
    return [text(unit === 'sol' ? formatSol(value as Lamports) : String(toYaml(unit, value)), settings)]
  })
}

/** Returns the settings with each amount of SOL replaced by the result of `change`. */
export function mapSol<S extends object>(rows: SettingRows<S>, settings: S, change: (amount: Lamports) => Lamports): S {
  const entries = rowsOf(rows).map(([field, { unit }]) => {
    const value = settings[field]
    return [field, unit === 'sol' && value !== null ? change(value as unknown as Lamports) : value]
  })
  return Object.fromEntries(entries) as S
}

/** Whether a setting that depends on the announcements of new tokens is active. */
export function needsLaunches<S extends object>(rows: SettingRows<S>, settings: S): boolean {
  return rowsOf(rows).some(([field, row]) => row.needsLaunches === true && settings[field] !== null)
}

export function rowsOf<Rows extends object>(rows: Rows): [keyof Rows, Rows[keyof Rows]][] {
  return Object.entries(rows) as [keyof Rows, Rows[keyof Rows]][]
}

function toEngine(unit: SettingUnit, value: unknown): unknown {
  if (unit === 'sol') return solToLamports(value as number)
  return unit === 'seconds' ? Math.round((value as number) * 1000) : value
}

function toYaml(unit: SettingUnit, value: unknown): unknown {
  if (unit === 'sol') return lamportsToSol(value as Lamports)
  return unit === 'seconds' ? (value as number) / 1000 : value
}
