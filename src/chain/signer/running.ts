import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Cancel, Clock } from '../../base/machine.ts'
import { encodeBase58 } from '../../solana/base58.ts'
import { ANSWER_MS, down, type Line, SignerClient } from './client.ts'
import type { Signer, SignRequest, SignResult } from './port.ts'

export interface RunningSigner extends Signer {
  /** Public key of the wallet, base58. */
  readonly wallet: string
  /** Closes the connection, and ends the signer if it is a child process. A request without an answer then stays
   *  unsigned. */
  close(): Promise<void>
}

export interface RunningParts {
  readonly dial: () => Line
  /** Expected wallet; if absent, the wallet that the signer names first is expected from then on. */
  readonly wallet?: string
  readonly retries: Retries
  readonly clock: Clock
  /** Receives one line when the signer stops or becomes available again. */
  readonly tell: (line: string) => void
}

/** Restart policy. The first restart is immediate, later ones follow after `spacingMs`, and at most `mostPerMinute`
 *  happen per minute. */
export interface Retries {
  readonly spacingMs: number
  readonly mostPerMinute: number
}

const MINUTE_MS = 60_000

/** Connects to a signer, and reconnects if the connection ends. Throws a SluiceError if the first connection fails. */
export async function keepRunning(parts: RunningParts): Promise<RunningSigner> {
  const signer = new KeptSigner(parts)
  try {
    await signer.open()
  } catch (error) {
    await signer.close()
    throw error
  }
  return signer
}

class KeptSigner implements RunningSigner {
  wallet = ''
  readonly #parts: RunningParts
  /** The newest connection, even if its signer has not sent a first message yet. */
  #dialed: SignerClient | undefined
  #client: SignerClient | undefined
  #reopening: Promise<void> | undefined
  /** Number of restarts within the last minute. */
  #tries = 0
  #isWaiting = false
  #isClosed = false
  #why = ''
  readonly #timers = new Set<Cancel>()

  constructor(parts: RunningParts) {
    this.#parts = parts
  }

  async sign(request: SignRequest): Promise<SignResult> {
    if (this.#client === undefined) await this.#soon(this.#reopening)
    return this.#client === undefined ? down(this.#why) : this.#client.ask(request)
  }

  async open(): Promise<void> {
    const { dial, clock, wallet = this.wallet } = this.#parts
    let isGone = false
    const client: SignerClient = new SignerClient(dial(), clock, (why) => {
      isGone = true
      this.#lost(client, why)
    })
    this.#dialed = client
    const begun = await client.begin()
    if (begun.kind === 'failed') {
      await client.end(begun.reason)
      throw new SluiceError(begun.reason, begun.exitCode === 0 ? ExitCode.failed : begun.exitCode)
    }
    const found = encodeBase58(begun.publicKey)
    if (wallet !== '' && found !== wallet) {
      await client.end('the signer has the key of another wallet')
      throw new SluiceError(
        `the signer has the key of ${found}, but the configured wallet is ${wallet}`,
        ExitCode.usage,
      )
    }
    this.wallet = found
    if (!isGone && !this.#isClosed) this.#client = client
    else await client.end('it ended')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#why = 'it was closed'
    for (const cancel of this.#timers) cancel()
    this.#client = undefined
    await this.#dialed?.end(this.#why)
    await this.#reopening
  }

  /** Waits until `done` resolves, but at most for the time limit of a signer's answer. */
  #soon(done: Promise<void> | undefined): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(ANSWER_MS, resolve)
      void done?.then(() => {
        cancel()
        resolve()
      })
      if (done !== undefined) return
      cancel()
      resolve()
    })
  }

  #lost(client: SignerClient, why: string): void {
    if (this.#client !== client || this.#isClosed) return
    this.#client = undefined
    this.#parts.tell(`the signer is down: ${why}`)
    this.#down(why)
  }

  #down(why: string): void {
    this.#why = why
    const { spacingMs, mostPerMinute } = this.#parts.retries
    const again = (): void => {
      this.#reopening = this.#reopen()
    }
    if (this.#tries >= mostPerMinute) this.#isWaiting = true
    else if (this.#tries === 0 || spacingMs === 0) again()
    else this.#after(spacingMs, again)
  }

  #after(ms: number, run: () => void): void {
    const cancel = this.#parts.clock.after(ms, () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
  }

  async #reopen(): Promise<void> {
    this.#tries++
    this.#after(MINUTE_MS, () => {
      this.#tries--
      if (!this.#isWaiting) return
      this.#isWaiting = false
      this.#reopening = this.#reopen()
    })
    try {
      await this.open()
      if (this.#client !== undefined) this.#parts.tell('the signer is up again')
      else if (!this.#isClosed) this.#down('it ended during its start')
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      if (!this.#isClosed) this.#down(error.message)
    }
  }
}
