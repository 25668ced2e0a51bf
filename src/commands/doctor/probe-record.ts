import type { ServiceProof } from '../../core/learned.ts'
import type { Fill } from '../../core/order.ts'
import { formatSol, lamports, wholeTokens } from '../../core/units.ts'
import { median } from './probe-verdicts.ts'
import type { ProbeOrder, ProbeWatch } from './probe-watch.ts'

/** One order of the probe, as it is shown. */
export interface Step {
  readonly name: string
  readonly order: string
  readonly outcome: string
  /** What the chain says was done; '' where nothing was. */
  readonly done: string
  readonly latencyMs: ServiceProof['latencyMs']
}

/** What the steps of a probe have shown so far. */
export type Shown = Pick<ServiceProof, 'sellNumber' | 'tradeAmount' | 'sales'>

export function stepOf(name: string, id: string, order: ProbeOrder): Step {
  const { armedAt, answeredAt, seenAt, finalAt, fills, state, code } = order
  const since = (at: number | undefined): number | null => {
    return at === undefined || armedAt === undefined ? null : Math.round(at - armedAt)
  }
  const [fill] = fills.values()
  const tokens = fill === undefined ? 0 : wholeTokens(tokensOf(order), fill.decimals)
  const sol = [...fills.values()].reduce((sum, { tradeLamports }) => sum + tradeLamports, 0)
  return {
    name,
    order: id,
    outcome: code === '' ? state : `${state} ${code}`,
    done: fill === undefined ? '' : `${tokens} tokens for ${formatSol(sol)} SOL`,
    latencyMs: {
      answer: since(answeredAt),
      confirmed: fill === undefined ? null : since(seenAt),
      final: since(finalAt),
    },
  }
}

export function proofFrom(
  watch: ProbeWatch,
  fills: readonly Fill[],
  steps: readonly Step[],
  shown: Shown,
): ServiceProof {
  const sum = (of: (fill: Fill) => number): number => fills.reduce((total, fill) => total + of(fill), 0)
  const latency = (of: keyof ServiceProof['latencyMs']): number | null => {
    return median(steps.flatMap(({ latencyMs }) => latencyMs[of] ?? []))
  }
  const { quotedRatio } = watch.quoted.units
  return {
    ...shown,
    quotedPerSol: Number.isFinite(quotedRatio) ? Number(quotedRatio.toPrecision(4)) : null,
    signatureField: watch.signatureField,
    feeLamports: lamports(sum(({ feeLamports }) => feeLamports)),
    rentLamports: lamports(sum(({ rentLamports }) => rentLamports)),
    lossLamports: lamports(sum(({ side, tradeLamports }) => (side === 'buy' ? tradeLamports : -tradeLamports))),
    latencyMs: { answer: latency('answer'), confirmed: latency('confirmed'), final: latency('final') },
  }
}

/** Base units. */
export function tokensOf({ fills }: ProbeOrder): bigint {
  return [...fills.values()].reduce((sum, { tokens }) => sum + tokens, 0n)
}
