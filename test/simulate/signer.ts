import { sign } from 'node:crypto'
import type { Clock } from '../../src/base/machine.ts'
import type { RunningSigner } from '../../src/chain/signer/running.ts'
import { BUILT_IN_POLICY, type BuilderPolicy } from '../../src/orders/builder-policy.ts'
import { POOL_PROGRAM } from '../../src/sandbox/chain/pool-program.ts'
import type { Draws } from '../../src/sandbox/draws.ts'
import { OWNER } from './ledger.ts'
import type { Scenario } from './scenario.ts'

/** Policy that permits the transactions of the simulated builder. */
export const POLICY: BuilderPolicy = {
  ...BUILT_IN_POLICY,
  programs: [{ id: POOL_PROGRAM, decode: 'pump' }],
  sellNumber: 'tokens',
}

export interface SignerParts {
  readonly clock: Clock
  readonly draws: Draws
  readonly scenario: Scenario
  readonly note: (what: string) => void
  readonly answered: () => void
}

/** The simulated process that holds the key. At times it is slow or does not run. */
export class SimulatedSigner {
  readonly #parts: SignerParts
  #isDown = false

  constructor(parts: SignerParts) {
    this.#parts = parts
  }

  /** Called once per second. At random times, a running signer ends, and a signer that has ended starts again. */
  tick(): void {
    const { draws, scenario, note } = this.#parts
    const isDown = this.#isDown ? draws.chance(0.8) : draws.chance(scenario.local.signerDies)
    if (isDown !== this.#isDown) note(`signer: ${isDown ? 'dead' : 'running again'}`)
    this.#isDown = isDown
  }

  heal(): void {
    this.#isDown = false
  }

  port(isAlive: () => boolean): RunningSigner {
    const { clock, draws, answered } = this.#parts
    return {
      wallet: OWNER.address,
      close: async () => {},
      sign: ({ message }) =>
        new Promise((resolve) => {
          clock.after(1 + draws.integer(draws.chance(0.05) ? 3_000 : 10), () => {
            if (!isAlive()) return
            answered()
            if (this.#isDown) resolve({ ok: false, code: 'SIGNER_DOWN', reason: 'the signer is dead' })
            else resolve({ ok: true, signature: new Uint8Array(sign(null, message, OWNER.key)) })
          })
        }),
    }
  }
}
