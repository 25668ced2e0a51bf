import { SluiceError } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import { formatSol } from '../../base/units.ts'
import { readBuy } from '../../engine/buy-and-sell-options.ts'
import { exitSentences } from '../../engine/exits/exit-rules.ts'
import { reserveOf } from '../../engine/limits/balance-check.ts'
import { LIMITS, type Limits } from '../../engine/limits/limit-rules.ts'
import { checkRanges } from '../../engine/limits/order-bounds.ts'
import { sentencesOf } from '../../engine/limits/setting-rows.ts'
import type { BotSettings } from '../../engine/settings.ts'
import { outlastsResume } from '../../runtime/view/entry-stops.ts'
import type { PositionStatus, View } from '../../runtime/view/view.ts'
import type { RemoteCommand } from './command.ts'
import { requireNoHaltFile } from './halt-file.ts'
import { accountNamed, botOf, botsOf, heldOf, type OneWallet, type OperatorParts, ofWallet } from './operator.ts'

/** What a command will do, in words. */
export interface Preview {
  readonly text: string
  /** Consequence of the command that the operator may not expect. */
  readonly warning?: string
}

type PreviewParts = Pick<OperatorParts, 'bots' | 'model' | 'view' | 'haltPath' | 'priceOf' | 'now'>

/** Describes the effect of a command if it is given now. Throws a SluiceError if the command would be refused for a
 *  reason that is already known. */
export function previewOf(command: RemoteCommand, parts: PreviewParts): Preview {
  const view = parts.view()
  const of = accountNamed(parts.bots, 'wallet' in command ? command.wallet : undefined)
  const bots = botsOf(parts.bots, of)
  const halt = haltText(view, bots, of)
  switch (command.command) {
    case 'resume':
      requireNoHaltFile(parts.haltPath)
      return resumePreview({ ...parts, bots }, of)
    case 'halt':
      return { text: halt }
    case 'flatten':
      return salePreview(`${halt} Then every position${ofWallet(of)} is sold:`, heldIn(view, of), bots)
    case 'sell': {
      heldOf(parts.model, command.mint, of)
      const held = heldIn(view, of).filter(({ mint }) => mint === command.mint)
      const where = of.wallet === undefined ? '' : ` in the wallet ${of.wallet}`
      return salePreview(
        `All tokens of ${command.mint}${where} are sold, and its waiting buys are cancelled:`,
        held,
        bots,
      )
    }
    case 'cancel':
      return { text: cancelText(command.order, view, parts) }
    case 'buy':
      return buyPreview(command, view, parts)
  }
}

/** `bots`: the bots that the halt concerns. */
function haltText({ openOrders }: View, bots: readonly BotSettings[], of: OneWallet): string {
  const names = new Set(bots.map(({ name }) => name))
  const isQueued = ({ kind, stage, bot }: View['openOrders'][number]): boolean =>
    kind === 'entry' && stage === 'queued' && names.has(bot)
  const queued = openOrders.filter(isQueued).length
  const cancelled = queued === 0 ? '' : ` ${counted(queued, 'buy')} that waits to be sent is cancelled.`
  return `No bot${ofWallet(of)} (${[...names].join(', ')}) buys until \`resume\`, even after a restart. Exits continue.${cancelled}`
}

function resumePreview({ bots, model, now }: PreviewParts, of: OneWallet): Preview {
  const text = `Bots${ofWallet(of)} may buy again: ${bots.map(({ name }) => name).join(', ')}. From now on, their drawdown is measured from the present result. If losses have paused their entries, these pauses end now.`
  const lasting = model.stops.of(bots, now()).filter(outlastsResume)
  if (lasting.length === 0) return { text }
  const reasons = lasting.map((stop) => `${stop.code} (${stop.bots.join(', ')})`).join(', ')
  return { text, warning: `These causes still stop entries afterwards: ${reasons}.` }
}

function heldIn({ positions }: View, { account }: OneWallet): PositionStatus[] {
  return positions.filter(({ id, tokens }) => tokens > 0 && (account === undefined || id.startsWith(`${account}/`)))
}

