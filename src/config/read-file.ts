import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, parse, resolve } from 'node:path'
import { type BotInput, botSchema, type FileInput, fileSchema } from './schema.ts'
import { ConfigDocument } from './yaml/document.ts'
import type { ConfigError } from './yaml/errors.ts'
import { found, nearest, parseWith } from './yaml/wording.ts'

const MOST_BYTES = 1_048_576

/** One configuration file, checked without the other files. Sections and bots that do not fit the schema are absent, so
 *  that the rest can still be checked. */
export interface ConfigFile {
  readonly document: ConfigDocument
  readonly sections: Omit<FileInput, 'bots'>
  readonly bots: readonly BotEntry[]
}

export interface BotEntry {
  /** The value in the file, before any check. */
  readonly raw: unknown
  readonly input: BotInput | undefined
}

/** Reads one file; returns the errors that do not depend on other files and strategies. */
export function readConfigFile(file: string, cwd: string): { file?: ConfigFile; errors: ConfigError[] } {
  const text = readText(file, cwd)
  if (typeof text !== 'string') return { errors: [{ file, line: 1, column: 1, path: '', message: text.problem }] }
  const document = new ConfigDocument(file, text)
  const { value } = document
  if (value === undefined) return { errors: document.errors }
  if (!isMap(value)) {
    return { errors: [document.error([], `expected a map that begins with \`service:\`, found ${found(value)}`)] }
  }
  const result = parseWith(fileSchema, value)
  const errors = result.ok ? [] : result.complaints.map((complaint) => document.complain(complaint))
  return {
    file: { document, sections: validSections(value), bots: botEntries(value.bots) },
    errors: [...document.errors, ...errors],
  }
}

function validSections(value: Record<string, unknown>): ConfigFile['sections'] {
  const { bots: _, ...shape } = fileSchema.shape
  const entries = Object.entries(shape).flatMap(([name, schema]) => {
    const result = Object.hasOwn(value, name) ? schema.safeParse(value[name]) : undefined
    return result?.success ? [[name, result.data]] : []
  })
  return Object.fromEntries(entries)
}

function botEntries(bots: unknown): BotEntry[] {
  return Array.isArray(bots) ? bots.map((raw: unknown) => ({ raw, input: botSchema.safeParse(raw).data })) : []
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads a UTF-8 file of at most 1 MiB. */
export function readText(file: string, cwd: string): string | { problem: string } {
  const path = resolve(cwd, file)
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status) return { problem: `no such file${didYouMeanFile(path)}` }
  if (!status.isFile()) return { problem: 'expected a file, found a directory or device' }
  if (status.size > MOST_BYTES) return { problem: 'expected a file of at most 1 MiB' }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    return {
      problem: error instanceof TypeError ? 'expected UTF-8 text' : `cannot be read: ${(error as Error).message}`,
    }
  }
}

/** Returns a hint that names a similar file in the folder. Compares the names without their extension, which all
 *  candidates share. */
function didYouMeanFile(path: string): string {
  const names = new Map(neighbours(path).map((name) => [parse(name).name, name]))
  const close = nearest(parse(path).name, names.keys())
  return close === undefined ? '' : `; did you mean ${names.get(close)}?`
}

function neighbours(path: string): string[] {
  try {
    return readdirSync(join(dirname(path))).filter((name) => /\.ya?ml$/.test(name))
  } catch {
    return []
  }
}
