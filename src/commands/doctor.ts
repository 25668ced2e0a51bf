import type { Config } from '../config/config.ts'
import { isPublicKey } from '../core/base58.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { solToLamports } from '../core/units.ts'
import { confirm, refuseNobody } from './confirm.ts'
import { type Check, exitCodeOf, fail, ok, warn } from './doctor/check.ts'
import { examine } from './doctor/examine.ts'
import type { Probed } from './doctor/live-probe.ts'
import { proofTable, stepLine } from './doctor/probe-show.ts'
import { summaryLine } from './doctor/show.ts'
import { Voice } from './doctor/voice.ts'
import type { Options } from './options.ts'
import { configOf, untilInterrupted } from './run-bots.ts'

/** `sluice doctor FILE`: whether everything that a run needs is there and as it should be. Exit 1 where a check fails, 3 where the service
 *  refuses key or plan. With --probe-live it then buys a little and sells it, which proves what the document leaves open. */
export async function run(files: string[], options: Options): Promise<number> {
  const { json, mint = '', probeLive: sol, yes = false } = options
  if (mint !== '' && !isPublicKey(mint)) throw new SluiceError('--mint needs a base58 key of 32 bytes', ExitCode.usage)
  const config = await configOf(files)
  if (sol !== undefined) admitProbe(config, mint, yes)
  const voice = new Voice(json === true)
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
  readonly voice: Voice
}

async function probe(config: Config, { sol, mint, yes, voice }: ProbeOptions): Promise<Probed> {
  const question = `Buy ${mint} for ${sol} SOL, and sell it again? Fees, rent and the price take about 0.003 SOL.`
  if (config.service.kind === 'remote') await confirm('--probe-live', question, yes)
  const { probeLive } = await import('./doctor/live-probe.ts')
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
