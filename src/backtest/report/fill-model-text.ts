import { formatSol } from '../../base/units.ts'
import { type FillModel, FREE_FILL_MODEL } from '../../engine/accounting/fill-assumptions.ts'
import { networkFee } from '../../simulation/fill-model.ts'

interface ModelText {
  readonly assumed: string[]
  readonly limits: string[]
}

/** Describes the fill models of the given bots in sentences: their assumptions and their limits. If a sentence applies
 *  to only one of several bots, it begins with the name of that bot. */
export function fillModelSentences(bots: readonly { readonly name: string; readonly model: FillModel }[]): ModelText {
  const [first, ...others] = bots.map(({ name, model }) => ({ name, ...sentencesOf(model) }))
  if (first === undefined) return { assumed: [], limits: [] }
  const own = others.flatMap(({ name, assumed }) =>
    assumed.filter((sentence) => !first.assumed.includes(sentence)).map((sentence) => `${name}: ${sentence}`),
  )
  const whose =
    own.length === 0
      ? []
      : [`Assumptions of ${first.name}; the other bots differ where a sentence begins with their name.`]
  return { assumed: [...whose, ...first.assumed, ...own], limits: first.limits }
}

function sentencesOf(model: FillModel): ModelText {
  const { venueFeePercent, serviceFeePercent } = model
  const rent = formatSol(model.rentLamports)
  return {
    assumed: [
      ...landingSentences(model),
      ...impactSentences(model),
      `The venue takes ${rounded(venueFeePercent)} % each way and the service ${rounded(serviceFeePercent)} %. Each transaction, even a failed one, costs ${formatSol(networkFee(null, model))} SOL if the service chooses the priority fee. A token account costs ${rent} SOL of rent until its last token is sold.`,
      'After a gap of the feed, no order is filled at prices from before the gap: a sale waits for new prints.',
      ...worthlessSentences(model),
      'Open positions count at their liquidation value, before network fee and rent, at the lower of the robust price and the price of their exits.',
    ],
    limits: [
      'Traders on the tape do not react to these orders.',
      "The service's document names no fee: unless it is measured (--calibrate), the fee is a guess (`paper.serviceFeePercent`).",
      'Strategies start without a warm-up, because there is no tape before the start; with --from, the tape before that time is the warm-up.',
      'One tape is one market: parameters that were chosen on this tape will do worse on the next one.',
    ],
  }
}

function landingSentences(model: FillModel): string[] {
  const { latencyMs, slotMs, landingFailurePercent, crowdPrints, noisePercent } = model
  const isAtOnce = latencyMs.p95 === 0 && slotMs === 0
  return [
    isAtOnce
      ? 'Each order lands at the time at which it is sent.'
      : `Half of the orders land within ${seconds(latencyMs.p50)} of being sent, 95 % within ${seconds(latencyMs.p95)}, plus one Solana slot of ${seconds(slotMs)}.`,
    landingFailurePercent === 0
      ? 'Every transaction lands.'
      : `${rounded(landingFailurePercent)} % of the orders never land in a quiet market. If a token has ${crowdPrints} prints per Solana slot, this share doubles; if an order pays a quarter of the usual priority fee, it doubles too.`,
    isAtOnce
      ? 'An order is filled at the price after the last sized print (0.01 SOL or more). If that price is beyond the slippage limit of the order, the order fails and pays its fee.'
      : 'An order is filled at the worst price that its pool had in the Solana slot in which the order landed, beginning with the price after the last sized print (0.01 SOL or more) before that slot. If that price is beyond the slippage limit of the order, the order fails and pays its fee.',
    noisePercent >= FREE_FILL_MODEL.noisePercent
      ? 'Each sized print (0.01 SOL or more) becomes the price immediately, even if it is far from the print before it.'
      : `A print fits if its trade began within ${rounded(noisePercent)} % of the price at which the trade before it ended. A print that does not fit is only a possible price, until a print that fits refutes it. After three prints in a row that do not fit, the last one becomes the price.`,
  ]
}

function impactSentences({ impact, impactHalvesAfterPools }: FillModel): string[] {
  if (impact === 'none')
    return [
      "No order moves a price: pools are assumed to have unlimited depth, and the price after a print is the print's own price.",
    ]
  return [
    "Every pool is assumed to hold a constant product of SOL and tokens. If the launch of a token is on the tape and its price never exceeded the end of pump.fun's curve, its depth follows from its price. For any other token, the depth is the lower quartile of the estimates from consecutive prints, but at most the depth of a pool just after its migration. Buys in a pool of unknown depth are refused (DEPTH_UNKNOWN).",
    `An order pays its own price impact in full. Earlier orders of the same side add to the impact, as if all were one order; orders of the other side reduce it. The impact halves each time that others have traded ${rounded(impactHalvesAfterPools)} times the SOL of the pool.`,
    'Sales have price impact: each sale is filled against the liquidity that the pool still has.',
  ]
}

function worthlessSentences({ deadAfterMs, honeypot }: FillModel): string[] {
  const isMortal = deadAfterMs < FREE_FILL_MODEL.deadAfterMs
  const canTrap = honeypot.buys < FREE_FILL_MODEL.honeypot.buys
  return [
    isMortal
      ? `A token without a sized print (0.01 SOL or more) for ${seconds(deadAfterMs)} is worth nothing.`
      : 'A token keeps its last price even if it has no print for a long time.',
    canTrap
      ? `A token with at least ${honeypot.buys} buys can be sold only if other traders have sold it at least twice, and if the number of sales is at least ${honeypot.salesPercent} % of the number of buys.`
      : 'Every token can be sold.',
  ]
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}

function rounded(percent: number): number {
  return Math.round(percent * 100) / 100
}
