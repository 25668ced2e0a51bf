import { existsSync, readFileSync } from 'node:fs'
import type { Report } from '../backtest/report.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'

/** A report.json. Throws SluiceError (exit 2) where it is none, or of another version. */
export function readReport(path: string): Report {
  const notOne = new SluiceError(`${path} is not the report of a backtest (backtest --out)`, ExitCode.usage)
  if (!existsSync(path)) throw notOne
  let report: unknown
  try {
    report = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw notOne
  }
  const { version, hashes, bots } = (report ?? {}) as Partial<Report>
  if (hashes === undefined || !Array.isArray(bots)) throw notOne
  if (version !== 1)
    throw new SluiceError(`${path} is of another Sluice (version ${version}); make both again`, ExitCode.usage)
  return report as Report
}
