import { styleText } from 'node:util'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { formatSol, solToLamports } from '../../base/units.ts'
import type { Config } from '../../config/config.ts'
import { type Check, exitCodeOf, fail, ok, warn } from '../../live/doctor/check.ts'
import type { Probed } from '../../live/doctor/live-probe.ts'
import type { Step } from '../../live/doctor/probe-watch.ts'
import { examine } from '../../live/doctor/run-checks.ts'
import type { ServiceProof } from '../../orders/service-facts.ts'
import { durationOf } from '../../runtime/time-text.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { configOf, withWalletOnly } from '../configuration.ts'
import { defineCommand, flag, JSON_LINE, number, text, WALLET } from '../options.ts'
import { confirm, requireConfirmation, wrapped } from '../terminal.ts'
import { untilInterrupted } from './run-bots.ts'

/**
 * Tests everything that a run needs. Exits 1 if a check fails, and 3 if the service refuses the API key or the plan.
 * With --probe-live, it then buys and sells a small amount, which proves how the service behaves where its document is
 * not clear.
 */
export const command = defineCommand({
  options: {
    mint: text(
      '<mint>',
      'mint of a token whose data the checks request from the service, and which --probe-live buys and sells',
    ),
    probeLive: number('<sol>', 'buy for this amount of SOL and sell again, to prove how the service counts amounts', {
      min: 0.001,
      max: 1,
    }),
    wallet: WALLET,
    yes: flag('confirm --probe-live without a prompt'),
    json: JSON_LINE,
  },
  async run(files, { json, mint = '', probeLive: sol, wallet, yes }) {
    if (mint !== '' && !isPublicKey(mint))
      throw new SluiceError('--mint needs a base58 key of 32 bytes', ExitCode.usage)
    const config = await configOf(files)
    const probing = sol === undefined ? undefined : withWalletOnly(config, wallet)
    if (probing !== undefined) requireProbeOptions(probing, mint, yes)
    const printer = new CheckPrinter(json)
    const report = { show: (check: Check) => printer.check(check), say: (text: string) => printer.say(text) }
    const checks = await examine(config, { ...report, mint })
    let probed: Probed | undefined
    if (sol !== undefined && probing !== undefined && exitCodeOf(checks) === ExitCode.done) {
      probed = await probe(probing, { sol, mint, yes, printer })
      const check = probeVerdict(probed)
      checks.push(check)
      printer.check(check)
    }
    const exitCode = exitCodeOf(checks)
    const proved = probed && { proved: probed.proof }
    if (json) console.log(JSON.stringify({ ok: exitCode === ExitCode.done, checks: checks.map(checkJson), ...proved }))
    else printer.print(`\n${summaryLine(checks)}${sol !== undefined && probed === undefined ? '; bought nothing' : ''}`)
    return exitCode
  },
})

/** Throws a SluiceError if the configuration lacks something that the probe needs. */
function requireProbeOptions(config: Config, mint: string, yes: boolean): void {
  const { service, chain, wallets } = config
  if (service.kind === 'sandbox') return
  if (mint === '') throw new SluiceError('--probe-live needs --mint: the token to buy', ExitCode.usage)
  if (chain.rpc.length === 0 || wallets[0]?.publicKey === undefined)
    throw new SluiceError('--probe-live needs chain.rpc and the publicKey of the wallet', ExitCode.usage)
  requireConfirmation('--probe-live', yes)
}

interface ProbeOptions {
  readonly sol: number
  readonly mint: string
  readonly yes: boolean
  readonly printer: CheckPrinter
}

async function probe(config: Config, { sol, mint, yes, printer }: ProbeOptions): Promise<Probed> {
  const question = `Buy ${mint} for ${sol} SOL and sell it again? Fees, rent and price impact cost about 0.003 SOL.`
  if (config.service.kind === 'remote') await confirm({ option: '--probe-live', question, yes })
  const { probeLive } = await import('../../live/doctor/live-probe.ts')
  const interrupted = untilInterrupted()
  try {
    printer.print('')
    const probed = await probeLive({
      ...{ config, lamports: solToLamports(sol), mint, interrupted: interrupted.promise },
      show: (step) => printer.print(stepLine(step)),
      say: (text) => printer.say(text),
      warn: (text) => printer.warn(text),
    })
    printer.print(`\n${proofTable(probed)}\n`)
    return probed
  } finally {
    interrupted.release()
  }
}

function probeVerdict({ problem, steps, proof }: Probed): Check {
  if (problem !== '') return fail('probe', problem, 'run `sluice orders` to see the outcome of each order')
  const done = `all ${steps.length} orders are final`
  if (proof.sellNumber !== null) return ok('probe', done)
  return warn(
    'probe',
    `${done}; not proved whether the service counts the amount of a sale in whole tokens or in base units`,
    'nothing to do: Sluice sends partial sales as a percentage',
  )
}

