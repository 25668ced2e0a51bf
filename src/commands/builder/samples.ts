import type { Clock, Http } from '../../base/machine.ts'
import { type Lamports, lamports, ZERO } from '../../base/units.ts'
import { readSample, type Sample } from '../../chain/learner/sample.ts'
import { readHoldings } from '../../chain/rpc/read.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import type { ServiceAccess } from '../../live/service-access.ts'
import type { Attempt } from '../../orders/attempt.ts'
import { decodeTransaction } from '../../solana/transaction.ts'
import type { Builder } from '../../venues/venue.ts'
import { type Counting, counted } from '../doctor/endpoint-probe.ts'
import { askedText } from './findings-text.ts'

export interface SampleParts {
  readonly service: ServiceAccess
  readonly counting: Counting
  readonly http: Http
  readonly rpc: Rpc
  readonly clock: Clock
  readonly maxBuyLamports: Lamports
  readonly say: (text: string) => void
}

/** What was asked, and what came of it; a text where there is no transaction. */
export interface Taken {
  readonly asked: string
  readonly sample: Sample | string
}

const SLIPPAGE_PERCENT = 10
/** Fees and an amount that do not divide evenly, so that the builder has to round. */
const BUY_FEE = lamports(123_457)
const SALE_FEE = lamports(98_761)
const ODD_LAMPORTS = 7

/** For each mint a buy with the service's own priority fee; another for about twice as much, which tells what is a
 *  share of it, with a fee that is named; and a sale of what the wallet holds, with another such fee. */
export async function takeSamples(parts: SampleParts, mints: readonly string[], amount: Lamports): Promise<Taken[]> {
  const { service, rpc, say } = parts
  const builder = builderOf(parts)
  const holdings = await readHoldings(rpc, service.wallet)
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

/** What a sample asks for; fee null: the service chooses. */
interface Wanted {
  readonly size: Attempt['size']
  readonly fee: Lamports | null
}

async function sampleOf(parts: SampleParts, builder: Builder, attempt: Attempt): Promise<Sample | string> {
  const built = await counted(parts.counting, () => builder.build(attempt))
  if (built === undefined) return 'no free request under the plan'
  // What the service says may repeat what it was sent.
  if (built.kind !== 'built')
    return parts.service.redact(built.kind === 'unsent' ? built.reason : `${built.code}: ${built.reason}`)
  const decoded = decodeTransaction(built.bytes)
  return decoded.ok ? readSample(parts, decoded.transaction, built.asked) : `${decoded.code}: ${decoded.reason}`
}

function builderOf({ service, http, clock, maxBuyLamports }: SampleParts): Builder {
  return service.venue.openBuilder({
    ...{ http, clock, baseUrl: service.baseUrl, apiKey: service.apiKey, wallet: service.wallet },
    maxBuyLamports: () => maxBuyLamports,
    sellUnit: () => 'unproved',
    holding: () => undefined,
    check: (bytes) => {
      const decoded = decodeTransaction(bytes)
      return decoded.ok ? undefined : decoded
    },
  })
}

/** Of no order: nothing of it is armed, journaled or sent. */
function attemptOf(mint: string, { size, fee }: Wanted, number: number): Attempt {
  const isBuy = size.kind === 'sol'
  return {
    ...{ id: `sample.${number}`, orderId: 'sample', account: '', bot: '', executor: 'local', mint, size },
    ...{ side: isBuy ? 'buy' : 'sell', class: isBuy ? 'entry' : 'exit', slippagePercent: SLIPPAGE_PERCENT },
    ...{ priorityFeeLamports: fee, price: null, armedAt: 0, baseline: null, state: 'built', signature: '', code: '' },
  }
}

/** What a sample may cost at most, where nothing else bounds it. */
export function boundOf({ asked }: Sample): bigint {
  return BigInt(asked.side === 'buy' ? asked.lamports : ZERO) * 2n + 20_000_000n
}
