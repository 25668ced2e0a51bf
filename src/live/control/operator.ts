import { SluiceError } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import { formatSol, type Millis, wholeTokens } from '../../base/units.ts'
import { didYouMean } from '../../config/yaml/wording.ts'
import { valueAt } from '../../engine/accounting/liquidation.ts'
import type { Position } from '../../engine/accounting/position.ts'
import type { Command, Input, Output } from '../../engine/messages.ts'
import type { BotSettings } from '../../engine/settings.ts'
import { outlastsResume } from '../../runtime/view/entry-stops.ts'
import type { View } from '../../runtime/view/view.ts'
import type { ViewModel } from '../../runtime/view/view-model.ts'
import type { LiveAccount } from '../live-account.ts'
import type { LiveChain } from '../live-chain.ts'
import type { ControlCommand } from './command.ts'
import { requireNoHaltFile } from './halt-file.ts'

export interface OperatorParts {
  readonly post: (input: CommandInput) => void
  readonly model: ViewModel
  readonly bots: readonly BotSettings[]
  /** Chain of the live bots; undefined if no bot may trade real money. */
  readonly chain: LiveChain | undefined
  /** Robust price of a mint, SOL per token; undefined if there is none yet. */
  readonly priceOf: (mint: string) => number | undefined
  readonly view: () => View
  /** Path of the file that halts entries while it exists. */
  readonly haltPath: string
  /** Makes a login link of the desk; undefined if this process serves none. */
  readonly deskLink?: DeskLink | undefined
  readonly now: () => Millis
}

type CommandInput = Extract<Input, { kind: 'command' }>
/** Source of a command, and the Telegram update that confirmed it. */
type From = Pick<CommandInput, 'by' | 'update'>

/** Creates a link that begins one session of the desk. `name`: name of the session; '' for a default name. */
export type DeskLink = (readOnly: boolean, name: string) => Promise<string>

type Of<K extends ControlCommand['command']> = Extract<ControlCommand, { command: K }>

/** Source of the commands that arrive through the socket. */
export const TERMINAL = 'terminal'
/** Longest wait for the engine's answer to a command. */
const ANSWER_MS = 4_000

/** Turns commands of an operator into inputs of the engine. The answer only confirms that the command was accepted; the
 *  journal contains its results. */
export class Operator {
  readonly #parts: OperatorParts

  constructor(parts: OperatorParts) {
    this.#parts = parts
  }

