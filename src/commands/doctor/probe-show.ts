import { styleText } from 'node:util'
import type { ServiceProof } from '../../core/learned.ts'
import { formatSol } from '../../core/units.ts'
import { seconds } from './check.ts'
import type { Probed } from './live-probe.ts'
import type { Step } from './probe-record.ts'

const WIDTH = 26

/** One order of a probe on a line. */
export function stepLine({ name, order, outcome, done }: Step): string {
  return `  ${order.padEnd(5)} ${name.padEnd(WIDTH)} ${outcome}${done === '' ? '' : `: ${done}`}`
}

/** What was proved, a line each. */
export function proofTable({ mint, proof, steps, problem }: Probed): string {
  const rows: [string, string][] = [
    ['token', mint || 'none'],
    [
      'a sale is answered in',
      proof.signatureField === '' ? 'no signature was answered' : `field ${proof.signatureField}`,
    ],
    ["a sale's number counts", sellNumber(proof)],
    ['sold as it was meant', proof.sales.join(', ') || 'in no way'],
    ["the feed's amounts", proof.tradeAmount === null ? 'not proved' : 'SOL: our own buy agrees'],
    ["the feed's price", price(proof)],
    [problem === '' ? 'it cost' : 'spent so far', costs(proof)],
    ...steps.map(({ name, latencyMs }): [string, string] => [name, latencies(latencyMs)]),
  ]
  return rows.map(([what, found]) => `  ${styleText('dim', what.padEnd(WIDTH))} ${found}`).join('\n')
}

function costs({ feeLamports, rentLamports, lossLamports }: ServiceProof): string {
  const all = formatSol(feeLamports + rentLamports + lossLamports)
  return `${all} SOL, with fees of ${formatSol(feeLamports)} and rent of ${formatSol(rentLamports)}`
}

function sellNumber({ sellNumber }: ServiceProof): string {
  if (sellNumber === null) return 'not proved'
  return sellNumber === 'tokens' ? 'whole tokens' : 'base units'
}

function price({ quotedPerSol }: ServiceProof): string {
  if (quotedPerSol === null) return 'not proved'
  return Math.abs(quotedPerSol - 1) < 0.03 ? 'SOL a token' : `${quotedPerSol} times SOL a token: another currency`
}

function latencies({ answer, confirmed, final }: ServiceProof['latencyMs']): string {
  const said = [
    ['answered', answer],
    ['seen', confirmed],
    ['final', final],
  ] as const
  return said.map(([what, ms]) => (ms === null ? `never ${what}` : `${what} ${seconds(ms)}`)).join(', ')
}
