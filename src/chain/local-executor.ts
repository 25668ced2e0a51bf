import type { ErrorCode, Refusal } from '../base/errors.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Attempt, CalledOff } from '../orders/attempt.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import type { Executor, Outcome } from '../orders/ports.ts'
import type { Built } from '../orders/trade-request.ts'
import { encodeBase58 } from '../solana/base58.ts'
import { decodeTransaction, encodeTransaction, type TransactionBytes } from '../solana/transaction.ts'
import type { Resolver } from './resolver/resolver.ts'
import { Turns } from './rpc/order-turns.ts'
import type { Rpc } from './rpc/rpc.ts'
import { CheckRpcs } from './rpc/rpc.ts'
import type { Sender } from './sender.ts'
import type { Signer } from './signer/port.ts'
import type { Examination, Examine } from './verifier/checks-before-signing.ts'
import { GuardRoom, type Outgoing } from './verifier/guard-room.ts'

export interface LocalParts {
  readonly build: (attempt: Attempt) => Promise<Built>
  readonly policy: BuilderPolicy
  readonly policyHash: string
  /** RPC nodes in order of preference. */
  readonly rpcs: readonly Rpc[]
  readonly clock: Clock
  /** Rent-exempt minimum of a token account, as the chain reports it. */
  readonly rent: (rpc: Rpc) => Promise<bigint>
  /** `examine` of verifier/checks-before-signing.ts, a module that loads @solana/web3.js. */
  readonly examine: Examine
  readonly signer: Signer
  readonly sender: Sender
  readonly resolve: Pick<Resolver, 'begin' | 'resume' | 'signedBytes' | 'isKnown'>
  /** Returns the maximum numbers of lamports that may leave the wallet until this attempt has ended: for its own order,
   *  and for the other orders of the wallet. */
  readonly room: (attempt: Attempt) => Outgoing
  /** Reason why the order must no longer be signed or sent; undefined if there is none. */
  readonly refusalOf: (orderId: string) => CalledOff | 'TTL' | undefined
  /** Makes all written records durable, then calls `then`. */
  readonly commit: (then: () => void) => void
  /** Stores a refused transaction for inspection. */
  readonly keep: (why: string, bytes: Uint8Array) => void
}

/** A buy that an earlier process signed is sent again only if its decision is at most this old. */
const FRESH_MS = 3_000
/** Error codes of temporary refusals. The service builds another transaction for a retry, which may pass the check. */
const PASSES: ReadonlySet<ErrorCode> = new Set(['BLOCKHASH_UNKNOWN', 'CHAIN_SILENT', 'EXPIRY_IMPLAUSIBLE', 'MIN_OUT'])

/** Outcomes after which the attempt's transaction may still change the wallet. */
const STILL_OUT: ReadonlySet<Outcome['kind']> = new Set(['verified', 'signed', 'sent', 'unknown'])

type Refused = Extract<Outcome, { kind: 'refused' }>

/** Executes orders for which the service only builds the transaction. The transaction is compared with the order,
 *  signed by the signer and made durable. Then the same bytes are sent over the configured RPCs until they land or
 *  expire. A transaction that is not signed cannot execute, so every step up to the signature may be retried. After the
 *  signature, only this one transaction can execute the attempt. */
export class LocalExecutor implements Executor {
  readonly #parts: LocalParts
  readonly #checkRpcs: CheckRpcs
  /** Set if the policy lists an opaque program, whose instructions Sluice cannot decode. The orders of the wallet then
   *  take turns. The reason is the guard in the transaction of such a program, an instruction that checks the wallet's
   *  balance: it would fail if another order of the wallet spent at the same time. */
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