  /** Carries out a command and returns its answer. `by`: source of the command, for the journal. `update`: the Telegram
   *  update that confirmed the command; the answer then waits until the engine has handled the command. Throws a
   *  SluiceError with the reason if the command is refused. */
  carryOut(command: ControlCommand, by = TERMINAL, update?: number): object | Promise<object> {
    const from: From = update === undefined ? { by } : { by, update }
    const taken: Promise<unknown>[] = []
    const answer = this.#carryOut(command, from, (command) => {
      const input: CommandInput = { kind: 'command', command, ...from }
      if (update === undefined) this.#parts.post(input)
      else taken.push(this.#ask(input))
    })
    return taken.length === 0 ? answer : Promise.all(taken).then(() => answer)
  }

  #carryOut(command: ControlCommand, from: From, post: (command: Command) => void): object | Promise<object> {
    const { bots, model, haltPath } = this.#parts
    const of = accountNamed(bots, 'wallet' in command ? command.wallet : undefined)
    const entries = `entries${ofWallet(of)}`
    switch (command.command) {
      case 'halt':
        post({ name: 'halt', ...only(of) })
        return { text: `${entries} are halted; exits continue; \`sluice resume${flagOf(of)}\` allows entries again` }
      case 'resume':
        requireNoHaltFile(haltPath)
        post({ name: 'resume', ...only(of) })
        return { text: `${this.#afterResume(entries, of)}${this.#unpriced(heldBy(model, of))}` }
      case 'accept':
        post({ name: 'accept', signature: command.signature, ...only(of) })
        return {
          text: `${command.signature === 'all' ? `every transaction${ofWallet(of)}` : command.signature} is accepted`,
        }
      case 'flatten': {
        post({ name: 'flatten', ...only(of) })
        const { length } = heldBy(model, of)
        return { text: `${entries} are halted; selling ${counted(length, 'position')}`, selling: length }
      }
      case 'sell': {
        const selling = heldOf(model, command.mint, of)
        post({ name: 'sell', mint: command.mint, ...only(of) })
        const cost = selling.reduce((sum, { costLamports }) => sum + costLamports, 0)
        return { text: `selling ${command.mint}, bought for ${formatSol(cost)} SOL`, selling: selling.length }
      }
      case 'buy':
        return this.#buy(command, from)
      case 'cancel':
        return this.#cancel(command, from)
      case 'resolve':
        return this.#resolve(command)
      case 'adopt':
        return this.#adopt(command)
      case 'signal':
        post({ name: 'signal', signal: command.signal, data: command.data })
        return { text: `signal ${command.signal} sent to every bot` }
      case 'desk-link':
        return this.#deskLink(command)
      case 'status':
        return this.#parts.view()
    }
  }

  async #buy({ mint, bot, sol }: Of<'buy'>, from: From): Promise<object> {
    botOf(this.#parts.bots, bot)
    const outputs = await this.#ask({ kind: 'command', command: { name: 'buy', mint, bot, sol }, ...from })
    for (const output of outputs) {
      if (output.kind === 'refused') throw new SluiceError(`the buy is refused: ${output.code}, ${output.reason}`)
      if (output.kind === 'order') {
        const { id } = output.order
        return {
          text: `${id}: ${bot} buys ${sol} SOL of ${mint}; \`sluice why ${id}\` shows what happens to the order`,
          order: id,
        }
      }
    }
    throw new SluiceError('the engine neither placed nor refused the buy: the log contains the reason')
  }

  async #cancel({ order }: Of<'cancel'>, from: From): Promise<object> {
    const { model } = this.#parts
    if (model.openOrders.botOf(order) === undefined && !model.conditionals.has(order))
      throw new SluiceError(`${order} is not open: \`sluice orders\` lists the orders`)
    const outputs = await this.#ask({ kind: 'command', command: { name: 'cancel', order }, ...from })
    if (outputs.some((output) => output.kind === 'cancel' || output.kind === 'conditional'))
      return { text: `${order} is cancelled` }
    throw new SluiceError(
      `${order} cannot be cancelled: it was already sent and may execute, or it belongs to an exit, which would place it again`,
    )
  }

  /** Posts a command and returns the engine's outputs. */
  async #ask(input: CommandInput): Promise<readonly Output[]> {
    const answer = this.#parts.model.answerTo(input)
    this.#parts.post(input)
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => late.reject(new SluiceError('the engine has not answered yet: `sluice orders` will show the outcome')),
      ANSWER_MS,
    )
    try {
      return await Promise.race([answer, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  #afterResume(entries: string, of: OneWallet): string {
    const { model, bots, now } = this.#parts
    const lasting = model.stops.of(botsOf(bots, of), now()).filter(outlastsResume)
    if (lasting.length === 0) return `${entries} continue`
    const reasons = lasting.map(({ code, bots, text }) => `${code} (${bots.join(', ')}): ${text}`)
    return `your halt is lifted, but entries are still stopped by causes that \`resume\` cannot end: ${reasons.join('; ')}`
  }

  /** Text about held positions without a price, which the drawdown counts as a total loss; '' if there are none. */
  #unpriced(held: readonly Position[]): string {
    const count = held.filter(({ mint }) => this.#parts.priceOf(mint) === undefined).length
    if (count === 0) return ''
    const which = count === 1 ? '1 position has' : `${count} positions have`
    return `; ${which} no price yet. Until there is a price, limits.maxDrawdownSol counts such a position as a total loss. Run \`sluice resume\` again when there is a price, to reset the drawdown`
  }

  async #resolve({ order, verdict }: Of<'resolve'>): Promise<object> {
    const wallets = this.#wallets
    const { byHand } = (wallets.find(({ wallet }) => wallet.byHand.has(order)) ?? (wallets[0] as LiveAccount)).wallet
    if (verdict === 'show') return byHand.show(order)
    if (verdict === 'not-executed') return { text: byHand.notExecuted(order) }
    return { text: await byHand.executed(order, verdict.executed) }
  }

  async #adopt({ mint, bot }: Of<'adopt'>): Promise<object> {
    const { bots, model, priceOf } = this.#parts
    const { account } = botOf(bots, bot)
    const own = this.#wallets.find((wallet) => wallet.account === account.id)
    if (own === undefined) throw new SluiceError(`${bot} runs on paper and has no wallet`)
    const owner = [...model.positions.values()].find(
      (one) => one.mint === mint && (one.account === account.id || one.bot === bot),
    )
    if (owner !== undefined) throw new SluiceError(`${owner.bot} already has a position in this mint`)
    const price = priceOf(mint)
    if (price === undefined)
      throw new SluiceError(
        `the exits need a robust price, and ${mint} has none yet: wait until a bot has received some of its trades`,
      )
    const holding = await own.wallet.byHand.holding(mint)
    if (holding === undefined) throw new SluiceError(`the wallet holds no tokens of ${mint}`)
    const cost = valueAt(price, holding.tokens, holding.decimals)
    if (cost === undefined)
      throw new SluiceError(`${price} SOL per token is not a plausible price of ${mint}: wait for another price`)
    own.adopt(bot, mint, holding)
    const tokens = wholeTokens(holding.tokens, holding.decimals)
    return { text: `${bot} now holds ${tokens} of ${mint} at ${formatSol(cost)} SOL; its exits are active` }
  }

  async #deskLink({ readOnly, name }: Of<'desk-link'>): Promise<object> {
    const { deskLink } = this.#parts
    if (deskLink === undefined) throw new SluiceError('this process serves no desk')
    const url = await deskLink(readOnly, name)
    return { text: url, url }
  }

  get #wallets(): readonly LiveAccount[] {
    const wallets = [...(this.#parts.chain?.wallets.values() ?? [])]
    if (wallets.length === 0) throw new SluiceError('no bot here trades with a wallet')
    return wallets
  }
}

