import type { ErrorCode, Refusal } from '../base/errors.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Built } from '../orders/asked-trade.ts'
import type { Attempt, CalledOff } from '../orders/attempt.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import type { Executor, Outcome } from '../orders/ports.ts'
import { encodeBase58 } from '../solana/base58.ts'
import { decodeTransaction, encodeTransaction, type TransactionBytes } from '../solana/transaction.ts'
import type { Resolver } from './resolver/resolver.ts'
import type { Rpc } from './rpc/rpc.ts'
import { CheckRpcs } from './rpc/rpc.ts'
import { Turns } from './rpc/turns.ts'
import type { Sender } from './sender.ts'
import type { Signer } from './signer/signer.ts'
import type { Examination, Examine } from './verifier/examine.ts'
import { GuardRoom, type Outgoing } from './verifier/guard-room.ts'

export interface LocalParts {
  readonly build: (attempt: Attempt) => Promise<Built>
  readonly policy: BuilderPolicy
  readonly policyHash: string
  /** In the order of preference. */
  readonly rpcs: readonly Rpc[]
  readonly clock: Clock
  /** Rent of a token account, as the chain has it. */
  readonly rent: (rpc: Rpc) => Promise<bigint>
  /** `examine` of verifier/examine.ts, which loads @solana/web3.js. */
  readonly examine: Examine
  readonly signer: Signer
  readonly sender: Sender
  readonly resolve: Pick<Resolver, 'begin' | 'resume' | 'signedBytes' | 'isKnown'>
  /** What this order may cost at most, and what the other open orders of the wallet may take meanwhile, lamports. */
  readonly room: (attempt: Attempt) => Outgoing
  /** Why the order may not be signed or sent any more. */
  readonly refusalOf: (orderId: string) => CalledOff | 'TTL' | undefined
  /** All that was written becomes durable. */
  readonly commit: (then: () => void) => void
  /** What was not signed is kept for a person to look at. */
  readonly keep: (why: string, bytes: Uint8Array) => void
}

/** A signed buy of an earlier process is sent again only so long after it was decided on. */
const FRESH_MS = 3_000
/** It may be otherwise in a moment, or with what the builder builds next. */
const PASSES: ReadonlySet<ErrorCode> = new Set(['BLOCKHASH_UNKNOWN', 'CHAIN_SILENT', 'EXPIRY_IMPLAUSIBLE', 'MIN_OUT'])

/** It may still land, and change what the wallet holds. */
const STILL_OUT: ReadonlySet<Outcome['kind']> = new Set(['verified', 'signed', 'sent', 'unknown'])

type Refused = Extract<Outcome, { kind: 'refused' }>

/** Orders that the service only builds: what it built is held against the order, signed here, made durable, and sent
 *  over our own RPC, the same bytes until they land or can not any more. Until it is signed nothing of an attempt can
 *  execute, so that all of that may be tried again; from then on its signature is known, and one transaction is all
 *  that it can be. */
export class LocalExecutor implements Executor {
  readonly #parts: LocalParts
  readonly #checkRpcs: CheckRpcs
  /** Where the policy names a program that is not understood: its floor leaves no room for other orders of the
   *  wallet. */
  readonly #turns: Turns | undefined

  constructor(parts: LocalParts) {
    this.#parts = parts
    this.#checkRpcs = new CheckRpcs(parts.rpcs, parts.clock)
    const isOpaque = parts.policy.programs.some(({ decode }) => decode === 'opaque')
    this.#turns = isOpaque ? new Turns(parts.clock) : undefined
  }

  execute(attempt: Attempt, done: (outcome: Outcome) => void): void {
    void this.#carryOut(attempt, done)
  }

  /** What was signed is sent on where it still makes sense: a sale always, a buy while what it was decided on is
   *  fresh. */
  resume(attempt: Attempt, done: (outcome: Outcome) => void): void {
    const { resolve, clock } = this.#parts
    const bytes = attempt.executor === 'local' ? resolve.signedBytes(attempt.id) : undefined
    const isFresh =
      attempt.side === 'sell' || (clock.now() - attempt.armedAt <= FRESH_MS && !this.#isCalledOff(attempt))
    if (bytes === undefined || !isFresh) resolve.resume(attempt, done)
    else {
      const sending = this.#sending(attempt, bytes, attempt.signature, done)
      resolve.resume(attempt, sending.told)
      sending.start()
    }
  }

  async #carryOut(attempt: Attempt, told: (outcome: Outcome) => void): Promise<void> {
    const built = await this.#parts.build(attempt)
    if (built.kind !== 'built') {
      told(built)
      return
    }
    const endTurn = await this.#turns?.take(attempt.orderId, attempt.side === 'sell')
    const done = (outcome: Outcome): void => {
      if (!STILL_OUT.has(outcome.kind)) endTurn?.()
      told(outcome)
    }
    const checked = await this.#check(attempt, built)
    if ('code' in checked) {
      this.#parts.keep(`${attempt.id}: ${checked.code}: ${checked.reason}`, built.bytes)
      done(refusedFor(checked))
      return
    }
    done({ kind: 'verified' })
    await this.#sign(attempt, checked, done)
  }

