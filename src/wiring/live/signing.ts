import type { RunningSigner } from '../../chain/signer/running.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { policyHash } from '../../config/config-hash.ts'
import type { BuilderPolicy } from '../../core/builder-policy.ts'
import { ExitCode, SluiceError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports.ts'
import type { Log } from '../../runtime/log.ts'
import type { ServiceAccess } from '../access/service-access.ts'
import { openSigner } from '../access/signer-access.ts'

/** What local orders are signed with, and held against before. */
export interface Signing {
  readonly signer: RunningSigner
  readonly policy: BuilderPolicy
  readonly policyHash: string
}

/** It trades, and signs here. */
function isLocal({ executor, mode }: Pick<BotConfig, 'executor' | 'mode'>): boolean {
  return executor === 'local' && mode === 'live'
}

/** Without the bots that sign here, for a sandbox where nothing runs what they would sign. */
export function withoutLocal(config: Config, log: Pick<Log, 'warn'>): Config {
  const local = config.bots.filter(isLocal)
  if (local.length === 0) return config
  const names = local.map(({ name }) => name).join(', ')
  log.warn(`left out, because it signs here and this sandbox has no Solana runtime (npm i litesvm@1.4.1): ${names}`)
  return { ...config, bots: config.bots.filter((bot) => !isLocal(bot)) }
}

/** Starts the signer, or connects to it, where a live bot signs here; undefined where none does. Throws a SluiceError where there is no policy,
 *  for whoever signs a stranger's bytes without one hands over the wallet, and where the signer says that something is wrong with the key. */
export async function openSigning(
  { bots }: Config,
  { wallet, signs }: Pick<ServiceAccess, 'wallet' | 'signs'>,
  clock: Clock,
  log: Pick<Log, 'info' | 'error'>,
): Promise<Signing | undefined> {
  const local = bots.find(isLocal)
  if (local === undefined) return undefined
  const { policy } = signs
  if (policy === undefined) {
    const way = 'set service.builderPolicy; `sluice learn-builder` writes one'
    const what = `${local.name} has executor: local, and no policy says what the service may put into what it signs`
    throw new SluiceError(`${what}: ${way}`, ExitCode.unsafe)
  }
  refuseOneWay(local.name, policy)
  const signer = await openSigner(signs.wallet, { wallet, clock, policy, tell: (line) => log.error(`signer: ${line}`) })
  const hash = policyHash(policy)
  log.info({ wallet: signer.wallet, policy: policy.name, hash: hash.slice(0, 16) }, 'the signer is ready')
  return { signer, policy, policyHash: hash }
}

/** What could be bought and never sold: the policy knows of an opaque program only what was seen when it was learnt. */
function refuseOneWay(bot: string, { programs }: BuilderPolicy): void {
  const stuck = programs.find((one) => one.decode === 'opaque' && one.buy.length > 0 && one.sell.length === 0)
  if (stuck === undefined) return
  const way = 'learn it again with a mint that the wallet holds some of'
  throw new SluiceError(
    `${bot} could buy by ${stuck.id} and never sell: the policy names no \`sell\` of it; ${way}`,
    ExitCode.unsafe,
  )
}
