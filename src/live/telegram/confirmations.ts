import { SluiceError } from '../../base/errors.ts'
import { failpoint } from '../../base/failpoint.ts'
import type { Clock } from '../../base/machine.ts'
import type { Log } from '../../runtime/log.ts'
import type { View } from '../../runtime/view/view.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { ControlCommand, RemoteCommand } from '../control/command.ts'
import { NONCE_MS, Nonces } from '../control/nonces.ts'
import type { Preview } from '../control/preview.ts'
import type { CallBot } from './bot-client.ts'
import type { Outbox } from './outbox.ts'
import { textOf } from './texts.ts'
import type { Press } from './updates.ts'

/** The parts that the commands of operators need: the state of the bots, and the functions that carry commands out. */
export interface Steered {
  readonly view: () => View
  readonly preview: (command: RemoteCommand) => Preview
  /** Carries out a command. `by`: source of the command. `update`: the Telegram update that confirmed it. */
  readonly handle: (command: ControlCommand, by: string, update: number) => object | Promise<object>
  /** Whether the journal contains a command that this update confirmed. */
  readonly isRecorded: (update: number) => boolean
}

export interface ConfirmationParts {
  readonly steered: Steered
  readonly outbox: Pick<Outbox, 'send'>
  readonly call: CallBot
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
}

export const OPERATOR_COMMANDS = ['/halt', '/resume', '/flatten', '/sell'] as const
const DATA = /^([yn]):([\w-]{32})$/
/** Minimum number of a mint's first characters with which an operator may name a position to sell. */
const SHORTEST_MINT = 4

/** Commands of operators. Each command is first shown as a preview with two buttons. It is carried out once, when the
 *  operator who requested it presses the button within a minute. After a restart, earlier buttons do not work, so a
 *  crash never repeats a command. */
export class Confirmations {
  readonly #parts: ConfirmationParts
  readonly #nonces: Nonces<RemoteCommand>

  constructor(parts: ConfirmationParts) {
    this.#parts = parts
    this.#nonces = new Nonces(() => parts.clock.now())
  }

  /** Shows what a command would do. `words`: the command and its arguments. */
  ask(user: number, [name = '', ...more]: readonly string[]): void {
    const { steered, outbox } = this.#parts
    try {
      const command = commandOf(name, more, steered.view())
      const { text, warning } = steered.preview(command)
      const { nonce, expiresAt } = this.#nonces.make(`${user}`, command)
      const lines = [name, text, ...(warning === undefined ? [] : [`Note: ${warning}`])]
      outbox.send({
        ...{ user, isSilent: true },
        text: textOf([...lines, `Confirm within ${NONCE_MS / 1_000} seconds.`]),
        buttons: [
          { text: 'Confirm', data: `y:${nonce}` },
          { text: 'Do nothing', data: `n:${nonce}` },
        ],
        late: {
          at: expiresAt,
          text: textOf([...lines, 'This command arrived too late. Nothing was done: send it again.']),
        },
      })
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      outbox.send({ user, isSilent: true, text: textOf([`${name}: ${error.message}`]) })
    }
  }

  /** Carries out the command of a button. Resolves once the engine has handled the command. */
  async press({ user, query, data, message, update }: Press): Promise<void> {
    const { call, outbox, steered } = this.#parts
    // Telegram shows a pressed button as waiting until the press is answered.
    void call('answerCallbackQuery', { callback_query_id: query })
    const [, choice, nonce = ''] = DATA.exec(data) ?? []
    const taken = this.#nonces.take(`${user}`, nonce)
    const show = (text: string): void =>
      void outbox.send({ user, isSilent: false, text: textOf([text]), replaces: message })
    if (taken.kind === 'invalid') {
      if (steered.isRecorded(update)) show('This command was carried out before the process ended.')
      else
        outbox.send({
          user,
          isSilent: true,
          text: 'This button was already used, or the process has restarted since. This press had no effect.',
        })
    } else if (choice === 'n') show('Nothing was done.')
    else if (taken.kind === 'expired')
      show('The confirmation arrived too late. Nothing was done: send the command again.')
    else show(await this.#carryOut(taken.action, user, update))
  }

  async #carryOut(command: RemoteCommand, user: number, update: number): Promise<string> {
    failpoint('update-received')
    const by = `telegram:${user}`
    try {
      const answer = (await this.#parts.steered.handle(command, by, update)) as { text?: string }
      failpoint('update-given')
      return `${command.command}: ${answer.text ?? 'done'}`
    } catch (error) {
      if (error instanceof SluiceError) return `${command.command}: ${error.message}`
      this.#parts.log.warn({ error: (error as Error).stack }, 'telegram: a command failed')
      return `${command.command}: the command failed; the log contains the reason`
    }
  }
}

/** Returns the command with this name and these arguments. Throws a SluiceError if the command is incomplete, or if no
 *  bot holds the mint that the command names. */
function commandOf(name: string, [first = '', second = '']: readonly string[], view: View): RemoteCommand {
  if (name === '/halt') return { command: 'halt', ...only(first, view) }
  if (name === '/resume') return { command: 'resume', ...only(first, view) }
  if (name === '/flatten') return { command: 'flatten', ...only(first, view) }
  return { command: 'sell', mint: heldMint(first, view), ...only(second, view) }
}

/** Returns the wallet that a command names, if there is one. Words after a command are ignored if the wallets have no
 *  names. */
function only(wallet: string, { wallets }: View): { wallet?: string } {
  return wallet === '' || wallets.every(({ name }) => name === undefined) ? {} : { wallet }
}

/** Returns the mint of a held position. `about`: the mint, or its first characters, as `/positions` shows them. */
function heldMint(about: string, { positions }: View): string {
  const given: unknown = about
  if (isPublicKey(given)) return given
  const start = about.replace(/\.+$/, '')
  const mints = new Set(positions.filter(({ tokens }) => tokens > 0).map(({ mint }) => mint))
  const found = [...mints].filter((mint) => start.length >= SHORTEST_MINT && mint.startsWith(start))
  if (found.length === 1) return found[0] as string
  if (found.length > 1)
    throw new SluiceError(`${found.length} held mints begin with ${start}: send more characters of the mint`)
  throw new SluiceError('send /sell and the mint, or the beginning of a mint that /positions lists')
}
