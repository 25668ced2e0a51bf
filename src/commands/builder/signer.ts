import { join, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { solToLamports } from '../../base/units.ts'
import { listenAsSigner } from '../../chain/signer/listen.ts'
import { refuseChangeable } from '../../chain/signer/own-files.ts'
import { loadPolicy } from '../../config/builder-policy-file.ts'
import { expandPath } from '../../config/package-paths.ts'
import { formatErrors } from '../../config/yaml/errors.ts'
import { stateFolder } from '../../live/service-access.ts'
import { boundTo, capsOf } from '../../live/signer-access.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { SystemClock } from '../../runtime/system-clock.ts'
import { defineCommand, number, POLICY, text, type Values } from '../options.ts'

const CAP_SOL = { min: 0, max: 1000000 }

const OPTIONS = {
  socket: text('<path>', 'listen on this socket, which processes of the same user or group may use'),
  key: text('<file>', 'keypair of the wallet, as solana-keygen writes it (mode 0600)'),
  policy: POLICY,
  maxPerTransactionSol: number('<n>', 'refuse a transaction that could spend more than this amount of SOL', CAP_SOL),
  maxPerHourSol: number('<n>', 'refuse to spend more than this amount of SOL within an hour', CAP_SOL),
  maxPerDaySol: number('<n>', 'refuse to spend more than this amount of SOL within a day', CAP_SOL),
  state: text('<file>', 'store the spent amounts in this file, so that the limits hold across restarts'),
}

/**
 * Starts a child process that reads the wallet's key and signs. The command itself never reads the key. The command
 * ends when the child process ends, or at a signal.
 */
export const command = defineCommand({ options: OPTIONS, run: (_args, options) => runSigner(options) })

async function runSigner(options: Values<typeof OPTIONS>): Promise<number> {
  const { socket, key } = options
  if (socket === undefined || key === undefined)
    throw new SluiceError('signer needs --socket and --key', ExitCode.usage)
  if (options.policy !== undefined) refuseChangeable(expandPath(options.policy, process.cwd()))
  const policy = options.policy === undefined ? undefined : policyOf(options.policy)
  if (options.policy !== undefined && policy === undefined) return ExitCode.usage
  const clock = new SystemClock()
  // systemd sets STATE_DIRECTORY if the unit of the service has StateDirectory=.
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
  console.error(`the signer of ${listening.wallet} listens on ${socket} for processes of the same user or group`)
  const exitCode = await listening.ended
  clock.stop()
  return exitCode
}

function lamportsOf(sol: number | undefined) {
  return sol === undefined ? null : solToLamports(sol)
}

/** Loads the file of --policy. If it is invalid, prints its errors and returns undefined. */
export function policyOf(file: string): BuilderPolicy | undefined {
  const result = loadPolicy(file)
  if (result.ok) return result.policy
  console.error(formatErrors(result.errors))
  return undefined
}
