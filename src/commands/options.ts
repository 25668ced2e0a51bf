import { relative } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { printable } from '../base/text.ts'
import type { Config } from '../config/config.ts'

/** An option of a command. `Value` is the type that the command receives. */
export interface Option<Value> {
  /** Placeholder in the help, such as `<file>`; '' for a flag. */
  readonly placeholder: string
  readonly about: string
  /** Value if the option is not given. */
  readonly fallback: Value
  /**
   * Converts the text after the option to a value. If the option is given several times, `before` is the value so far.
   * Throws InvalidArgumentError.
   */
  read?(text: string, before: Value): Value
}

/** Options by their name in the code: `holdOut` is `--hold-out` on the command line. */
export type OptionSet = Readonly<Record<string, Option<unknown>>>
export type Values<Options extends OptionSet> = {
  readonly [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never
}

/** A command with its options. `run` returns the exit code. */
export interface Command<Options extends OptionSet = OptionSet> {
  readonly options: Options
  run(args: string[], options: Values<Options>): Promise<number>
}

/** Infers the types of the options that `run` receives. */
export function defineCommand<const Options extends OptionSet>(command: Command<Options>): Command<Options> {
  return command
}

export interface NumberRange {
  readonly integer?: boolean
  readonly min: number
  readonly max?: number
}

export function flag(about: string): Option<boolean> {
  return { placeholder: '', about, fallback: false }
}

export function text(placeholder: string, about: string): Option<string | undefined>
export function text(placeholder: string, about: string, fallback: string): Option<string>
export function text(placeholder: string, about: string, fallback?: string): Option<string | undefined> {
  return { placeholder, about, fallback, read: notAnOption }
}

/** An option that may be given several times. */
export function texts(placeholder: string, about: string): Option<readonly string[]> {
  return { placeholder, about, fallback: [], read: (value, before) => [...before, notAnOption(value)] }
}

export function number(placeholder: string, about: string, range: NumberRange): Option<number | undefined>
export function number(placeholder: string, about: string, range: NumberRange, fallback: number): Option<number>
export function number(
  placeholder: string,
  about: string,
  range: NumberRange,
  fallback?: number,
): Option<number | undefined> {
  return { placeholder, about, fallback, read: (value) => numberIn(range, value) }
}

/**
 * Returns the value of an option. Throws if the value begins with `--`, because the user has then forgotten the value,
 * and the parser has taken the next option for it.
 */
function notAnOption(value: string): string {
  if (!value.startsWith('--')) return value
  throw new InvalidArgumentError(`Expected a value before the next option (write ./${value} for a file of that name).`)
}

function numberIn({ integer = false, min, max = Number.MAX_SAFE_INTEGER }: NumberRange, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= min && value <= max && (!integer || Number.isInteger(value))) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  throw new InvalidArgumentError(`Expected ${integer ? 'a whole' : 'a'} number ${range}.`)
}

// Options that several commands share.

export const DEFAULT_JOURNAL = 'data/sluice.db'

export const JSON_LINE = flag('print one line of JSON, the last line of stdout')
export const JOURNAL = text('<db>', 'read this journal', DEFAULT_JOURNAL)
export const TAPES = texts('<db>', 'read this journal; repeat to join several (default: journal.path of the file)')
export const PARTIAL = flag('run even if the tape lacks data that the bots need')
const SECONDS = number('<n>', 'stop after this many seconds', { min: 0.001 })
export const SEED: NumberRange = { integer: true, min: 0 }
export const POLICY = text('<file>', 'apply this builder policy (builder-policy.yaml)')
export const ISOLATE = flag('run the strategies in a separate thread under a watchdog, as --live does')
export const WALLET = text('<name>', 'use this wallet of the section `wallets`')
/** Options of every command that starts bots or records a feed. */
export const RUNNING = {
  seconds: SECONDS,
  speed: number('<x>', "run the sandbox's market at this multiple of real time", { min: 0.001 }),
  json: JSON_LINE,
}
export const NO_DESK = flag('serve no page in the browser')
export const WRITE_JOURNAL = text('<db>', 'write this journal (default: journal.path of the file)')
/** Options of every command to a running process: they select the process. */
export const PROCESS = {
  journal: text('<db>', 'send the command to the process that writes this journal'),
  config: texts(
    '<file>',
    'send the command to the process of this configuration (default: the only running process of this user)',
  ),
  json: JSON_LINE,
}

/** Paths of the journals to read: the given ones, else the journal of the configuration. If the configuration gives the
 *  journal, stderr names it, because the command line does not. */
export function tapesOf(journals: readonly string[], { journal: { path }, files }: Config): readonly string[] {
  if (journals.length > 0) return journals
  const near = relative('', path)
  const shown = near.startsWith('..') ? path : near
  console.error(printable(`sluice: reading the tape of ${shown}, the journal of ${files.join(', ')}`))
  return [shown]
}
