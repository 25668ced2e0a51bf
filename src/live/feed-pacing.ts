import Bottleneck from 'bottleneck'
import { evenly, Pace, TURN } from './rpc-pacing.ts'

/** Spaces the outgoing WebSocket messages of one connection evenly. The plan's rate may change. */
export class MessagePacer {
  readonly #bottleneck: Bottleneck

  /** `perSecond`: messages per second of the plan. */
  constructor(perSecond: number) {
    this.#bottleneck = new Bottleneck(evenly(perSecond))
  }

  /** Runs `send` when its turn comes. */
  async run<T>(send: () => Promise<T> | T, priority: Pace = Pace.normal): Promise<T> {
    await this.#bottleneck.schedule({ priority }, TURN)
    return send()
  }

  setPerSecond(perSecond: number): void {
    this.#bottleneck.updateSettings(evenly(perSecond))
  }
}
