import { ExitCode } from '../../base/errors.ts'

/** Result of one check, which is one line of `sluice doctor`. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  /** Text of the finding; never contains a secret. */
  readonly found: string
  /** Advice on the problem; '' if no action is needed. */
  readonly fix: string
  /** Whether the service refuses the API key or the plan; the command then exits with 3. */
  readonly refused: boolean
}

export function ok(name: string, found: string): Check {
  return { name, status: 'ok', found, fix: '', refused: false }
}

export function warn(name: string, found: string, fix: string): Check {
  return { name, status: 'warn', found, fix, refused: false }
}

export function fail(name: string, found: string, fix: string): Check {
  return { name, status: 'fail', found, fix, refused: false }
}

export function refused(name: string, found: string, fix: string): Check {
  return { name, status: 'fail', found, fix, refused: true }
}

/** Exit code of the command: 0 if no check failed, 3 if the service refused the API key or the plan, else 1. */
export function exitCodeOf(checks: readonly Check[]): ExitCode {
  if (checks.some((check) => check.refused)) return ExitCode.refused
  return checks.some(({ status }) => status === 'fail') ? ExitCode.failed : ExitCode.done
}
