import type { Clock, Http } from '../../base/machine.ts'
import { formatSol, type Lamports, lamports, ZERO } from '../../base/units.ts'
import { readSample, type Sample } from '../../chain/learner/sample.ts'
import { readHoldings } from '../../chain/rpc/read.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import type { Attempt } from '../../orders/attempt.ts'
import { decodeTransaction } from '../../solana/transaction.ts'
import type { Builder } from '../../venues/venue.ts'
import { type Counting, withSlot } from '../doctor/endpoint-probe.ts'
import type { ServiceAccess } from '../service-access.ts'

export interface SampleParts {
  readonly service: ServiceAccess
  /** Public key of the wallet for which the builder builds. */
  readonly wallet: string
  readonly counting: Counting
  readonly http: Http
  readonly rpc: Rpc
  readonly clock: Clock
  readonly maxBuyLamports: Lamports
  readonly say: (text: string) => void
}

/** A request and its result; if there is no transaction, `sample` is a text with the reason. */
export interface Taken {
  readonly asked: string
  readonly sample: Sample | string
}

const SLIPPAGE_PERCENT = 10
/** Amounts that are not round, so that the samples show how the builder rounds. */
const BUY_FEE = lamports(123_457)
const SALE_FEE = lamports(98_761)
const ODD_LAMPORTS = 7

/** Requests up to three samples for each mint. The first is a buy with the automatic priority fee. The second is a buy
 *  of about twice the amount with an explicit fee; it shows which payments are a share of the amount. The third is a
 *  sale of the tokens that the wallet holds, if it holds any. */
export async function takeSamples(parts: SampleParts, mints: readonly string[], amount: Lamports): Promise<Taken[]> {
  const { wallet, rpc, say } = parts
  const builder = builderOf(parts)
  const holdings = await readHoldings(rpc, wallet)
  const taken: Taken[] = []
  for (const mint of mints) {
    const wanted: Wanted[] = [
      { size: { kind: 'sol', lamports: amount }, fee: null },
      { size: { kind: 'sol', lamports: lamports(amount * 2 + ODD_LAMPORTS) }, fee: BUY_FEE },
    ]
    if ((holdings.get(mint)?.tokens ?? 0n) > 0n) wanted.push({ size: { kind: 'all' }, fee: SALE_FEE })
    for (const one of wanted) {
      const attempt = attemptOf(mint, one, taken.length + 1)
      const asked = askedText(attempt)
      say(`${taken.length + 1}. ${asked}`)
      taken.push({ asked, sample: await sampleOf(parts, builder, attempt) })
    }
  }
  return taken
}

/** A sample to request. `fee`: null if the service chooses the fee. */
interface Wanted {
  readonly size: Attempt['size']
  readonly fee: Lamports | null
}

async function sampleOf(parts: SampleParts, builder: Builder, attempt: Attempt): Promise<Sample | string> {
  const built = await withSlot(parts.counting, () => builder.build(attempt))
  if (built === undefined) return 'the rate limit of the plan allowed no request within a minute'
  // The service's text is left out, because it may repeat the request, which contains the API key.
  if (built.kind !== 'built')
    return parts.service.redact(built.kind === 'unsent' ? built.reason : `${built.code}: ${built.reason}`)
  const decoded = decodeTransaction(built.bytes)
  return decoded.ok ? readSample(parts, decoded.transaction, built.asked) : `${decoded.code}: ${decoded.reason}`
}

function builderOf({ service, wallet, http, clock, maxBuyLamports }: SampleParts): Builder {
  return service.venue.openBuilder({
    ...{ http, clock, baseUrl: service.baseUrl, apiKey: service.apiKey, wallet },
    maxBuyLamports: () => maxBuyLamports,
    sellUnit: () => 'unproved',
    holding: () => undefined,
    check: (bytes) => {
      const decoded = decodeTransaction(bytes)
      return decoded.ok ? undefined : decoded
    },
  })
}

/** Returns an attempt for a request of a sample. It belongs to no order, and is never journaled or sent. */
function attemptOf(mint: string, { size, fee }: Wanted, number: number): Attempt {
  const isBuy = size.kind === 'sol'
  return {
    ...{ id: `sample.${number}`, orderId: 'sample', account: '', bot: '', executor: 'local', mint, size },
    ...{ side: isBuy ? 'buy' : 'sell', class: isBuy ? 'entry' : 'exit', slippagePercent: SLIPPAGE_PERCENT },
    ...{ priorityFeeLamports: fee, price: null, armedAt: 0, baseline: null, state: 'built', signature: '', code: '' },
  }
}

/** Maximum cost of a sample, lamports. It is an estimate that is too high on purpose. */
export function boundOf({ asked }: Sample): bigint {
  return BigInt(asked.side === 'buy' ? asked.lamports : ZERO) * 2n + 20_000_000n
}

function askedText({ side, mint, size, priorityFeeLamports: fee }: Attempt): string {
  const trade =
    side === 'buy' && size.kind === 'sol' ? `buy ${mint} for ${formatSol(size.lamports)} SOL` : `sell all of ${mint}`
  return fee === null ? trade : `${trade}, priority fee ${formatSol(fee)} SOL`
}
