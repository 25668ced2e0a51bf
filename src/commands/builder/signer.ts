import { join, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { solToLamports } from '../../base/units.ts'
import { listenAsSigner } from '../../chain/signer/listen.ts'
import { refuseChangeable } from '../../chain/signer/own-files.ts'
import { expandPath } from '../../config/files.ts'
import { loadPolicy } from '../../config/policy.ts'
import { formatErrors } from '../../config/yaml/errors.ts'
import { stateFolder } from '../../live/service-access.ts'
import { boundTo, capsOf } from '../../live/signer-access.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { SystemClock } from '../../runtime/system-clock.ts'
import type { Options } from '../options.ts'

/** `sluice signer`: keeps the process that holds the key, and never sees the key itself. Ends with it, or by a
 *  signal. */
export async function run(_args: string[], options: Options): Promise<number> {
  const { socket, key } = options
  if (socket === undefined || key === undefined)
    throw new SluiceError('signer needs --socket and --key', ExitCode.usage)
  if (options.policy !== undefined) refuseChangeable(expandPath(options.policy, process.cwd()))
  const policy = options.policy === undefined ? undefined : policyOf(options.policy)
  if (options.policy !== undefined && policy === undefined) return ExitCode.usage
  const clock = new SystemClock()
  // systemd names the folder that it made for the service.
  const state = options.state ?? join(process.env.STATE_DIRECTORY ?? stateFolder(), 'signer.caps')
  const listening = await listenAsSigner(
    {
      keyPath: expandPath(key, process.cwd()),
      socketPath: resolve(socket),
      stateFile: resolve(state),
      caps: capsOf({
        perTransaction: lamportsOf(options.maxPerTransactionSol),
        perHour: lamportsOf(options.maxPerHourSol),
        perDay: lamportsOf(options.maxPerDaySol),
      }),
      ...(policy && boundTo(policy)),
    },
    clock,
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => listening.close())
  console.error(`the signer of ${listening.wallet} listens at ${socket}, for its own user and group`)
  const exitCode = await listening.ended
  clock.stop()
  return exitCode
}

function lamportsOf(sol: number | undefined) {
  return sol === undefined ? null : solToLamports(sol)
}

/** What stands in the file of --policy; undefined where it is wrong, and all that is wrong has been said. */
export function policyOf(file: string): BuilderPolicy | undefined {
  const result = loadPolicy(file)
  if (result.ok) return result.policy
  console.error(formatErrors(result.errors))
  return undefined
}
