import type { Config } from '../config/config.ts'
import type { ServiceProof } from '../core/learned.ts'
import type { StartInput } from '../core/messages.ts'

/** What a segment begins with that its configuration does not say. */
export interface Beginning
  extends Pick<StartInput, 'segment' | 'code' | 'bots' | 'plan' | 'money' | 'stopped' | 'warm'> {
  /** What was proved of this service's units. */
  readonly proof?: ServiceProof | undefined
}

/** Shows strategies nothing of the tape. */
export const NOT_WARM: StartInput['warm'] = { from: 1, to: 0 }

/** What a segment begins with, live, in a backtest and in a test of a strategy. */
export function startInput({ hash, service, lists }: Config, beginning: Beginning): StartInput {
  const { segment, code, bots, plan, money, stopped, warm, proof } = beginning
  const { tradePrice, tradeAmount } = service.units
  return {
    ...{ kind: 'start', segment, config: hash, code, seed: 1, bots, plan },
    units: { tradePrice, tradeAmount: tradeAmount === 'auto' ? (proof?.tradeAmount ?? 'auto') : tradeAmount },
    money,
    ...(stopped !== undefined && { stopped }),
    ...(lists.size > 0 && { lists: Object.fromEntries(lists) }),
    warm,
  }
}
