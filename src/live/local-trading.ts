import { ExitCode, SluiceError } from '../base/errors.ts'
import { failpoint } from '../base/failpoint.ts'
import type { Clock, Http } from '../base/machine.ts'
import { LocalExecutor } from '../chain/local-executor.ts'
import type { Rpc } from '../chain/rpc/rpc.ts'
import { Sender } from '../chain/sender.ts'
import type { RunningSigner } from '../chain/signer/running.ts'
import { readRent } from '../chain/verifier/chain-facts.ts'
import type { Examine } from '../chain/verifier/checks-before-signing.ts'
import { walletCalled } from '../config/accounts.ts'
import type { BotConfig, Config } from '../config/config.ts'
import { policyHash } from '../config/hashes.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import type { Journal } from '../orders/ports.ts'
import type { Log } from '../runtime/log.ts'
import { decodeTransaction } from '../solana/transaction.ts'
import type { BuilderParts, Venue } from '../venues/venue.ts'
import type { LiveAccount } from './live-account.ts'
import type { LiveChain } from './live-chain.ts'
import type { ServiceAccess } from './service-access.ts'
import { openSigner } from './signer-access.ts'

export interface LocalTradingParts extends Omit<BuilderParts, 'check'> {
  readonly venue: Venue
  readonly http: Http
  readonly clock: Clock
  readonly journal: Journal
  readonly chain: LiveChain
  /** The wallet that signs. */
  readonly own: LiveAccount
  readonly signing: Signing
}

/** Time for which a read rent stays in use, ms. The rent changes only by a vote of the validators. */
const RENT_KEPT_MS = 600_000

/** Creates the executor of local orders. The service only builds their transactions; this process checks, signs and
 *  sends them. */
export function localExecutor(parts: LocalTradingParts): LocalExecutor {
  const { venue, chain, own, clock, journal, signing } = parts
  const { rpcs } = chain
  const builder = venue.openBuilder({
    ...parts,
    check: (bytes) => {
      const decoded = decodeTransaction(bytes)
      return decoded.ok ? undefined : decoded
    },
  })
  const sender = new Sender({ providers: rpcs.each, clock, alarm: (text) => chain.alarm(text) })
  chain.onStop(() => sender.stop())
  return new LocalExecutor({
    ...{ clock, sender, signer: signing.signer, policy: signing.policy, policyHash: signing.policyHash },
    examine: signing.examine,
    ...{ rpcs: rpcs.each, resolve: own.wallet.resolver, rent: keptRent(clock) },
    build: async (attempt) => {
      const built = await builder.build(attempt)
      failpoint('built')
      return built
    },
    room: ({ account, orderId }) => ({
      boundLamports: chain.outgoing.reserveLamports(orderId),
      reservedLamports: chain.outgoing.reservedLamports(account, orderId),
      headroomLamports: chain.outgoing.headroomLamports(account),
    }),
    refusalOf: (orderId) => chain.outgoing.refusalOf(orderId),
    commit: (then) =>
      journal.commit(() => {
        failpoint('signed')
        then()
        failpoint('sent')
      }),
    keep: (why, bytes) => {
      journal.write({ kind: 'frame', time: clock.now(), why, text: Buffer.from(bytes).toString('base64') })
    },
  })
}

function keptRent(clock: Clock): (rpc: Rpc) => Promise<bigint> {
  let kept: { readonly lamports: bigint; readonly at: number } | undefined
  return async (rpc) => {
    if (kept === undefined || clock.now() - kept.at > RENT_KEPT_MS)
      kept = { lamports: await readRent(rpc), at: clock.now() }
    return kept.lamports
  }
}

/** What a wallet with `executor: local` needs: its signer, and the policy with which transactions are compared. */
export interface Signing {
  readonly signer: RunningSigner
  readonly policy: BuilderPolicy
  readonly policyHash: string
  readonly examine: Examine
}

/** Whether the bot trades live with transactions that this process has signed. */
function isLocal({ executor, mode }: Pick<BotConfig, 'executor' | 'mode'>): boolean {
  return executor === 'local' && mode === 'live'
}

/** Removes the bots with locally signed transactions, because the sandbox has no Solana runtime to execute such
 *  transactions. */
export function withoutLocal(config: Config, log: Pick<Log, 'warn'>): Config {
  const local = config.bots.filter(isLocal)
  if (local.length === 0) return config
  const names = local.map(({ name }) => name).join(', ')
  log.warn(
    `these bots are left out, because they sign on this machine and this sandbox has no Solana runtime (npm i litesvm@1.4.1): ${names}`,
  )
  return { ...config, bots: config.bots.filter((bot) => !isLocal(bot)) }
}

export interface SigningParts {
  readonly service: Pick<ServiceAccess, 'wallets' | 'policy'>
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'error'>
  /** Called with each signer once it is open. */
  readonly opened: (signer: RunningSigner) => void
}

/** Starts or connects a signer for each wallet with which a local live bot trades, so that each key is only in its own
 *  signer. Returns them by the name of the wallet. Throws SluiceError if there is no policy, because
 *  signing arbitrary bytes would expose the whole wallet, or if a signer reports a problem with its key. */
export async function openSigning(
  { bots }: Config,
  { service, clock, log, opened }: SigningParts,
): Promise<ReadonlyMap<string, Signing>> {
  const locals = bots.filter(isLocal)
  const [local] = locals
  if (local === undefined) return new Map()
  const { policy } = service
  if (policy === undefined) {
    const way = 'set service.builderPolicy; `sluice learn-builder` writes one'
    const what = `${local.name} has executor: local, but no policy limits what the service may put into its transactions`
    throw new SluiceError(`${what}: ${way}`, ExitCode.unsafe)
  }
  refuseOneWay(local.name, policy)
  // Imported only here, because the module loads @solana/web3.js, which a run without local signing does not need.
  const { examine } = await import('../chain/verifier/checks-before-signing.ts')
  const hash = policyHash(policy)
  const signing = new Map<string, Signing>()
  for (const name of new Set(locals.map(({ wallet = '' }) => wallet))) {
    const keys = walletCalled(service.wallets, name)
    const of = name === '' ? '' : ` of ${name}`
    const tell = (line: string): void => log.error(`signer${of}: ${line}`)
    const signer = await openSigner(keys, { wallet: keys.publicKey, clock, policy, tell })
    opened(signer)
    log.info({ wallet: signer.wallet, policy: policy.name, hash: hash.slice(0, 16) }, `the signer${of} is ready`)
    signing.set(name, { signer, policy, policyHash: hash, examine })
  }
  return signing
}

/** Throws if the policy permits a program to buy, but not to sell. For a program that Sluice cannot decode, a policy
 *  contains only the instructions in the samples from which it was made. */
function refuseOneWay(bot: string, { programs }: BuilderPolicy): void {
  const stuck = programs.find((one) => one.decode === 'opaque' && one.buy.length > 0 && one.sell.length === 0)
  if (stuck === undefined) return
  const way = 'run `sluice learn-builder` again with a mint that the wallet holds'
  throw new SluiceError(
    `${bot} could buy through ${stuck.id} but never sell: the policy has no \`sell\` instruction for it; ${way}`,
    ExitCode.unsafe,
  )
}
