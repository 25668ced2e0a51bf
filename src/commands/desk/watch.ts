import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Clock, Http } from '../../base/machine.ts'
import { printable } from '../../base/text.ts'
import { rpcAddressProblem } from '../../config/address.ts'
import { alertsFrom, telegramFrom } from '../../config/convert-sections.ts'
import { readConfigFile } from '../../config/read-file.ts'
import { formatErrors } from '../../config/yaml/errors.ts'
import { type Alert, Alerts, webhook } from '../../live/alerts.ts'
import { HealthWatch } from '../../live/health-watch.ts'
import { openTelegram } from '../../live/telegram/telegram.ts'
import { createLog } from '../../runtime/log.ts'
import { redactor } from '../../runtime/redactor.ts'
import { SystemClock } from '../../runtime/system-clock.ts'
import { stampOf } from '../../runtime/time-text.ts'
import { openHttp } from '../../venues/http.ts'
import { defineCommand, flag, JSON_LINE, number, text } from '../options.ts'
import { untilInterrupted } from '../trade/run-bots.ts'

const TIMEOUT_MS = 10_000

/** Watches processes from another machine, through their desks. Exits 1 if one of the processes was down at the last
 *  check. */
export const command = defineCommand({
  options: {
    alerts: text('<file>', 'send alerts to the receivers in the sections `alerts` and `telegram` of this YAML file'),
    every: number('<n>', 'seconds between two checks', { min: 1, max: 3_600 }, 30),
    misses: number(
      '<n>',
      'number of consecutive checks without an answer before the alarm',
      { integer: true, min: 1 },
      3,
    ),
    once: flag('check once and exit: 0 if every process runs, 1 if not'),
    json: JSON_LINE,
  },
  async run(urls, { alerts: file, every, misses, once, json }) {
    const addresses = urls.map(healthAddress)
    const { http, close } = openHttp({ timeoutMs: TIMEOUT_MS, longestBody: 65_536 })
    const clock = new SystemClock()
    const alerts = file === undefined ? undefined : alertsOf(file, http, clock)
    if (alerts === undefined && !once)
      console.error('sluice: without --alerts, problems are only printed here and not sent')
    const tell = (line: string): void => {
      console.error(printable(`${stampOf(clock.now())}  ${line}`))
      alerts?.raise({ kind: 'watch', bot: '', text: line, time: clock.now() })
    }
    const watches = addresses.map(
      (url) => new HealthWatch({ url, http, misses: once ? 1 : misses, now: () => clock.now(), tell }),
    )
    try {
      await (once ? lookAt(watches) : keepLooking(watches, every * 1_000))
      const states = watches.map(({ state }) => state)
      if (json) console.log(JSON.stringify({ watched: states }))
      return states.every(({ isUp }) => isUp) ? ExitCode.done : ExitCode.failed
    } finally {
      clock.stop()
      await Promise.all([close(), alerts?.close()])
    }
  },
})

async function lookAt(watches: readonly HealthWatch[]): Promise<void> {
  await Promise.all(watches.map((watch) => watch.look()))
}

/** Looks until Ctrl-C. */
async function keepLooking(watches: readonly HealthWatch[], everyMs: number): Promise<void> {
  const interrupted = untilInterrupted()
  let isOver = false
  void interrupted.promise.then(() => {
    isOver = true
  })
  try {
    while (!isOver) {
      await Promise.race([lookAt(watches), interrupted.promise])
      const pause = Promise.withResolvers<void>()
      const timer = setTimeout(pause.resolve, everyMs)
      await Promise.race([pause.promise, interrupted.promise])
      clearTimeout(timer)
    }
  } finally {
    interrupted.release()
  }
}

/** Returns the address at which a desk reports its health. An address that already has a path is returned unchanged.
 *  Throws a SluiceError (exit 2) if it is neither an HTTPS address nor an address of this machine. */
function healthAddress(text: string): string {
  const problem = rpcAddressProblem(text)
  if (problem) throw new SluiceError(problem, ExitCode.usage)
  const url = new URL(text)
  if (url.pathname === '/') url.pathname = '/health'
  return url.href
}

interface Told {
  raise(alert: Alert): void
  close(): Promise<void>
}

/**
 * Opens the receivers of a configuration file: its webhook and its Telegram bot. The other sections are not read, so
 * the watcher needs no strategy and no key. The watcher's Telegram bot only sends alerts and answers no questions,
 * because the watched process itself answers them.
 */
function alertsOf(file: string, http: Http, clock: Clock): Told {
  const cwd = process.cwd()
  const { file: read, errors } = readConfigFile(file, cwd)
  if (errors.length > 0) throw new SluiceError(`the configuration is invalid\n${formatErrors(errors)}`, ExitCode.usage)
  const [alerts, telegram] = [alertsFrom(read?.sections.alerts, cwd), telegramFrom(read?.sections.telegram, cwd)]
  if (alerts === undefined && telegram === undefined)
    throw new SluiceError(`${file} has neither a section alerts nor a section telegram`, ExitCode.usage)
  const log = createLog({ level: 'warn', format: 'text', redact: redactor(telegram ? [telegram.token.read()] : []) })
  const hook =
    alerts &&
    new Alerts({
      ...{ shape: alerts.shape, clock, post: webhook(http, alerts.url.read()) },
      warn: (text) => log.warn(text),
    })
  const bot = telegram && openTelegram(telegram, { clock, log })
  return {
    raise: (alert) => {
      hook?.raise(alert)
      bot?.telegram.raise(alert)
    },
    close: async () => bot?.close(),
  }
}
