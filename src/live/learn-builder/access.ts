import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import type { Lamports } from '../../base/units.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import type { Config } from '../../config/config.ts'
import { bootId, monotonicMs, SystemClock } from '../../runtime/system-clock.ts'
import { ViewModel } from '../../runtime/view/view-model.ts'
import { openHttp } from '../../venues/http.ts'
import { examineJournal } from '../doctor/machine.ts'
import { budgetedRpcs } from '../rpc-access.ts'
import { lockKey, openService, type WalletKeys } from '../service-access.ts'
import { Trading } from '../trading.ts'
import { type Taken, takeSamples } from './samples.ts'

export interface Wanted {
  readonly mints: readonly string[]
  readonly amount: Lamports
  readonly say: (text: string) => void
}

export interface Chain {
  readonly rpc: Rpc
  readonly clock: Clock
}

/** Requests the samples within the plan's rate limit, and calls `use` with them while the RPC connection is open.
 *  Throws a SluiceError if the service, the chain or the wallet is missing, or if another process uses the API key or
 *  the journal. */
export async function withSamples<T>(
  config: Config,
  { mints, amount, say }: Wanted,
  use: (samples: Taken[], chain: Chain) => Promise<T>,
): Promise<T> {
  const { finding, past, writer } = examineJournal(config.journal.path)
  if (past === undefined || writer === undefined)
    throw new SluiceError(
      `the journal, which counts the requests, cannot be used: ${finding.holder === '' ? finding.damage : `in use by ${finding.holder}`}; stop the process that uses it, or name another journal`,
      ExitCode.unsafe,
    )
  const clock = new SystemClock(0)
  const { http, close } = openHttp()
  const service = await openService(config, true)
  try {
    const [{ publicKey: wallet }] = service.wallets as [WalletKeys]
    if (wallet === '')
      throw new SluiceError(
        'wallet.publicKey is required, because the service builds transactions for a wallet',
        ExitCode.usage,
      )
    const keyUse = lockKey(config, service)
    const machine = { clock, monotonicMs, boot: bootId() }
    const { limiter, plan } = new Trading({
      ...{ config, service, machine, journal: writer, model: new ViewModel(), past, keyUse, http },
      chain: undefined,
    })
    const { any: rpc } = budgetedRpcs(service.rpc, http, clock)
    const counting = { limiter, journal: writer }
    try {
      const { maxBuyLamports } = plan
      const taken = await takeSamples(
        { service, wallet, counting, http, rpc, clock, maxBuyLamports, say },
        mints,
        amount,
      )
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
