import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import type { Lamports } from '../../base/units.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import type { Config } from '../../config/config.ts'
import { LiveStats } from '../../live/live-stats.ts'
import { budgetedRpcs } from '../../live/rpc-access.ts'
import { lockKey, openService } from '../../live/service-access.ts'
import { Trading } from '../../live/trading.ts'
import { bootId, monotonicMs, SystemClock } from '../../runtime/system-clock.ts'
import { openHttp } from '../../venues/http.ts'
import { lookAtJournal } from '../doctor/machine.ts'
import { type Taken, takeSamples } from './samples.ts'

export interface Wanted {
  readonly mints: readonly string[]
  readonly amount: Lamports
  readonly say: (text: string) => void
}

/** Takes the samples, each request counted by the plan as an order's would be, and hands them on while the chain can
 *  still be asked. Throws a SluiceError where the service, the chain or the wallet is missing, or somebody else uses
 *  the key or the journal. */
export async function takeFrom<T>(
  config: Config,
  { mints, amount, say }: Wanted,
  use: (taken: Taken[], chain: { rpc: Rpc; clock: Clock }) => Promise<T>,
): Promise<T> {
  const { finding, past, writer } = lookAtJournal(config.journal.path)
  if (past === undefined || writer === undefined)
    throw new SluiceError(
      `requests are counted in the journal, and ${finding.holder || finding.damage}: stop what runs on it, or name another`,
      ExitCode.unsafe,
    )
  const clock = new SystemClock(0)
  const { http, close } = openHttp()
  const service = await openService(config, true)
  try {
    if (service.wallet === '')
      throw new SluiceError('wallet.publicKey is missing: a builder builds for a wallet', ExitCode.usage)
    const keyUse = lockKey(config, service)
    const machine = { clock, monotonicMs, boot: bootId() }
    const { limiter, plan } = new Trading({
      ...{ config, service, machine, journal: writer, tally: new LiveStats(), past, keyUse, http },
      chain: undefined,
    })
    const { any: rpc } = budgetedRpcs(service.rpc, http, clock)
    const counting = { limiter, journal: writer }
    try {
      const { maxBuyLamports } = plan
      const taken = await takeSamples({ service, counting, http, rpc, clock, maxBuyLamports, say }, mints, amount)
      return await use(taken, { rpc, clock })
    } finally {
      keyUse.release()
    }
  } finally {
    await service.close()
    await writer.close()
    await close()
    clock.stop()
  }
}