function salePreview(first: string, held: readonly PositionStatus[], bots: readonly BotSettings[]): Preview {
  const cost = held.reduce((sum, { costSol }) => sum + costSol, 0)
  const priced = held.filter(({ valueSol }) => valueSol !== null)
  const value = priced.reduce((sum, { valueSol }) => sum + (valueSol ?? 0), 0)
  const worth = priced.length === 0 ? '' : `, worth about ${sol(value)} SOL if sold now`
  const owners = [...new Set(held.map(({ bot }) => bot))]
  const text = `${first} ${counted(held.length, 'position')}${owners.length === 0 ? '' : ` of ${owners.join(', ')}`}, bought for ${sol(cost)} SOL${worth}.${ladderText(owners, bots)}`
  const unpriced = held.length - priced.length
  const unsellable = held.filter((position) => position.unsellable).length
  const warnings = [
    ...(unpriced > 0 ? [`${counted(unpriced, 'position')} without a price at present.`] : []),
    ...(unsellable > 0 ? [`${counted(unsellable, 'position')} could not be sold so far.`] : []),
  ]
  return { text, ...(warnings.length > 0 && { warning: warnings.join(' ') }) }
}

/** Text about the slippage that a sale accepts in its first attempt and in later ones. */
function ladderText(owners: readonly string[], bots: readonly BotSettings[]): string {
  const ladders = bots.filter(({ name }) => owners.includes(name)).map(({ exitOrders }) => exitOrders.slippageLadder)
  if (ladders.length === 0) return ''
  const first = Math.max(...ladders.map((ladder) => ladder[0] ?? 0))
  const last = Math.max(...ladders.map((ladder) => ladder.at(-1) ?? 0))
  return ` A sale accepts a slippage of ${first} % at first, and up to ${last} % in later attempts.`
}

function cancelText(id: string, { openOrders }: View, { model }: PreviewParts): string {
  const conditional = model.conditionals.get(id)
  if (conditional !== undefined) {
    const { bot, mint, action, reason } = conditional
    return `The conditional order ${id} is cancelled: ${bot} would ${action.side} ${mint} (${reason}).`
  }
  const order = openOrders.find((one) => one.id === id)
  if (order === undefined) throw new SluiceError(`${id} is not open`)
  if (order.state !== 'accepted')
    throw new SluiceError(`${id} was already sent and may execute, so it can no longer be cancelled`)
  const amount = order.sol === null ? '' : `${sol(order.sol)} SOL of `
  return `The order ${id} is cancelled if it has not been sent by then: ${order.bot} would ${order.side} ${amount}${order.mint} (${order.reason}).`
}

function buyPreview(
  { bot, mint, sol: amount }: Extract<RemoteCommand, { command: 'buy' }>,
  { plan, stops }: View,
  { bots, priceOf }: PreviewParts,
): Preview {
  const settings = botOf(bots, bot)
  const request = readBuy({ sol: amount, reason: '' }, settings.orders, settings.exits)
  const veto = 'code' in request ? request : checkRanges(request.amount, request.orders, plan)
  if (veto !== undefined || 'code' in request) throw new SluiceError(`${veto?.code}: ${veto?.reason}`)
  const { slippagePercent, priorityFeeLamports } = request.orders
  const fee = priorityFeeLamports === null ? 'chosen by the service' : `${formatSol(priorityFeeLamports)} SOL`
  const limits = sentencesOf<Limits>(LIMITS, settings.limits).join(', ') || 'none'
  const exits = exitSentences(settings.exits).join(', ') || 'none'
  const money = settings.account.mode === 'live' ? 'the wallet' : 'its paper wallet'
  const own = stops.filter((stop) => stop.bots.includes(bot)).map(({ code }) => code)
  const warnings = [
    ...(own.length > 0 ? [`Entries of ${bot} are stopped (${own.join(', ')}), so the buy will be refused.`] : []),
    ...(priceOf(mint) === undefined ? ['The token has no robust price yet, so the buy will be refused.'] : []),
    ...(settings.exits.stopLossPercent === undefined && settings.exits.maxHoldSeconds === undefined
      ? [`${bot} has neither a stop-loss nor a maximum holding time.`]
      : []),
  ]
  return {
    text: `${bot} buys ${mint} for ${formatSol(request.amount)} SOL. At most ${formatSol(reserveOf(request))} SOL leave ${money}: slippage up to ${slippagePercent} %, priority fee ${fee}, and rent. Limits of ${bot} that apply: ${limits}. From then on ${bot} manages the position: exits ${exits}.`,
    ...(warnings.length > 0 && { warning: warnings.join(' ') }),
  }
}

function sol(amount: number): string {
  return formatSol(Math.round(amount * 1e9))
}
