import { TOKEN_ACCOUNT_RENT } from '../core/risk.ts'
import { formatSol, lamports } from '../core/units.ts'
import type { FillModel } from '../simulation/fill-model.ts'
import { networkFee } from '../simulation/fill-model.ts'

/** By what simulated orders are filled, in sentences: what is assumed, and what that cannot say. */
export function fillModelSentences(model: FillModel): { readonly assumed: string[]; readonly limits: string[] } {
  const { latencyMs, landingFailurePercent, venueFeePercent, serviceFeePercent, deadAfterMs } = model
  const seconds = (ms: number): string => `${ms / 1000} s`
  const rent = formatSol(lamports(TOKEN_ACCOUNT_RENT))
  return {
    assumed: [
      `Half of the orders land within ${seconds(latencyMs.p50)} of being sent, 95 % within ${seconds(latencyMs.p95)}, plus one slot.`,
      `${rounded(landingFailurePercent)} % never land where nobody else trades; with four prints a slot twice as many, with a quarter of the usual priority fee twice as many again.`,
      'Each is filled at the worst sized print from its decision until it landed, never at the one that it was decided on; it fails, and pays its fee, where that is beyond its slippage. A print more than twice off its neighbours counts only once others confirm it.',
      "Depth is a constant product: pump.fun's curve, inverted from the price, until a token was once dearer than the curve goes; then the lower quarter of what consecutive prints say of the pool, at most that of a fresh migration. Nothing is bought into a pool of which nothing is known (DEPTH_UNKNOWN).",
      "An order's own impact is paid in full and forgotten by the next one.",
      `The venue takes ${rounded(venueFeePercent)} % each way and the service ${rounded(serviceFeePercent)} %; a transaction, failed ones too, costs ${formatSol(networkFee(null, model))} SOL where the service chooses the priority fee; a token account ${rent} SOL of rent until its last token is sold.`,
      'After a gap of the feed nothing is filled at prices from before it: a sale waits for new prints.',
      'A sale that takes half of a pool leaves what the pool has left, at once.',
      `A token without a sized print for ${seconds(deadAfterMs)} is worth nothing, nor is one that twenty bought and nobody sold for a minute: that one cannot be sold at all.`,
      'What is still open is counted at what selling it would bring, network fee and rent aside.',
    ],
    limits: [
      'Nobody on the tape reacts to these orders.',
      "The service's document names no fee: unless it was measured (--calibrate), what is charged is a guess (`paper.serviceFeePercent`).",
      'Where the tape begins, strategies start without a warm-up; with --from they are shown that of the tape before it.',
      'One tape is one market: parameters that were chosen on it will do worse on the next.',
    ],
  }
}

function rounded(percent: number): number {
  return Math.round(percent * 100) / 100
}
