import { readSample, type Sample } from '../../chain/learner/sample.ts'
import { readHoldings } from '../../chain/read.ts'
import type { Attempt } from '../../core/order.ts'
import type { Clock, Http, Rpc } from '../../core/ports.ts'
import { decodeTransaction } from '../../core/transaction-bytes.ts'
import { type Lamports, lamports, ZERO } from '../../core/units.ts'
import { TransactionBuilder } from '../../service/transaction-builder.ts'
import type { ServiceAccess } from '../../wiring/access/service-access.ts'
import { type Counting, counted } from '../counted-request.ts'
import { askedText } from './show.ts'

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

/** For each mint a buy, another for twice as much, which tells what is a share of it, and a sale of what the wallet holds. */
export async function takeSamples(parts: SampleParts, mints: readonly string[], amount: Lamports): Promise<Taken[]> {
  const { service, rpc, say } = parts
  const builder = builderOf(parts)
  const holdings = await readHoldings(rpc, service.wallet)
  const taken: Taken[] = []
  for (const mint of mints) {
    const sizes: Attempt['size'][] = [amount, lamports(amount * 2)].map((one) => ({ kind: 'sol', lamports: one }))
    if ((holdings.get(mint)?.tokens ?? 0n) > 0n) sizes.push({ kind: 'all' })
    for (const size of sizes) {
      const attempt = attemptOf(mint, size, taken.length + 1)
      const asked = askedText(attempt.side, mint, size.kind === 'sol' ? size.lamports : 0)
      say(`${taken.length + 1}. ${asked}`)
      taken.push({ asked, sample: await sampleOf(parts, builder, attempt) })
    }
  }
  return taken
}

async function sampleOf(parts: SampleParts, builder: TransactionBuilder, attempt: Attempt): Promise<Sample | string> {
  const built = await counted(parts.counting, () => builder.build(attempt))
  if (built === undefined) return 'no free request under the plan'
  // What the service says may repeat what it was sent.
  if (built.kind !== 'built')
    return parts.service.redact(built.kind === 'unsent' ? built.reason : `${built.code}: ${built.reason}`)
  const decoded = decodeTransaction(built.bytes)
  return decoded.ok ? readSample(parts, decoded.transaction, built.asked) : `${decoded.code}: ${decoded.reason}`
}

function builderOf({ service, http, clock, maxBuyLamports }: SampleParts): TransactionBuilder {
  return new TransactionBuilder({
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
function attemptOf(mint: string, size: Attempt['size'], number: number): Attempt {
  const isBuy = size.kind === 'sol'
  return {
    ...{ id: `sample.${number}`, orderId: 'sample', account: '', bot: '', executor: 'local', mint, size },
    ...{ side: isBuy ? 'buy' : 'sell', class: isBuy ? 'entry' : 'exit', slippagePercent: SLIPPAGE_PERCENT },
    ...{ priorityFeeLamports: null, price: null, armedAt: 0, baseline: null, state: 'built', signature: '', code: '' },
  }
}

/** What a sample may cost at most, where nothing else bounds it. */
export function boundOf({ asked }: Sample): bigint {
  return BigInt(asked.side === 'buy' ? asked.lamports : ZERO) * 2n + 20_000_000n
}