  async #check(attempt: Attempt, built: Extract<Built, { kind: 'built' }>): Promise<Examination | Refusal> {
    const { policy, clock, rent, room, examine } = this.#parts
    const decoded = decodeTransaction(built.bytes)
    if (!decoded.ok) return decoded
    const { rpc, end } = this.#checkRpcs.begin()
    const examination = await examine({
      ...{ transaction: decoded.transaction, asked: built.asked, policy },
      chain: { rpc, clock, rent },
      lastValidBlockHeight: built.lastValidBlockHeight,
      guard: new GuardRoom(policy.guard, () => room(attempt)),
    })
    end()
    return examination.refusals[0] ?? pastExpiry(attempt, examination) ?? examination
  }

  async #sign(attempt: Attempt, examination: Examination, done: (outcome: Outcome) => void): Promise<void> {
    const { signer, resolve, commit, refusalOf, policyHash } = this.#parts
    const { transaction, guarded, bound, lastHeight } = examination
    const refusal = refusalOf(attempt.orderId)
    if (refusal !== undefined) {
      done(LATE[refusal])
      return
    }
    const signed = await signer.sign({
      ...{ orderId: attempt.orderId, attemptId: attempt.id, policyHash, guarded },
      message: transaction.messageBytes,
      boundLamports: bound as bigint,
    })
    if (!signed.ok) {
      done({ kind: 'refused', code: signed.code, reason: signed.reason, retry: retryOf(signed.code) })
      return
    }
    // Signed, and not out: nobody will ever see it.
    const late = refusalOf(attempt.orderId)
    if (late !== undefined) {
      done(LATE[late])
      return
    }
    const signature = encodeBase58(signed.signature)
    if (resolve.isKnown(signature)) {
      done(SAME_BYTES)
      return
    }
    const bytes = Buffer.from(signedTransaction(transaction, signed.signature)).toString('base64')
    const sending = this.#sending(attempt, bytes, signature, done)
    const resolution = resolve.begin(attempt, sending.told)
    resolution.signed(signature, lastHeight as number, bytes)
    commit(() => {
      resolution.sent()
      // A commit may take long. What is not sent any more is proved expired like what never lands.
      if (refusalOf(attempt.orderId) === undefined) sending.start()
    })
  }

  #isCalledOff({ orderId }: Attempt): boolean {
    const refusal = this.#parts.refusalOf(orderId)
    return refusal !== undefined && refusal !== 'TTL'
  }

  /** Sends for as long as nothing has been seen of it; a buy not after a full exit of its mint, or a halt. */
  #sending(
    attempt: Attempt,
    bytes: string,
    signature: string,
    done: (outcome: Outcome) => void,
  ): { told: (outcome: Outcome) => void; start: () => void } {
    let stop: Cancel | undefined
    let isStarted = false
    const goOn = (): void => {
      if (isStarted) stop ??= this.#parts.sender.send(bytes, signature, () => !this.#isCalledOff(attempt))
    }
    return {
      start: () => {
        isStarted = true
        goOn()
      },
      told: (outcome) => {
        if (outcome.kind === 'unknown') goOn()
        else if (outcome.kind !== 'signed' && outcome.kind !== 'sent') {
          stop?.()
          stop = undefined
          if (!('final' in outcome) || outcome.final) isStarted = false
        }
        done(outcome)
      },
    }
  }
}

/** Not signed, or signed and never out. */
const LATE: Readonly<Record<CalledOff | 'TTL', Refused>> = {
  TTL: { kind: 'refused', code: 'TTL', reason: 'building and checking took too long', retry: 'wait' },
  EXIT_UNPROVED: {
    ...{ kind: 'refused', code: 'EXIT_UNPROVED', retry: 'wait' },
    reason: 'a full exit of its mint was accepted while it was built, checked and signed',
  },
  HALTED: {
    ...{ kind: 'refused', code: 'HALTED', retry: 'wait' },
    reason: 'entries were halted while it was built, checked and signed',
  },
  DISK_LOW: {
    ...{ kind: 'refused', code: 'DISK_LOW', retry: 'wait' },
    reason: 'the disk that holds the journal ran low while it was built, checked and signed',
  },
}

/** On the same blockhash, for the same terms: another one comes with the next blockhash. */
const SAME_BYTES: Refused = {
  ...{ kind: 'refused', code: 'SAME_BYTES', retry: 'wait' },
  reason: 'it would be the same transaction as one that is out',
}

/** The wallet has seen later heights become final than that at which it could still land: a node that says so would
 *  have it proved expired while it is on its way. */
function pastExpiry({ baseline }: Attempt, { lastHeight }: Examination): Refusal | undefined {
  if (baseline === null || (lastHeight as number) > baseline.height) return undefined
  const reason = `the node says that it may land up to height ${lastHeight}, and ${baseline.height} was final before it was built`
  return { code: 'EXPIRY_IMPLAUSIBLE', reason }
}

function refusedFor({ code, reason }: Refusal): Refused {
  if (code === 'SLIPPAGE_EXCEEDED') return { kind: 'refused', code, reason, retry: 'slippage' }
  return { kind: 'refused', code, reason, retry: PASSES.has(code) ? 'wait' : 'never' }
}

function retryOf(code: ErrorCode): Refused['retry'] {
  return code === 'SIGNER_DOWN' ? 'wait' : 'never'
}

/** The wallet pays, so that its signature is the first. */
function signedTransaction({ signatures, message }: TransactionBytes, signature: Uint8Array): Uint8Array {
  return encodeTransaction({ signatures: [signature, ...signatures.slice(1)], message })
}