/** Returns the settings of a bot. Throws a SluiceError if no such bot runs. */
export function botOf(bots: readonly BotSettings[], bot: string): BotSettings {
  const settings = bots.find(({ name }) => name === bot)
  if (settings !== undefined) return settings
  throw new SluiceError(`no bot ${bot} runs here; running: ${bots.map(({ name }) => name).join(', ')}`)
}

/** The only wallet that a command concerns, with its account; empty if the command concerns all wallets. */
export interface OneWallet {
  readonly wallet?: string
  readonly account?: string
}

/** Finds the account of a wallet. Throws a SluiceError if no bot trades with such a wallet. */
export function accountNamed(bots: readonly BotSettings[], wallet: string | undefined): OneWallet {
  if (wallet === undefined) return {}
  const found = bots.find((bot) => bot.wallet === wallet)
  if (found !== undefined) return { wallet, account: found.account.id }
  const names = [...new Set(bots.flatMap((bot) => bot.wallet ?? []))]
  const known = names.length === 0 ? 'the wallets here have no names' : `the wallets are ${names.join(', ')}`
  throw new SluiceError(`there is no wallet ${wallet}: ${known}${didYouMean(wallet, names)}`)
}

/** The bots of a wallet. */
export function botsOf(bots: readonly BotSettings[], { account }: OneWallet): readonly BotSettings[] {
  return account === undefined ? bots : bots.filter((bot) => bot.account.id === account)
}

/** Part of a sentence that names the only wallet that a command concerns; '' if it concerns all wallets. */
export function ofWallet({ wallet }: OneWallet): string {
  return wallet === undefined ? '' : ` of the wallet ${wallet}`
}

function flagOf({ wallet }: OneWallet): string {
  return wallet === undefined ? '' : ` --wallet ${wallet}`
}

function only({ account }: OneWallet): { account?: string } {
  return account === undefined ? {} : { account }
}

/** Returns the positions that hold tokens. */
function heldBy({ positions }: ViewModel, { account }: OneWallet): Position[] {
  return [...positions.values()].filter((one) => one.tokens > 0n && (account ?? one.account) === one.account)
}

/** Returns the positions in a mint that hold tokens. Throws a SluiceError if there is none. */
export function heldOf(model: ViewModel, mint: string, of: OneWallet): Position[] {
  const held = heldBy(model, of).filter((position) => position.mint === mint)
  if (held.length === 0) throw new SluiceError(`no bot${ofWallet(of)} holds ${mint}`)
  return held
}
