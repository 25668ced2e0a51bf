import type { ConfigError } from './yaml/errors.ts'

/** A contradiction between values that are valid on their own. */
export interface Problem {
  /** False for a warning: valid, but probably a mistake. */
  readonly fatal: boolean
  readonly error: ConfigError
}