  /** Sends a signed transaction again if that still makes sense. A sale is always sent again, a buy only while its
   *  decision is fresh. */
  resume(attempt: Attempt, done: (outcome: Outcome) => void): void {
    const { resolve, clock } = this.#parts
    const bytes = attempt.executor === 'local' ? resolve.signedBytes(attempt.id) : undefined
    const isFresh =
      attempt.side === 'sell' || (clock.now() - attempt.armedAt <= FRESH_MS && !this.#isCalledOff(attempt))
    if (bytes === undefined || !isFresh) resolve.resume(attempt, done)
    else {
      const sending = this.#sending(attempt, bytes, attempt.signature, done)
      resolve.resume(attempt, sending.report)
      sending.start()
    }
  }

  async #carryOut(attempt: Attempt, report: (outcome: Outcome) => void): Promise<void> {
    const built = await this.#parts.build(attempt)
    if (built.kind !== 'built') {
      report(built)
      return
    }
    const endTurn = await this.#turns?.take(attempt.orderId, attempt.side === 'sell')
    const done = (outcome: Outcome): void => {
      if (!STILL_OUT.has(outcome.kind)) endTurn?.()
      report(outcome)
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
    // The transaction is signed but was not sent, so it cannot reach the chain, and the order can still be refused.
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
    const resolution = resolve.begin(attempt, sending.report)
    resolution.signed(signature, lastHeight as number, bytes)
    commit(() => {
      resolution.sent()
      // The order may have been called off during the commit. The transaction is then not sent. Like every transaction
      // that does not land, it is later proved expired.
      if (refusalOf(attempt.orderId) === undefined) sending.start()
    })
  }

  #isCalledOff({ orderId }: Attempt): boolean {
    const refusal = this.#parts.refusalOf(orderId)
    return refusal !== undefined && refusal !== 'TTL'
  }

  /** Sends the bytes until an outcome of the attempt is seen. Sending ends early if the order is called off, for
   *  example by a full exit of its mint or a halt. */
  #sending(
    attempt: Attempt,
    bytes: string,
    signature: string,
    done: (outcome: Outcome) => void,
  ): { report: (outcome: Outcome) => void; start: () => void } {
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
      report: (outcome) => {
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

/** Refusals of an order that was called off before its transaction was sent. The transaction may already be signed. */
const LATE: Readonly<Record<CalledOff | 'TTL', Refused>> = {
  TTL: {
    kind: 'refused',
    code: 'TTL',
    reason: 'building and checking the transaction took longer than the time to live of the order',
    retry: 'wait',
  },
  EXIT_UNPROVED: {
    ...{ kind: 'refused', code: 'EXIT_UNPROVED', retry: 'wait' },
    reason: 'a full exit of the mint was accepted while the order was built, checked and signed',
  },
  HALTED: {
    ...{ kind: 'refused', code: 'HALTED', retry: 'wait' },
    reason: 'entries were halted while the order was built, checked and signed',
  },
  DISK_LOW: {
    ...{ kind: 'refused', code: 'DISK_LOW', retry: 'wait' },
    reason: 'the disk that holds the journal ran low on space while the order was built, checked and signed',
  },
}

/** Refusal of a transaction with the same terms and the same blockhash as an earlier one, and therefore the same bytes.
 *  A retry gets the next blockhash, which makes a different transaction. */
const SAME_BYTES: Refused = {
  ...{ kind: 'refused', code: 'SAME_BYTES', retry: 'wait' },
  reason: 'the service built the same transaction again, which was already sent',
}

/** Refuses a transaction whose last valid block height was already final before the transaction was built. Such a
 *  height must be wrong. If it were accepted, the transaction would count as expired although it can still land. */
function pastExpiry({ baseline }: Attempt, { lastHeight }: Examination): Refusal | undefined {
  if (baseline === null || (lastHeight as number) > baseline.height) return undefined
  const reason = `the node reports ${lastHeight} as last valid block height, but block ${baseline.height} was already final`
  return { code: 'EXPIRY_IMPLAUSIBLE', reason }
}

function refusedFor({ code, reason }: Refusal): Refused {
  if (code === 'SLIPPAGE_EXCEEDED') return { kind: 'refused', code, reason, retry: 'slippage' }
  return { kind: 'refused', code, reason, retry: PASSES.has(code) ? 'wait' : 'never' }
}

function retryOf(code: ErrorCode): Refused['retry'] {
  return code === 'SIGNER_DOWN' ? 'wait' : 'never'
}

/** Returns the transaction with the wallet's signature, which comes first because the wallet is the fee payer. */
function signedTransaction({ signatures, message }: TransactionBytes, signature: Uint8Array): Uint8Array {
  return encodeTransaction({ signatures: [signature, ...signatures.slice(1)], message })
}
