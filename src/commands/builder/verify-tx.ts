import { readFileSync, statSync } from 'node:fs'
import { styleText } from 'node:util'
import { ERRORS, ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { formatSol, lamportsToSol } from '../../base/units.ts'
import { type Examination, examine } from '../../chain/verifier/checks-before-signing.ts'
import { NOTHING_FOUND } from '../../chain/verifier/verify-transaction.ts'
import { rpcAddressProblem } from '../../config/address.ts'
import { SECRET_REFERENCE, secretFrom } from '../../config/secret.ts'
import { budgetedRpcs } from '../../live/rpc-access.ts'
import { BUILT_IN_POLICY, type BuilderPolicy } from '../../orders/builder-policy.ts'
import type { AskedTrade } from '../../orders/trade-request.ts'
import { SystemClock } from '../../runtime/system-clock.ts'
import { decodeTransaction } from '../../solana/transaction.ts'
import { openHttp } from '../../venues/http.ts'
import { DEFAULT_VENUE } from '../../venues/registry.ts'
import type { BuiltReply } from '../../venues/venue.ts'
import { defineCommand, JSON_LINE, POLICY, text } from '../options.ts'
import { policyOf } from './signer.ts'

const MOST_BYTES = 65_536
const CALLS_PER_SECOND = 8

/** Verifies that a transaction from a builder does exactly what the order specifies. Signs and sends nothing. */
export const command = defineCommand({
  options: {
    tx: text('<base64|file>', "the builder's answer: a transaction in any common form, or a file with it"),
    order: text(
      '<json|file>',
      'JSON body of the request to the service, plus `side` (buy or sell), or the path of a file that contains it',
    ),
    policy: POLICY,
    rpc: text(
      '<url>',
      'RPC node that simulates the transaction and reads the wallet; write env:NAME or file:PATH to keep its URL out of the command line',
    ),
    json: JSON_LINE,
  },
  async run(_args, { tx, order, policy: file, rpc, json }) {
    if (tx === undefined || order === undefined)
      throw new SluiceError('verify-tx needs --tx and --order', ExitCode.usage)
    const asked = askedOf(order)
    const policy = file === undefined ? BUILT_IN_POLICY : policyOf(file)
    if (policy === undefined) return ExitCode.usage
    const reply = DEFAULT_VENUE.transactions.readReply(bytesOf(tx), (bytes) => {
      const decoded = decodeTransaction(bytes)
      return decoded.ok ? undefined : decoded
    })
    const examined = await examineReply(reply, asked, policy, rpc)
    if (json) console.log(JSON.stringify(verdictJson(examined)))
    else console.log(verdictText(examined))
    return examined.refusals.length === 0 ? ExitCode.done : ExitCode.unsafe
  },
})

async function examineReply(
  reply: BuiltReply,
  asked: AskedTrade,
  policy: BuilderPolicy,
  rpc: string | undefined,
): Promise<Examined> {
  const lastValidBlockHeight = reply.ok ? reply.lastValidBlockHeight : undefined
  const known = { asked, policy: policy.name, lastValidBlockHeight }
  const decoded = reply.ok ? decodeTransaction(reply.bytes) : reply
  if (!decoded.ok) {
    const { code, reason } = decoded
    return { ...known, ...NOTHING_FOUND, simulated: undefined, refusals: [{ code, reason }] }
  }
  const { transaction } = decoded
  if (rpc === undefined) return { ...known, ...(await examine({ transaction, asked, policy })) }
  const url = rpcUrlOf(rpc)
  const { http, close } = openHttp()
  const clock = new SystemClock()
  const { any } = budgetedRpcs([{ url, requestsPerSecond: CALLS_PER_SECOND, sendsPerSecond: 1 }], http, clock)
  try {
    return {
      ...known,
      ...(await examine({ transaction, asked, policy, lastValidBlockHeight, chain: { rpc: any, clock } })),
    }
  } finally {
    clock.stop()
    await close()
  }
}

function askedOf(order: string): AskedTrade {
  const read = DEFAULT_VENUE.transactions.readRequest(
    order.trimStart().startsWith('{') ? order : readSmall(order, '--order').toString('utf8'),
  )
  if (!read.ok) throw new SluiceError(`--order: ${read.problem}`, ExitCode.usage)
  return read.asked
}

/** Bytes of the builder's answer. `tx`: path of a file with the answer, or the answer itself. */
function bytesOf(tx: string): Uint8Array {
  const isFile = tx.length < 4_096 && statSync(tx, { throwIfNoEntry: false })?.isFile() === true
  return isFile ? readSmall(tx, '--tx') : Buffer.from(tx)
}

function readSmall(file: string, option: string): Buffer {
  const status = statSync(file, { throwIfNoEntry: false })
  if (!status?.isFile()) throw new SluiceError(`${option}: expected JSON or the path of a file`, ExitCode.usage)
  if (status.size > MOST_BYTES) throw new SluiceError(`${option}: the file is larger than 64 KiB`, ExitCode.usage)
  return readFileSync(file)
}

/** URL of the RPC; resolves env:NAME and file:PATH. The references keep the URL out of the command line: it often
 *  contains a key, and other users of the machine can see the arguments of a process. */
function rpcUrlOf(rpc: string): string {
  if (SECRET_REFERENCE.test(rpc)) return secretFrom(rpc, process.cwd(), rpcAddressProblem).read()
  const problem = rpcAddressProblem(rpc)
  if (problem !== undefined) throw new SluiceError(`--rpc: ${problem}`, ExitCode.usage)
  return rpc
}

/** Findings about one answer of a builder, for the text and for --json. */
export interface Examined extends Omit<Examination, 'transaction' | 'guarded' | 'lastHeight' | 'closed'> {
  readonly asked: AskedTrade
  /** Name of the policy with which the transaction was compared. */
  readonly policy: string
  readonly lastValidBlockHeight: number | undefined
}

/** Formats the verdict, then the findings that support it. */
export function verdictText(examined: Examined): string {
  const { refusals, bound, parts, notUnderstood, simulated, trade, policy, lastValidBlockHeight } = examined
  const isRefused = refusals.length > 0
  const verdict = isRefused ? styleText(['bold', 'red'], 'REFUSED') : styleText(['bold', 'green'], 'ACCEPTED')
  const spent = parts.map(({ what, lamports }) => `${what} ${formatSol(lamports)}`).join(', ')
  return [
    `${verdict} ${askedText(examined.asked)}`,
    ...refusals.flatMap(({ code, reason }) => [`  ${code}: ${ERRORS[code]}`, `    ${printable(reason)}`]),
    row(
      'trade',
      trade === undefined ? 'none recognized' : `${trade.name}, ${trade.tokens} base units, ${limitText(trade)}`,
    ),
    row(
      'SOL out',
      bound === null ? 'no upper bound' : `at most ${formatSol(bound)}${spent === '' ? '' : ` (${spent})`}`,
    ),
    row(
      'simulated',
      simulated === undefined ? 'no' : `${formatSol(simulated.lamports)} SOL, ${simulated.tokens} base units`,
    ),
    ...notUnderstood.map((what) => row('unknown', printable(what))),
    row('policy', printable(policy)),
    ...(lastValidBlockHeight === undefined
      ? []
      : [row('builder says', `valid up to block height ${lastValidBlockHeight}`)]),
  ].join('\n')
}

/** Output of --json, with SOL as numbers and tokens as strings of base units. */
export function verdictJson(examined: Examined): object {
  const { refusals, bound, parts, notUnderstood, simulated, trade, policy, lastValidBlockHeight } = examined
  return {
    ok: refusals.length === 0,
    refusals: refusals.map(({ code, reason }) => ({ code, means: ERRORS[code], reason })),
    boundSol: bound === null ? null : number(bound),
    parts: parts.map(({ what, lamports }) => ({ what, sol: number(lamports) })),
    notUnderstood,
    trade:
      trade === undefined
        ? null
        : {
            name: trade.name,
            side: trade.side,
            mint: trade.mint,
            exact: trade.exact,
            sol: number(trade.lamports),
            tokens: String(trade.tokens),
          },
    simulated: simulated === undefined ? null : { sol: number(simulated.lamports), tokens: String(simulated.tokens) },
    policy,
    lastValidBlockHeight: lastValidBlockHeight ?? null,
  }
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(12)} ${text}`
}

function askedText(asked: AskedTrade): string {
  const slippage = `slippage ${asked.slippagePercent} %`
  if (asked.side === 'buy') return `buy ${asked.mint} for ${formatSol(asked.lamports)} SOL, ${slippage}`
  const { amount } = asked
  const share = amount.kind === 'all' ? 'all' : amount.kind === 'percent' ? `${amount.percent} %` : amount.decimal
  return `sell ${share} of ${asked.mint}, ${slippage}`
}

function limitText({ side, lamports }: NonNullable<Examination['trade']>): string {
  return side === 'buy' ? `for at most ${formatSol(lamports)} SOL` : `for at least ${formatSol(lamports)} SOL`
}

function number(lamports: bigint): number {
  return lamportsToSol(Number(lamports))
}
