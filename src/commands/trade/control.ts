import { relative, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { printable } from '../../base/text.ts'
import { journalPathOf } from '../../config/journal-path.ts'
import { neighbourHint } from '../../journal/database.ts'
import { NothingRuns, sendCommand } from '../../live/control/client.ts'
import { type ControlCommand, isConditionalId, isOrderId } from '../../live/control/command.ts'
import { running } from '../../live/control/running-processes.ts'
import { isPublicKey, isSignature } from '../../solana/base58.ts'
import { DEFAULT_JOURNAL, defineCommand, number, PROCESS, text, type Values } from '../options.ts'

export type ProcessOptions = Values<typeof PROCESS>
/** The options that select a running process. */
export type ProcessChoice = Omit<ProcessOptions, 'json'>

const ONE_WALLET = text('<name>', 'apply the command only to this wallet of the section `wallets`')

export const halt = defineCommand({
  options: { wallet: ONE_WALLET, ...PROCESS },
  run: (_args, { wallet, ...process }) => control({ command: 'halt', ...named(wallet) }, process),
})

export const flatten = defineCommand({
  options: { wallet: ONE_WALLET, ...PROCESS },
  run: (_args, { wallet, ...process }) => control({ command: 'flatten', ...named(wallet) }, process),
})

export const resume = defineCommand({
  options: {
    accept: text('<signature>', 'accept this foreign transaction of the wallet, or `all` unexplained ones'),
    wallet: ONE_WALLET,
    ...PROCESS,
  },
  async run(_args, { accept, wallet, ...process }) {
    if (accept === undefined) return control({ command: 'resume', ...named(wallet) }, process)
    if (accept !== 'all' && !isSignature(accept))
      throw new SluiceError('--accept needs the signature of a transaction, or all', ExitCode.usage)
    return control({ command: 'accept', signature: accept, ...named(wallet) }, process)
  },
})

export const sell = defineCommand({
  options: { wallet: ONE_WALLET, ...PROCESS },
  async run([mint = ''], { wallet, ...process }) {
    requireMint('sell', mint)
    return control({ command: 'sell', mint, ...named(wallet) }, process)
  },
})

export const buy = defineCommand({
  options: {
    bot: text('<name>', 'buy for this bot, under its limits; the bot manages the position'),
    sol: number('<n>', 'amount of the buy in SOL', { min: 0 }),
    ...PROCESS,
  },
  async run([mint = ''], { bot, sol, ...process }) {
    requireMint('buy', mint)
    if (bot === undefined || bot === '')
      throw new SluiceError('--bot NAME is required: the bot that buys and manages the position', ExitCode.usage)
    if (sol === undefined || sol === 0) throw new SluiceError('--sol X is required: an amount above 0', ExitCode.usage)
    return control({ command: 'buy', mint, bot, sol }, process)
  },
})

export const cancel = defineCommand({
  options: PROCESS,
  async run([order = ''], process) {
    if (!isOrderId(order) && !isConditionalId(order))
      throw new SluiceError('cancel needs the id of an order, such as o12 or c3', ExitCode.usage)
    return control({ command: 'cancel', order }, process)
  },
})

export const adopt = defineCommand({
  options: { bot: text('<name>', 'assign the tokens to this bot'), ...PROCESS },
  async run([mint = ''], { bot, ...process }) {
    requireMint('adopt', mint)
    if (bot === undefined || bot === '')
      throw new SluiceError('--bot NAME is required: the bot that receives the position', ExitCode.usage)
    return control({ command: 'adopt', mint, bot }, process)
  },
})

export const signal = defineCommand({
  options: PROCESS,
  run: async ([name = '', data = 'null'], process) =>
    control({ command: 'signal', signal: name, data: parsed(data) }, process),
})

function named(wallet: string | undefined): { wallet?: string } {
  return wallet === undefined ? {} : { wallet }
}

function requireMint(command: string, mint: string): void {
  if (!isPublicKey(mint)) throw new SluiceError(`${command} needs a mint: a base58 key of 32 bytes`, ExitCode.usage)
}

function parsed(data: string): Json {
  try {
    return JSON.parse(data) as Json
  } catch (error) {
    throw new SluiceError(
      `the data of a signal must be JSON, such as '{"size": 2}' or '"fast"': ${(error as Error).message}`,
      ExitCode.usage,
    )
  }
}

/** Sends a command to the process that runs the bots, and prints the answer. */
export async function control(command: ControlCommand, options: ProcessOptions): Promise<number> {
  const answer = (await request(command, options)) as { text?: string }
  if (options.json) console.log(printable(JSON.stringify(answer)))
  else for (const line of (answer.text ?? JSON.stringify(answer)).split('\n')) console.log(printable(line))
  return 0
}

/** Sends a command to the process that runs the bots, and returns the answer. Throws a SluiceError if no such process
 *  runs, or if it refuses the command. */
export async function request(command: ControlCommand, options: ProcessChoice): Promise<object> {
  const journal = await runningJournal(options)
  try {
    return await sendCommand(resolve(journal), command)
  } catch (error) {
    if (!(error instanceof NothingRuns)) throw error
    const needsChain = ['resolve', 'adopt', 'accept'].includes(command.command)
    const hint = command.command === 'halt' ? '; create a file HALT next to the journal to start without entries' : ''
    if (!needsChain) throw new SluiceError(`${error.message}${neighbourHint(journal)}${hint}`)
    throw new SluiceError(
      `${error.message}: only a running process can write the journal and query the chain. Start \`sluice run\` with this journal; ` +
        'the process continues to look for the outcome of undecided orders and finds most of them itself. To see their state now: `sluice orders`',
    )
  }
}

/** Path of the journal of the process to which a command is sent. If neither --journal nor --config selects it, the
 *  journal of the only running process of this user. If no process runs, the default journal. Throws a SluiceError
 *  (exit 2) if several processes run. */
export async function runningJournal({ journal, config }: ProcessChoice): Promise<string> {
  if (journal !== undefined && config.length > 0)
    throw new SluiceError('--journal and --config both select the process: give only one of them', ExitCode.usage)
  if (journal !== undefined) return journal
  if (config.length > 0) return shown(journalPathOf(config, process.cwd()))
  const all = await running()
  const [only] = all
  if (only === undefined) return DEFAULT_JOURNAL
  if (all.length > 1) {
    const lines = all.map((one) => `  --journal ${shown(one.journal)}   (process ${one.pid})`)
    throw new SluiceError(
      `${all.length} processes are running; select one of them:\n${lines.join('\n')}`,
      ExitCode.usage,
    )
  }
  if (shown(only.journal) !== DEFAULT_JOURNAL)
    console.error(`sluice: using process ${only.pid}, journal ${shown(only.journal)}`)
  return only.journal
}

/** Returns a path as text. A path inside the working directory is shown relative to it. */
function shown(path: string): string {
  const near = relative('', path)
  return printable(near.startsWith('..') ? path : near)
}
