import type { ConfigError } from './yaml/errors.ts'

/** Something about values that are right by themselves and wrong together. */
export interface Problem {
  /** Else a warning: allowed, and probably not what was meant. */
  readonly fatal: boolean
  readonly error: ConfigError
}