function checkJson({ name, status, found, fix }: Check): object {
  return { name, status, found, ...(fix !== '' && { fix }) }
}

/** Control codes that return to the start of the line and clear it. */
const CLEAR_LINE = '\r\u001b[K'

/** Prints checks to stdout for a person, and warnings to stderr. With --json it prints only the warnings. */
export class CheckPrinter {
  readonly #isJson: boolean
  /** Whether a temporary line is on the terminal. */
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

  /** Shows a temporary line on a terminal. The next output replaces this line. */
  say(text: string): void {
    if (process.stderr.isTTY !== true) return
    this.#isWaiting = true
    process.stderr.write(`${CLEAR_LINE}  ... ${text}`)
  }

  #clear(): void {
    if (this.#isWaiting) process.stderr.write(CLEAR_LINE)
    this.#isWaiting = false
  }
}

const WIDTH = 26

function stepLine({ name, order, outcome, done }: Step): string {
  return `  ${order.padEnd(5)} ${name.padEnd(WIDTH)} ${outcome}${done === '' ? '' : `: ${done}`}`
}

/** Table of the facts about the service that the orders of --probe-live proved, one per line. */
function proofTable({ mint, proof, steps, problem }: Probed): string {
  const rows: [string, string][] = [
    ['token', mint || 'none'],
    ['signature of a sale', proof.signatureField === '' ? 'not in the answer' : `in field ${proof.signatureField}`],
    ["unit of a sale's number", sellNumber(proof)],
    ['accepted forms of a sale', proof.sales.join(', ') || 'none'],
    ["unit of the feed's amount", proof.tradeAmount === null ? 'not proved' : "SOL: the probe's buy agrees"],
    ["unit of the feed's price", price(proof)],
    [problem === '' ? 'cost' : 'cost so far', costs(proof)],
    ...steps.map(({ name, latencyMs }): [string, string] => [name, latencies(latencyMs)]),
  ]
  return rows.map(([what, found]) => `  ${styleText('dim', what.padEnd(WIDTH))} ${found}`).join('\n')
}

function costs({ feeLamports, rentLamports, lossLamports }: ServiceProof): string {
  const all = formatSol(feeLamports + rentLamports + lossLamports)
  return `${all} SOL, including fees of ${formatSol(feeLamports)} and rent of ${formatSol(rentLamports)}`
}

function sellNumber({ sellNumber }: ServiceProof): string {
  if (sellNumber === null) return 'not proved'
  return sellNumber === 'tokens' ? 'whole tokens' : 'base units'
}

function price({ quotedPerSol }: ServiceProof): string {
  if (quotedPerSol === null) return 'not proved'
  return Math.abs(quotedPerSol - 1) < 0.03
    ? 'SOL per token'
    : `another currency: the feed's price is ${quotedPerSol} times the price in SOL`
}

function latencies({ answer, confirmed, final }: ServiceProof['latencyMs']): string {
  const stages = [
    ['answered', answer],
    ['confirmed', confirmed],
    ['final', final],
  ] as const
  return stages.map(([stage, ms]) => (ms === null ? `never ${stage}` : `${stage} ${durationOf(ms)}`)).join(', ')
}

const COLOUR = { ok: 'green', warn: 'yellow', fail: 'red' } as const
const NAME_WIDTH = 14
/** Minimum width of the column with the findings. In a narrower column, a line would break after every word. */
const MIN_ROOM = 30
const INDENT = ' '.repeat(2 + 4 + 2 + NAME_WIDTH + 1)

/** Text of a check: verdict, name and finding, with the advice below. `columns`: width of the terminal; 0 keeps each
 *  check on one line. */
export function checkLine({ status, name, found, fix }: Check, columns: number): string {
  const verdict = styleText(status === 'ok' ? COLOUR.ok : ['bold', COLOUR[status]], status.padEnd(4))
  const room = columns - INDENT.length > MIN_ROOM ? columns - INDENT.length : Number.POSITIVE_INFINITY
  const lines = wrapped(found, room)
  const first = `  ${verdict}  ${name.padEnd(NAME_WIDTH)} ${lines[0] ?? ''}`
  const rest = lines.slice(1).map((line) => INDENT + line)
  const advice = fix === '' ? [] : wrapped(`-> ${fix}`, room).map((line) => INDENT + styleText('dim', line))
  return [first, ...rest, ...advice].join('\n')
}

function summaryLine(checks: readonly Check[]): string {
  const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length
  const [fails, warns] = [count('fail'), count('warn')]
  const summary = `${count('ok')} ok, ${warns} warnings, ${fails} failed`
  if (fails > 0) return styleText('red', summary)
  return styleText(warns > 0 ? 'yellow' : 'green', summary)
}
