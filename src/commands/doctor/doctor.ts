import { styleText } from 'node:util'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { formatSol, solToLamports } from '../../base/units.ts'
import type { Config } from '../../config/config.ts'
import type { ServiceProof } from '../../orders/learned.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { Options } from '../options.ts'
import { confirm, refuseNobody } from '../terminal.ts'
import { configOf, untilInterrupted } from '../trade/run-bots.ts'
import { type Check, checkLine, exitCodeOf, fail, ok, seconds, summaryLine, warn } from './check.ts'
import { examine } from './examine.ts'
import type { Probed } from './live-probe.ts'
import type { Step } from './probe-watch.ts'

/** `sluice doctor FILE`: whether everything that a run needs is there and as it should be. Exit 1 where a check fails,
 *  3 where the service refuses key or plan. With --probe-live it then buys a little and sells it, which proves what the
 *  document leaves open. */
export async function run(files: string[], options: Options): Promise<number> {
  const { json, mint = '', probeLive: sol, yes = false } = options
  if (mint !== '' && !isPublicKey(mint)) throw new SluiceError('--mint needs a base58 key of 32 bytes', ExitCode.usage)
  const config = await configOf(files)
  if (sol !== undefined) admitProbe(config, mint, yes)
  const voice = new CheckPrinter(json === true)
  const checks = await examine(config, { show: (check) => voice.check(check), say: (text) => voice.say(text), mint })
  let probed: Probed | undefined
  if (sol !== undefined && exitCodeOf(checks) === ExitCode.done) {
    probed = await probe(config, { sol, mint, yes, voice })
    const check = probeVerdict(probed)
    checks.push(check)
    voice.check(check)
  }
  const exitCode = exitCodeOf(checks)
  const proved = probed && { proved: probed.proof }
  if (json === true)
    console.log(JSON.stringify({ ok: exitCode === ExitCode.done, checks: checks.map(shown), ...proved }))
  else voice.print(`\n${summaryLine(checks)}${sol !== undefined && probed === undefined ? '; nothing was bought' : ''}`)
  return exitCode
}

/** Throws a SluiceError where a probe would not be asked for rightly: before anything is done. */
function admitProbe(config: Config, mint: string, yes: boolean): void {
  const { service, chain, wallet } = config
  if (service.kind === 'sandbox') return
  if (mint === '') throw new SluiceError('--probe-live needs --mint: the token to buy', ExitCode.usage)
  if (chain.rpc.length === 0 || wallet.publicKey === undefined)
    throw new SluiceError('--probe-live needs chain.rpc and wallet.publicKey', ExitCode.usage)
  refuseNobody('--probe-live', yes)
}

interface ProbeOptions {
  readonly sol: number
  readonly mint: string
  readonly yes: boolean
  readonly voice: CheckPrinter
}

async function probe(config: Config, { sol, mint, yes, voice }: ProbeOptions): Promise<Probed> {
  const question = `Buy ${mint} for ${sol} SOL, and sell it again? Fees, rent and the price take about 0.003 SOL.`
  if (config.service.kind === 'remote') await confirm('--probe-live', question, yes)
  const { probeLive } = await import('./live-probe.ts')
  const interrupted = untilInterrupted()
  try {
    voice.print('')
    const probed = await probeLive({
      ...{ config, lamports: solToLamports(sol), mint, interrupted: interrupted.promise },
      show: (step) => voice.print(stepLine(step)),
      say: (text) => voice.say(text),
      warn: (text) => voice.warn(text),
    })
    voice.print(`\n${proofTable(probed)}\n`)
    return probed
  } finally {
    interrupted.release()
  }
}

function probeVerdict({ problem, steps, proof }: Probed): Check {
  if (problem !== '') return fail('probe', problem, 'sluice orders says what became of them')
  const done = `${steps.length} orders, all of them final`
  if (proof.sellNumber !== null) return ok('probe', done)
  return warn('probe', `${done}; what a sale's number counts is not proved`, 'nothing: parts are sold by percent')
}

function shown({ name, status, found, fix }: Check): object {
  return { name, status, found, ...(fix !== '' && { fix }) }
}

/** To the beginning of the line, and nothing on it. */
const NO_LINE = '\r\u001b[K'

/** What a person at the terminal is told; with --json nothing but what has gone wrong. */
export class CheckPrinter {
  readonly #isJson: boolean
  /** A line that goes again stands there. */
  #isWaiting = false

  constructor(isJson: boolean) {
    this.#isJson = isJson
  }

  check(check: Check): void {
    this.print(checkLine(check, process.stdout.isTTY ? process.stdout.columns : 0))
  }

  print(text: string): void {
    this.#clear()
    if (!this.#isJson) console.log(text)
  }

  warn(text: string): void {
    this.#clear()
    console.error(`sluice: ${text}`)
  }

  /** What is waited for, on a terminal: it goes again before anything else is said. */
  say(text: string): void {
    if (process.stderr.isTTY !== true) return
    this.#isWaiting = true
    process.stderr.write(`${NO_LINE}  ... ${text}`)
  }

  #clear(): void {
    if (this.#isWaiting) process.stderr.write(NO_LINE)
    this.#isWaiting = false
  }
}

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
