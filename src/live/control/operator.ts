import { SluiceError } from '../../base/errors.ts'
import { formatSol, type Millis, wholeTokens } from '../../base/units.ts'
import { valueAt } from '../../engine/accounting/liquidation.ts'
import type { Position } from '../../engine/accounting/position.ts'
import type { Command } from '../../engine/messages.ts'
import type { BotSettings } from '../../engine/settings.ts'
import { outlastsResume } from '../../runtime/view/entry-stops.ts'
import type { View } from '../../runtime/view/view.ts'
import type { ViewModel } from '../../runtime/view/view-model.ts'
import type { LiveChain } from '../live-chain.ts'
import type { ControlCommand } from './command.ts'

export interface OperatorParts {
  readonly post: (command: Command) => void
  readonly model: ViewModel
  readonly bots: readonly BotSettings[]
  /** Chain of the live bots; undefined if no bot may trade real money. */
  readonly chain: LiveChain | undefined
  /** Robust price of a mint, SOL per token; undefined if there is none yet. */
  readonly priceOf: (mint: string) => number | undefined
  readonly view: () => View
  /** Makes a login link of the desk; undefined if this process serves none. */
  readonly deskLink?: DeskLink | undefined
  readonly now: () => Millis
}

/** Makes a link that begins one session of the desk. `name`: name of the session; '' for a usual one. */
export type DeskLink = (readOnly: boolean, name: string) => Promise<string>

type Of<K extends ControlCommand['command']> = Extract<ControlCommand, { command: K }>

/** Turns commands into inputs of the engine. The answer only confirms the command; its results are in the journal. */
export class Operator {
  readonly #parts: OperatorParts

  constructor(parts: OperatorParts) {
    this.#parts = parts
  }

  /** Carries out a command and returns its answer. Throws a SluiceError with the reason if the command is refused. */
  carryOut(command: ControlCommand): object | Promise<object> {
    const { post, model } = this.#parts
    const held = [...model.positions.values()].filter(({ tokens }) => tokens > 0n)
    switch (command.command) {
      case 'halt':
        post({ name: 'halt' })
        return { text: 'entries are halted; exits continue; `sluice resume` allows entries again' }
      case 'resume':
        post({ name: 'resume' })
        return { text: `${this.#afterResume()}${this.#unpriced(held)}` }
      case 'accept':
        post({ name: 'accept', signature: command.signature })
        return { text: `${command.signature === 'all' ? 'every transaction' : command.signature} is accepted` }
      case 'flatten': {
        post({ name: 'flatten' })
        const text = `entries are halted; selling ${held.length} position${held.length === 1 ? '' : 's'}`
        return { text, selling: held.length }
      }
      case 'sell':
        return this.#sell(command)
      case 'resolve':
        return this.#resolve(command)
      case 'adopt':
        return this.#adopt(command)
      case 'signal':
        post({ name: 'signal', signal: command.signal, data: command.data })
        return { text: `signal ${command.signal} given to every bot` }
      case 'desk-link':
        return this.#deskLink(command)
      case 'status':
        return this.#parts.view()
    }
  }

  #sell({ mint }: Of<'sell'>): object {
    const { post, model } = this.#parts
    const selling = [...model.positions.values()].filter((position) => position.tokens > 0n && position.mint === mint)
    if (selling.length === 0) throw new SluiceError(`no bot holds ${mint}`)
    post({ name: 'sell', mint })
    const cost = selling.reduce((sum, { costLamports }) => sum + costLamports, 0)
    return { text: `selling ${mint}, bought for ${formatSol(cost)} SOL`, selling: selling.length }
  }

  #afterResume(): string {
    const { model, bots, now } = this.#parts
    const lasting = model.stops.of(bots, now()).filter(outlastsResume)
    if (lasting.length === 0) return 'entries continue'
    const reasons = lasting.map(({ code, bots, text }) => `${code} (${bots.join(', ')}): ${text}`)
    return `your halt is lifted, but entries are still stopped by causes that \`resume\` cannot end: ${reasons.join('; ')}`
  }

  /** Text about held positions without a price, which the drawdown counts as lost; '' if there are none. */
  #unpriced(held: readonly Position[]): string {
    const count = held.filter(({ mint }) => this.#parts.priceOf(mint) === undefined).length
    if (count === 0) return ''
    const which = count === 1 ? '1 position has' : `${count} positions have`
    return `; ${which} no price yet and count as lost until then: run \`sluice resume\` again once there is a price to forgive the drawdown that they cause (limits.maxDrawdownSol)`
  }

  async #resolve({ order, verdict }: Of<'resolve'>): Promise<object> {
    const { byHand } = this.#chain.wallet
    if (verdict === 'show') return byHand.show(order)
    if (verdict === 'not-executed') return { text: byHand.notExecuted(order) }
    return { text: await byHand.executed(order, verdict.executed) }
  }

  async #adopt({ mint, bot }: Of<'adopt'>): Promise<object> {
    const { bots, model, priceOf } = this.#parts
    const chain = this.#chain
    const settings = bots.find(({ name }) => name === bot)
    if (settings === undefined)
      throw new SluiceError(`no bot ${bot} runs here; running: ${bots.map(({ name }) => name).join(', ')}`)
    if (settings.account.id !== chain.account) throw new SluiceError(`${bot} runs on paper and has no wallet`)
    const owner = [...model.positions.values()].find((one) => one.mint === mint && one.account === chain.account)
    if (owner !== undefined) throw new SluiceError(`${owner.bot} already has a position in it`)
    const price = priceOf(mint)
    if (price === undefined)
      throw new SluiceError(`${mint} has no robust price yet, which its exits need: wait until a bot has seen it trade`)
    const holding = await chain.wallet.byHand.holding(mint)
    if (holding === undefined) throw new SluiceError(`the wallet holds no tokens of ${mint}`)
    const cost = valueAt(price, holding.tokens, holding.decimals)
    if (cost === undefined)
      throw new SluiceError(`${price} SOL per token is not a plausible price of ${mint}: wait for another price`)
    chain.adopt(bot, mint, holding)
    const tokens = wholeTokens(holding.tokens, holding.decimals)
    return { text: `${bot} now holds ${tokens} of ${mint} at ${formatSol(cost)} SOL; its exits are active` }
  }

  async #deskLink({ readOnly, name }: Of<'desk-link'>): Promise<object> {
    const { deskLink } = this.#parts
    if (deskLink === undefined) throw new SluiceError('this process serves no desk')
    const url = await deskLink(readOnly, name)
    return { text: url, url }
  }

  get #chain(): LiveChain {
    const { chain } = this.#parts
    if (chain === undefined) throw new SluiceError('no bot here trades with a wallet')
    return chain
  }
}
