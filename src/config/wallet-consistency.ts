import { isDeepStrictEqual } from 'node:util'
import { limitProblems } from '../engine/limits/limit-rules.ts'
import type { CheckedBot } from './bots.ts'
import { limitsFrom } from './convert-sections.ts'
import { type ConfigFile, isMap } from './read-file.ts'
import type { FileInput } from './schema.ts'
import type { Agreed } from './shared-sections.ts'
import { type ConfigError, formatPath, type Path } from './yaml/errors.ts'
import { didYouMean } from './yaml/wording.ts'

// Finds errors of the wallets, and of the names with which the bots select them.

type Wallet = NonNullable<FileInput['wallet']>

export function walletErrors(files: readonly ConfigFile[], bots: readonly CheckedBot[], agreed: Agreed): ConfigError[] {
  const errors = [...files.flatMap(limitErrors), ...files.flatMap(sameKeyErrors)]
  if (agreed.unfit.includes('wallets')) return errors
  if (agreed.wallets === undefined) return [...errors, ...bots.flatMap(withoutSection)]
  return [
    ...errors,
    ...files.flatMap(bothSections),
    ...bots.flatMap((bot) => nameErrors(bot, Object.keys(agreed.wallets ?? {}))),
    ...unusedErrors(files),
    ...[...Map.groupBy(bots, ({ config }) => config.wallet)].flatMap(([name, own]) =>
      name === undefined ? [] : own.flatMap((bot) => unlikeFirst(bot, own[0] as CheckedBot, name)),
    ),
  ]
}

/** Returns the wallets of a file, each with its path. */
function walletsIn({ sections: { wallet, wallets = {} } }: ConfigFile): { path: Path; wallet: Wallet }[] {
  const named = Object.entries(wallets).map(([name, one]) => ({ path: ['wallets', name], wallet: one }))
  return wallet === undefined ? named : [{ path: ['wallet'], wallet }, ...named]
}

function limitErrors(file: ConfigFile): ConfigError[] {
  return walletsIn(file).flatMap(({ path, wallet }) =>
    limitProblems(limitsFrom(wallet.limits ?? {}), `${formatPath(path)}.limits`).map(({ key, message }) =>
      file.document.error([...path, 'limits', key], message),
    ),
  )
}

const SAME_KEY = {
  publicKey: 'a wallet must have only one name, because two names would count its money twice',
  keypair: 'each wallet has a key of its own',
  signer: 'each signer signs for only one wallet',
} as const

/** Returns an error for each wallet that has the same key as an earlier one, because two such wallets would sell and
 *  count each other's tokens. */
function sameKeyErrors({ sections: { wallets = {} }, document }: ConfigFile): ConfigError[] {
  const entries = Object.entries(wallets)
  return (Object.keys(SAME_KEY) as (keyof typeof SAME_KEY)[]).flatMap((key) =>
    entries.flatMap(([name, wallet], index) => {
      const value = wallet[key]
      const before = entries.slice(0, index).find(([, other]) => value !== undefined && other[key] === value)
      if (before === undefined) return []
      const path = ['wallets', name, key]
      return [document.error(path, `the same as wallets.${before[0]}.${key}; ${SAME_KEY[key]}`)]
    }),
  )
}

function bothSections({ document, sections: { wallet } }: ConfigFile): ConfigError[] {
  if (wallet === undefined) return []
  const message = 'not allowed with `wallets`: give this wallet a name, and move it into that section'
  return [document.error(['wallet'], message, document.locateKey(['wallet']))]
}

function withoutSection({ input, document, path }: CheckedBot): ConfigError[] {
  if (input.wallet === undefined) return []
  const way = `add \`wallets: { ${input.wallet}: { publicKey: ... } }\`, or remove this key`
  return [document.error([...path, 'wallet'], `there is no section \`wallets\`: ${way}`)]
}

function nameErrors({ input: { wallet }, document, path }: CheckedBot, names: readonly string[]): ConfigError[] {
  const at = [...path, 'wallet']
  const known = `expected one of ${names.join(', ')}`
  if (wallet === undefined) return [document.error(at, `missing; with \`wallets\`, every bot names one: ${known}`)]
  if (names.includes(wallet)) return []
  return [document.error(at, `unknown wallet; ${known}${didYouMean(wallet, names)}`)]
}

/** Returns an error for each wallet that no bot names. Without bots there are no errors, because a configuration
 *  without bots only records the market. */
function unusedErrors(files: readonly ConfigFile[]): ConfigError[] {
  const bots = files.flatMap((file) => file.bots)
  if (bots.length === 0) return []
  const used = new Set(bots.map(({ raw }) => (isMap(raw) ? raw.wallet : undefined)))
  return files.flatMap(({ document, sections: { wallets = {} } }) =>
    Object.keys(wallets)
      .filter((name) => !used.has(name))
      .map((name) => {
        const path = ['wallets', name]
        return document.error(path, unusedText(name), document.locateKey(path))
      }),
  )
}

function unusedText(name: string): string {
  return `no bot uses this wallet: write \`wallet: ${name}\` at a bot, or remove the wallet`
}

/** Returns the errors of a bot whose mode or `paper` differs from that of `first`, the first bot of the same wallet. */
function unlikeFirst({ config, document, path }: CheckedBot, first: CheckedBot, name: string): ConfigError[] {
  const { file, line } = first.config.at
  const other = `the bot ${first.config.name} (${file}:${line})`
  if (config.mode !== first.config.mode) {
    const [mine, its] = [config.mode, first.config.mode]
    const way = 'give one of them another wallet (a wallet of paper bots needs no publicKey), or set the same mode'
    return [
      document.error([...path, 'mode'], `mode ${mine}, but ${other} uses the wallet ${name} with mode ${its}: ${way}`),
    ]
  }
  const { seed: _seed, ...own } = config.paper
  const { seed: _its, ...its } = first.config.paper
  if (isDeepStrictEqual(own, its)) return []
  const why = `bots of one wallet share its balance and its fills on paper, but ${other} has another \`paper\``
  return [document.error([...path, 'paper'], `${why}: use the same \`paper\` for all bots of the wallet ${name}`)]
}
