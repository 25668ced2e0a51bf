import { type Lamports, solToLamports } from '../base/units.ts'
import { limitProblems } from '../engine/limits/limit-rules.ts'
import type { CheckedBot } from './bots.ts'
import type { DeskConfig } from './config.ts'
import { deskFrom, serviceFrom } from './convert-sections.ts'
import { exitErrors, exitWarnings } from './exit-consistency.ts'
import type { ConfigFile } from './read-file.ts'
import { type Agreed, walletLimitsOf, walletOfBot } from './shared-sections.ts'
import { worstCaseOf } from './worst-case.ts'
import type { ConfigError, Path, Problem } from './yaml/errors.ts'

// Finds values that are each valid but contradict each other.

type Say = (key: readonly string[], message: string) => Problem

export function botProblems(bot: CheckedBot, agreed: Agreed): Problem[] {
  const say = (fatal: boolean): Say => {
    return (key, message) => ({ fatal, error: bot.document.error([...bot.path, ...key], message) })
  }
  return [
    ...liveProblems(bot, agreed, say(true)),
    ...limitErrors(bot),
    ...exitErrors(bot, agreed),
    ...exitWarnings(bot, agreed),
    ...liveWarnings(bot, agreed, say(false)),
    ...capWarnings(bot, agreed, say(false)),
  ]
}

function liveProblems({ config, lacksStrategy, input, defaultExits }: CheckedBot, agreed: Agreed, say: Say): Problem[] {
  if (config.mode !== 'live') return []
  const problems: Problem[] = []
  const { stopLossPercent, maxHoldSeconds } = config.exits
  const spelledOut = input.exits === 'none' || (input.exits === undefined && defaultExits === 'none')
  if (stopLossPercent === undefined && maxHoldSeconds === undefined && !spelledOut && !lacksStrategy) {
    const way = 'set exits.stopLossPercent or exits.maxHoldSeconds, or write `exits: none`'
    problems.push(say(['exits'], `a live bot needs an exit that ends a losing position: ${way}`))
  }
  const { service, chain, unfit } = agreed
  const wallet = walletOfBot(agreed, config.wallet)
  const section = walletSection(config.wallet)
  if (service === undefined || service === 'sandbox') return problems
  if (!service.apiKey) problems.push(say(['mode'], 'a live bot needs service.apiKey (env:NAME or file:PATH)'))
  if (!chain && !unfit.includes('chain')) {
    problems.push(say(['mode'], 'a live bot needs chain.rpc, which confirms its trades'))
  }
  if (unfit.includes('wallet') || unfit.includes('wallets') || (agreed.wallets && !wallet)) return problems
  if (!wallet?.publicKey) problems.push(say(['mode'], `a live bot needs ${section}.publicKey`))
  if (config.executor === 'local' && !wallet?.keypair && !wallet?.signer) {
    const way = `${section}.keypair (file:PATH) or ${section}.signer (the socket of \`sluice signer\`)`
    problems.push(say(['executor'], `the local executor needs a signer: set ${way}`))
  }
  return problems
}

/** Returns the section of a wallet in the configuration. */
function walletSection(name: string | undefined): string {
  return name === undefined ? 'wallet' : `wallets.${name}`
}

/** Returns the contradictions between limits and orders. Each is reported at the key of the bot, or at the key in the
 *  defaults if the bot does not set it. */
function limitErrors({ config: { limits, orders }, input, document, path }: CheckedBot): Problem[] {
  return limitProblems(limits, 'limits', orders).map(({ key, message }) => {
    const isOfBot = Object.hasOwn(input.limits ?? {}, key)
    const at = [...(isOfBot ? path : ['defaults']), 'limits', key]
    return { fatal: true, error: document.error(at, isOfBot ? message : `${message} (for the bot ${input.name})`) }
  })
}

function liveWarnings({ config }: CheckedBot, agreed: Agreed, say: Say): Problem[] {
  if (config.mode !== 'live') return []
  const { service } = agreed
  const warnings: Problem[] = []
  if (config.executor === 'local' && service !== 'sandbox' && service?.builderPolicy === undefined) {
    const message =
      'the local executor signs transactions that the service builds: set service.builderPolicy, or a live run ends with exit code 4'
    warnings.push(say(['executor'], message))
  }
  const inTime = [config.limits, walletLimitsOf(agreed, config.wallet)].flatMap((one) => [
    one.maxLamportsPerHour,
    one.maxLamportsPerDay,
  ])
  if (inTime.every((bound) => bound === null)) {
    warnings.push(say(['limits'], 'without limits.maxSolPerHour a live bot may spend the whole wallet within an hour'))
  }
  return warnings
}

