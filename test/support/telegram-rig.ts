import type { Http, HttpResult } from '../../src/base/machine.ts'
import { TELEGRAM_KINDS, type TelegramKind } from '../../src/config/alert-kinds.ts'
import type { TelegramConfig } from '../../src/config/config.ts'
import { loudnessOf } from '../../src/config/convert-sections.ts'
import type { ControlCommand } from '../../src/live/control/command.ts'
import { botClient } from '../../src/live/telegram/bot-client.ts'
import { Telegram } from '../../src/live/telegram/telegram.ts'
import type { View } from '../../src/runtime/view/view.ts'
import { BotApi } from '../../src/sandbox/telegram/bot-api.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'

const TOKEN = '1:AAAAAAAAAAAAAAAAAAAAAAAA'
export const VIEWER = 501
export const OPERATOR = 601

/** A bot that serves a viewer and an operator through the sandbox's Bot API, on a simulated clock. */
export class TelegramRig {
  readonly clock: SimulatedClock
  readonly api: BotApi
  readonly lines: string[] = []
  readonly telegram: Telegram
  /** The commands that were carried out. */
  readonly commands: { readonly command: ControlCommand; readonly by: string; readonly update: number }[] = []
  /** The updates of Telegram that the journal of an earlier process contains. */
  readonly recorded = new Set<number>()
  /** The questions about the journal that the bot received. */
  readonly asked: string[] = []
  /** Carries out a command. */
  handle: (command: ControlCommand) => object | Promise<object> = ({ command }) => ({ text: `${command} is done` })
  /** Whether the journal contains a command of this update. */
  isRecorded: (update: number) => boolean = (update) => this.recorded.has(update)
  /** Answers a question about the journal. */
  run: (args: readonly string[]) => Promise<readonly string[]> = async (args) => [`lines of ${args.join(' ')}`]
  /** Returns the updates with which a poll is answered. If undefined, the simulated API answers polls. */
  poll: ((offset: number) => readonly object[]) | undefined
  /** Returns the result of a request to Telegram. If undefined, the simulated API answers the request. */
  instead: () => HttpResult | undefined = () => undefined

  /** `beside`: the rig of another process that uses the same Telegram bot; both share the clock and the API. */
  constructor(
    events: Partial<TelegramConfig['events']> = {},
    { token = TOKEN, operators = [] as number[], beside = undefined as TelegramRig | undefined } = {},
  ) {
    this.clock = beside?.clock ?? new SimulatedClock(Date.UTC(2026, 10, 23, 12))
    this.api = beside?.api ?? new BotApi({ token: TOKEN, clock: this.clock, users: [VIEWER, OPERATOR] })
    const kinds = TELEGRAM_KINDS.map((kind: TelegramKind) => [kind, events[kind] ?? loudnessOf(kind)])
    const log = (fields: unknown, text?: string) => this.lines.push(text === undefined ? `${fields}` : text)
    this.telegram = new Telegram({
      ...{ viewers: [VIEWER, ...operators], operators, events: Object.fromEntries(kinds), clock: this.clock },
      log: { info: log, warn: log } as never,
      call: botClient(this.http, 'http://api', token),
    })
  }

  serve(view: View): this {
    this.telegram.serve({
      view: () => view,
      preview: (command) => ({ text: `preview of ${command.command}`, warning: 'at the market' }),
      handle: (command, by, update) => {
        this.commands.push({ command, by, update })
        return this.handle(command)
      },
      isRecorded: (update) => this.isRecorded(update),
      own: {
        run: (args) => {
          this.asked.push(args.join(' '))
          return this.run(args)
        },
      },
    })
    return this
  }

  /** Returns the texts that a user sees now. */
  shownTo(user: number): string[] {
    return this.api.sent.filter(({ chat }) => chat === user).map(({ text }) => text)
  }

  /** The texts that the viewer has received. */
  get texts(): string[] {
    return this.api.sent.map(({ text }) => text)
  }

  async pass(ms: number): Promise<void> {
    const end = this.clock.now() + ms
    for (await settled(); this.clock.nextAt() <= end; await settled()) this.clock.advanceTo(this.clock.nextAt())
    this.clock.advanceTo(end)
    await settled()
  }

  readonly http: Http = async ({ method, url, body = '' }) => {
    const other = this.instead()
    if (other !== undefined) return other
    if (this.poll !== undefined && url.endsWith('/getUpdates')) {
      const result = this.poll(JSON.parse(body).offset)
      return { kind: 'answered', status: 200, headers: {}, body: JSON.stringify({ ok: true, result }) }
    }
    const answer = await this.api.handle({ method, path: new URL(url).pathname, headers: {}, body })
    if (answer === undefined) return { kind: 'lost', reason: 'closed' }
    return { kind: 'answered', status: answer.status, headers: {}, body: String(answer.body) }
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}
