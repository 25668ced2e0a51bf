import { ERRORS } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { formatSol } from '../../base/units.ts'
import type { ProgramFinding } from '../../chain/learner/findings.ts'
import { type Findings, priorityOf } from '../../chain/learner/findings.ts'
import type { Payment } from '../../chain/learner/payments.ts'
import type { Range, Sample } from '../../chain/learner/sample.ts'
import type { Upgrader } from '../../chain/learner/upgrades.ts'
import type { Examination } from '../../chain/verifier/checks-before-signing.ts'
import { ALWAYS_INNER } from '../../chain/verifier/simulate.ts'
import { PROGRAMS } from '../../solana/programs.ts'

/** Names of well-known programs by their addresses. */
const NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(PROGRAMS).map(([name, id]) => [id, name])),
  [PROGRAMS.bondingCurve]: 'pump.fun',
  [PROGRAMS.pumpSwap]: 'PumpSwap',
  [PROGRAMS.pumpFees]: 'pump.fun fees',
  JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4: 'Jupiter',
  L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95: 'Lighthouse',
}

/**
 * One line for each sample: its request, its transaction, and whether the transaction was simulated. If a sample has no
 * readable transaction, its entry in `samples` is a text with the problem. `asked`: the requests as text, in the same
 * order.
 */
export function samplesText(samples: readonly (Sample | string)[], asked: readonly string[]): string[] {
  return samples.map((sample, index) => {
    const what = `${index + 1}. ${asked[index]}`
    if (typeof sample === 'string') return `${what}: ${printable(sample)}`
    const { transaction, simulated, problem } = sample
    const { message, messageBytes } = transaction
    const version = message.version === 0 ? 'version 0' : 'legacy'
    const run = simulated === undefined ? `not simulated: ${printable(problem)}` : 'simulated'
    return `${what}: ${version}, ${messageBytes.length} bytes, ${message.signers} signers${feeText(sample)}; ${run}`
  })
}

/** Difference between the requested and the actual priority fee; '' if the request named no fee. */
function feeText(sample: Sample): string {
  const { priorityFeeLamports: asked } = sample.asked
  if (asked === null) return ''
  const over = priorityOf(sample) - BigInt(asked)
  const difference = over < 0n ? `${-over} lamports below` : `${over} lamports above`
  return `, priority fee ${over === 0n ? 'as requested' : `${difference} the requested fee`}`
}

/** Lines about everything that the samples contain. `upgraders`: upgrade authority of each program. */
export function findingsText(findings: Findings, upgraders: ReadonlyMap<string, Upgrader> = new Map()): string[] {
  const { samples, programs, native, inner, payments, coSigners, tables, priorityLamports, opened, handed } = findings
  const isOpaque = programs.some(({ decode }) => decode === 'opaque')
  const times = (count: number): string => (count === samples ? 'in all' : `in ${count} of ${samples}`)
  return [
    ...section('programs that the transaction itself calls', [
      ...programs.flatMap((one) => [...programText(one, times), `  ${upgraderText(upgraders.get(one.id))}`]),
      ...native.map(({ id, samples: count }) => `${named(id)} ${times(count)}`),
    ]),
    ...section(
      'programs called by other programs',
      inner.map(({ id, samples: count }) => {
        const upgrade = ALWAYS_INNER.includes(id) ? '' : `: ${upgraderText(upgraders.get(id))}`
        return `${named(id)} ${times(count)}${upgrade}`
      }),
    ),
    ...section(
      'SOL transfers by instructions of the transaction',
      payments.map((one) => `${paymentText(one)} ${times(one.samples)}`),
    ),
    ...section('priority fee', [`${rangeText(priorityLamports)} SOL`]),
    ...section(
      'signers other than the wallet',
      coSigners.map(({ key, samples: count, signed }) => `${key} ${times(count)}, signed ${signed}`),
    ),
    ...section(
      'lookup tables',
      tables.map(({ address, samples: count }) => `${address} ${times(count)}`),
    ),
    ...(isOpaque
      ? section(
          'accounts that an opaque program could empty',
          handed.map(({ address, samples: count, namesWallet }) => {
            return `${address} ${namesWallet ? 'names the wallet' : 'holds SOL'}, ${times(count)}`
          }),
        )
      : []),
    ...section(
      'accounts opened',
      opened.map(
        ({ what, samples: count, lamports }) => `${printable(what)}: ${rangeText(lamports)} SOL, ${times(count)}`,
      ),
    ),
  ]
}

/** Lines with the verdict of `verify-tx` on sample `number` under the proposed policy. */
export function verdictLine(
  number: number,
  { refusals, notUnderstood }: Pick<Examination, 'refusals' | 'notUnderstood'>,
): string[] {
  const verdict = refusals.length === 0 ? 'accepted' : 'REFUSED'
  return [
    `${number}. ${verdict}`,
    ...refusals.map(({ code, reason }) => `   ${code}: ${ERRORS[code]}; ${printable(reason)}`),
    ...notUnderstood.map((what) => `   unknown: ${printable(what)}`),
  ]
}

export function section(title: string, lines: readonly string[]): string[] {
  return [`${title}:`, ...(lines.length > 0 ? lines : ['none']).map((line) => `  ${line}`)]
}

function programText(finding: ProgramFinding, times: (count: number) => string): string[] {
  const { id, decode, samples, buy, sell, mint, wallet, tokenAccount, unreadBytes, repeated } = finding
  const place = (what: string, at: number | undefined): string =>
    `${what} ${at === undefined ? 'at varying positions' : `at ${at}`}`
  const beginnings = [
    ...(buy.length > 0 ? [`buy ${buy.join(', ')}`] : []),
    ...(sell.length > 0 ? [`sell ${sell.join(', ')}`] : []),
  ]
  const unread =
    unreadBytes.most === 0n
      ? ''
      : `; ${unreadBytes.least === unreadBytes.most ? '' : `${unreadBytes.least} to `}${unreadBytes.most} unexplained bytes`
  return [
    `${named(id)} ${times(samples)}${repeated ? ', called several times in one transaction' : ''}: ${decode === 'opaque' ? 'unknown layout' : `read as ${decode}`}`,
    `  instruction data begins with: ${beginnings.join('; ')}${unread}`,
    `  accounts: ${place('mint', mint)}, ${place('wallet', wallet)}, ${place("wallet's token account", tokenAccount)}`,
  ]
}

function upgraderText(upgrader: Upgrader): string {
  if (upgrader === undefined) return 'upgrade authority unknown'
  return upgrader === '' ? 'cannot be upgraded' : `can be upgraded by ${upgrader}`
}

function paymentText({ to, isTip, lamports, percent, isFixed }: Payment): string {
  const kind =
    percent !== undefined
      ? `${percent} % of the amount`
      : isFixed
        ? 'always the same amount'
        : 'an amount that varies and is not a fixed percentage of the trade'
  return `${isTip ? 'tip to Jito' : 'to'} ${to}: ${rangeText(lamports)} SOL, ${kind},`
}

function named(id: string): string {
  return id in NAMES ? `${id} (${NAMES[id]})` : id
}

function rangeText({ least, most }: Range): string {
  return least === most ? formatSol(least) : `${formatSol(least)} to ${formatSol(most)}`
}