/** Warns if the caps of the signer are lower than the limits of the bot, because the signer would then refuse
 *  transactions that the limits permit, including sales. */
function capWarnings({ config }: CheckedBot, agreed: Agreed, say: Say): Problem[] {
  const { service } = agreed
  if (config.mode !== 'live' || config.executor !== 'local' || service === undefined) return []
  const limits = walletLimitsOf(agreed, config.wallet)
  const { perOrder, perHour, perDay } = worstCaseOf(config, limits, serviceFrom(service, '').plan)
  const { maxSolPerTransaction, maxSolPerHour, maxSolPerDay } = walletOfBot(agreed, config.wallet)?.caps ?? {}
  const over = (worst: Lamports | null, cap: number | undefined) =>
    cap !== undefined && (worst === null || worst > solToLamports(cap))
  return [
    ...(over(perOrder, maxSolPerTransaction) ? ['maxSolPerTransaction'] : []),
    ...(over(perHour, maxSolPerHour) ? ['maxSolPerHour'] : []),
    ...(over(perDay, maxSolPerDay) ? ['maxSolPerDay'] : []),
  ].map((cap) =>
    say(
      ['limits'],
      `the limits allow more than ${walletSection(config.wallet)}.caps.${cap}, including slippage and fees, so the signer would refuse transactions; lower the limits or raise the cap`,
    ),
  )
}

/** Returns the sections of a file that the sandbox ignores, because the sandbox has a chain and wallets of its own. The
 *  limits of a wallet apply on the sandbox too. Therefore, a wallet that has only limits is not returned. An empty
 *  entry of `wallets` is not returned either. */
function ignoredBySandbox({ chain, wallet, wallets = {} }: ConfigFile['sections']): Path[] {
  const isLimitsOnly = (one: object): boolean => Object.keys(one).every((key) => key === 'limits')
  const named = Object.entries(wallets).filter(([, one]) => !isLimitsOnly(one))
  return [
    ...(chain === undefined ? [] : [['chain']]),
    ...(wallet === undefined || (wallet.limits !== undefined && isLimitsOnly(wallet)) ? [] : [['wallet']]),
    ...named.map(([name]) => ['wallets', name]),
  ]
}

/** Returns the warnings about the sections that all bots share. */
export function serviceWarnings(files: readonly ConfigFile[], agreed: Agreed): ConfigError[] {
  const { service } = agreed
  if (service === 'sandbox') {
    return files.flatMap(({ document, sections }) =>
      ignoredBySandbox(sections).map((path) =>
        document.error(
          path,
          'this section is ignored, because the sandbox has its own; remove it',
          document.locateKey(path),
        ),
      ),
    )
  }
  const file = files.find(({ sections }) => sections.service !== undefined)
  if (!service || !file) return []
  const warnings: ConfigError[] = []
  const [base, stream] = [new URL(service.baseUrl), new URL(service.wsUrl)]
  if (base.hostname !== stream.hostname) {
    const message = `the host ${stream.hostname} differs from the host of baseUrl (${base.hostname}), and the key is sent to both`
    warnings.push(file.document.error(['service', 'wsUrl'], message))
  }
  if (!service.apiKey) {
    warnings.push(file.document.error(['service'], 'without apiKey only backtests are possible'))
  }
  return warnings
}

/** Returns the reason why a desk may not be served: other machines could reach it without TLS. undefined if it may be
 *  served. */
export function deskDanger({ bind, tls, proxy, origin }: DeskConfig): string | undefined {
  if (bind === '::1' || bind.startsWith('127.')) return undefined
  if (origin !== undefined && (tls !== undefined || proxy !== undefined)) return undefined
  return `${bind} would let other machines reach the desk without encryption: set desk.origin with desk.tls or desk.proxy, or bind it to 127.0.0.1`
}

/** Warns if a run would refuse to serve the desk, and if `desk.origin` has no effect. */
export function deskWarnings(files: readonly ConfigFile[]): ConfigError[] {
  return files.flatMap(({ document, sections }) => {
    if (sections.desk === undefined) return []
    const desk = deskFrom(sections.desk, '')
    const danger = deskDanger(desk)
    if (danger !== undefined)
      return [
        document.error(['desk', 'bind'], `${danger}; otherwise, a run ends with exit code 4 unless --no-desk is given`),
      ]
    const hasNoEffect = desk.origin !== undefined && desk.tls === undefined && desk.proxy === undefined
    return hasNoEffect ? [document.error(['desk', 'origin'], 'ignored without desk.tls or desk.proxy')] : []
  })
}
