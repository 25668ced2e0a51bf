import { LocalExecutor } from '../../chain/local-executor.ts'
import { Sender } from '../../chain/sender.ts'
import { readRent } from '../../chain/verifier/facts.ts'
import type { Clock, Http, Journal, Rpc } from '../../core/ports.ts'
import { decodeTransaction } from '../../core/transaction-bytes.ts'
import { failpoint } from '../../runtime/failpoint.ts'
import { type BuilderParts, TransactionBuilder } from '../../service/transaction-builder.ts'
import type { LiveChain } from './live-chain.ts'
import type { Signing } from './signing.ts'

export interface LocalTradingParts extends Omit<BuilderParts, 'check'> {
  readonly http: Http
  readonly clock: Clock
  readonly journal: Journal
  readonly chain: LiveChain
  readonly signing: Signing
}

/** The rent changes with a vote of the validators, if ever. */
const RENT_KEPT_MS = 600_000

/** Orders that the service only builds, and that are checked, signed and sent here. */
export function localExecutor(parts: LocalTradingParts): LocalExecutor {
  const { chain, clock, journal, signing } = parts
  const { rpcs, wallet } = chain
  const builder = new TransactionBuilder({
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
    ...{ rpcs: rpcs.each, resolve: wallet.resolver, rent: keptRent(clock) },
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
