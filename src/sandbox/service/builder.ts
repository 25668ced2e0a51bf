import { encodeBase58 } from '../../solana/base58.ts'
import type { Ambush } from '../chain/hostile-program.ts'
import { ATTACKS, type Attack } from '../chain/hostile-program.ts'
import { compileMessage, signMessage, type Table } from '../chain/message.ts'
import { draftOf } from '../chain/trade-draft.ts'
import type { Dialect } from '../dialect.ts'
import type { Fault, Faults } from '../faults.ts'
import type { Secret } from '../keys.ts'
import { savePool } from '../market/market.ts'
import type { Records } from '../records.ts'
import { type Answer, type Answers, json } from './answers.ts'
import { spoil } from './hostile-build.ts'
import type { BuyRequest, SellRequest } from './requests.ts'
import { type Priced, Pricing, type PricingOptions, type Refused } from './trading-desk.ts'

export interface BuilderOptions extends PricingOptions {
  answers: Answers
  faults: Faults
  records: Records
  /** Key of the service. In some dialects (variants of the protocol), the service also signs transactions. */
  coSigner: Secret
  ambush: Ambush
  table: Table
}

/** Value of `lastValidBlockHeight` under the fault `builtHeight`. */
const ABSURD_HEIGHT = 999_999_999_999
const EXPIRED_AFTER_SLOTS = 200
/** Number of Solana slots after which an attack starts. It starts in the next block, so that a simulation before that
 *  block shows an honest trade. */
const TRAP_DELAY_SLOTS = 1

/** Answers POST /transaction/buy and /transaction/sell with transactions that the client signs and sends. */
export class Builder {
  readonly #options: BuilderOptions
  readonly #pricing: Pricing
  #built = 0

  constructor(options: BuilderOptions) {
    this.#options = options
    this.#pricing = new Pricing(options)
  }

  buy(request: BuyRequest): Answer {
    return this.#build(() => this.#pricing.buy(request))
  }

  sell(request: SellRequest): Answer {
    return this.#build(() => this.#pricing.sell(request))
  }

  #build(price: () => Priced | Refused): Answer {
    const { answers, ledger, faults, dialect, records } = this.#options
    if (!ledger.runsBytes)
      return answers.refusal(
        'NOT_IMPLEMENTED',
        'this sandbox cannot build transactions: the Solana runtime (litesvm) is not installed',
      )
    const priced = price()
    if (!priced.ok) return answers.refusal(priced.code, priced.message)
    if (faults.strike('builtGarbage')) return json(200, { success: true, transaction: 'soon' })
    savePool(records, priced.token)
    const built = this.#transaction(priced)
    if (faults.strike('builtHeight')) built.lastValidBlockHeight = ABSURD_HEIGHT
    return builtAnswer(built, dialect)
  }

  #transaction({ token, trade }: Priced): Built {
    const { ledger, faults, dialect, tokenPrograms, coSigner, ambush, table } = this.#options
    const stale = faults.strike('builtStale')
    const slots = stale ? (stale.slots ?? EXPIRED_AFTER_SLOTS) : 0
    const { blockhash, lastValidBlockHeight } = ledger.lagging(slots, () => ledger.latestBlockhash('confirmed'))
    const number = this.#built++
    const parts = { dialect, tokenPrograms, table, blockhash, number, coSigner: coSigner.address }
    const honest = draftOf(trade, { ...parts, curve: token.curve })
    const hostile = faults.strike('builtHostile')
    if (hostile?.attack === 'opaque program')
      ambush.arm(theftOf(hostile), ledger.head('processed').slot + TRAP_DELAY_SLOTS)
    const secrets = new Map([[coSigner.address, coSigner]])
    const sign = (draft: typeof honest): Uint8Array => signMessage(compileMessage(draft), secrets)
    const bytes = hostile ? spoil(hostile.attack, { honest, trade, tokenPrograms, sign }) : sign(honest)
    return { bytes, lastValidBlockHeight }
  }
}

function theftOf({ theft }: Fault): Attack {
  return ATTACKS.find((one) => one === theft) ?? ATTACKS[0]
}

/** A built transaction before it is encoded. */
export interface Built {
  bytes: Uint8Array
  lastValidBlockHeight: number
}

/** Creates the answer of an endpoint that builds transactions. The service's document shows no such answer, so the
 *  dialects (variants of the protocol) use different plausible ones. */
function builtAnswer({ bytes, lastValidBlockHeight }: Built, dialect: Dialect): Answer {
  const { builtEncoding, builtShape, builtHeight } = dialect
  if (builtShape === 'raw') return { status: 200, body: bytes, headers: { 'content-type': 'application/octet-stream' } }
  const text = builtEncoding === 'base58' ? encodeBase58(bytes) : Buffer.from(bytes).toString('base64')
  if (builtShape === 'bareText') return { status: 200, body: text, headers: { 'content-type': 'text/plain' } }
  if (builtShape === 'bareJson') return json(200, text)
  const path = builtShape.split('.')
  const name = path.at(-1)!
  const height = builtHeight === 'told' ? { lastValidBlockHeight } : {}
  const value = builtShape === 'bytes' ? [...bytes] : text
  const inner: object = { [name]: value, ...height }
  return json(
    200,
    path.slice(0, -1).reduceRight<object>((nested, outer) => ({ [outer]: nested }), inner),
  )
}
