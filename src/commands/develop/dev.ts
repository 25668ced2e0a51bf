import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { type DevChange, DevSession, type DevState } from '../../testing/dev/dev-session.ts'
import { JournalSource, SandboxSource } from '../../testing/dev/dev-source.ts'
import { defineCommand, JSON_LINE, number, type Option, RUNNING, SEED, text } from '../options.ts'
import { untilInterrupted } from '../trade/run-bots.ts'
import { Screen } from '../trade/status-table.ts'
import { comparisonLines, devPicture, eventLine, failureLines } from './dev-picture.ts'

/** Maximum number of events that are printed after a version was loaded, if there is no terminal. */
const EVENTS_PRINTED = 5

/** Runs a strategy while it is edited. Ends with Ctrl-C. */
export const command = defineCommand({
  options: {
    journal: text('<db>', 'play the tape of this journal instead of the market of the sandbox'),
    speed: speedOption(),
    window: number(
      '<seconds>',
      'length, in seconds, of the last part of the market, which each version replays for the comparison of versions',
      { min: 1, max: 86400 },
      600,
    ),
    seed: number('<n>', 'random seed of the market of the sandbox', SEED, 1),
    seconds: RUNNING.seconds,
    json: JSON_LINE,
  },
  async run(
    [file = ''],
    { journal, speed = journal === undefined ? 1 : Number.POSITIVE_INFINITY, window, seed, seconds, json },
  ) {
    if (!existsSync(file))
      throw new SluiceError(`${file}: no such file; expected a strategy or a configuration`, ExitCode.usage)
    if (journal === undefined && speed === Number.POSITIVE_INFINITY)
      throw new SluiceError('--speed max needs a tape: add --journal DB, or choose a number', ExitCode.usage)
    const source =
      journal === undefined ? new SandboxSource(seed, Date.now() - window * 1000) : new JournalSource(journal)
    const output = outputOf(file, json)
    const interrupted = untilInterrupted()
    const session = new DevSession({
      ...{ file, source, speed, isSandbox: journal === undefined, windowSeconds: window },
      changed: (change, state) => output.changed(change, state),
    })
    try {
      output.start()
      void session.start()
      await Promise.race([interrupted.promise, ...(seconds === undefined ? [] : [after(seconds)])])
    } finally {
      session.stop()
      output.stop()
      interrupted.release()
    }
    return ExitCode.done
  },
})

function outputOf(file: string, json: boolean): Output {
  if (json) return new JsonOutput()
  return process.stdout.isTTY === true ? new TerminalOutput(file) : new PlainOutput()
}

function speedOption(): Option<number | undefined> {
  return {
    placeholder: '<x>',
    about: 'speed of the market compared with real time, or max (default: 1; with --journal: max)',
    fallback: undefined,
    read: (given) => {
      const speed = given === 'max' ? Number.POSITIVE_INFINITY : Number(given)
      if (speed > 0) return speed
      throw new InvalidArgumentError('Expected a number above 0, or max.')
    },
  }
}

async function after(seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
}

interface Output {
  start(): void
  stop(): void
  changed(change: DevChange, state: DevState): void
}

class TerminalOutput implements Output {
  readonly #screen: Screen
  #state: DevState | undefined

  constructor(file: string) {
    const title = relative('', file)
    this.#screen = new Screen((columns, rows) =>
      this.#state === undefined ? ['starting'] : devPicture(this.#state, title, columns, rows),
    )
  }

  start(): void {
    this.#screen.start()
  }

  stop(): void {
    this.#screen.stop()
  }

  changed(_change: DevChange, state: DevState): void {
    this.#state = state
    this.#screen.show()
  }
}

/** With --json, prints one line when the command ends: the results of the version of the strategy that runs at that
 *  time. */
class JsonOutput implements Output {
  #state: DevState | undefined

  start(): void {}

  stop(): void {
    const { version, failed } = this.#state ?? {}
    const { events: _events, ...report } = version?.report ?? {}
    const problem = failed === undefined ? null : { version: failed.number, message: failed.message }
    console.log(JSON.stringify({ version: version?.number ?? null, ...report, failed: problem }))
  }

  changed(_change: DevChange, state: DevState): void {
    this.#state = state
  }
}

/** Prints each change as lines. */
class PlainOutput implements Output {
  #printed = 0

  start(): void {}

  stop(): void {}

  changed(change: DevChange, state: DevState): void {
    const { version, comparison, failed, title } = state
    if (change === 'began' && version !== undefined) {
      const { number, firstEventMs } = version
      const when = firstEventMs === undefined ? title : `${firstEventMs.toFixed(0)} ms after the save`
      console.log(`version ${number}: first event, ${when}`)
    } else if (change === 'failed' && failed !== undefined)
      console.log(failureLines(failed, version, Number.POSITIVE_INFINITY).join('\n'))
    else if (change === 'compared' && version !== undefined) {
      for (const line of comparisonLines(state, 120)) console.log(line)
      if (comparison === undefined) this.#print(state, version.report.events.length - EVENTS_PRINTED)
      this.#printed = version.report.events.length
    } else if (change === 'report') this.#print(state, this.#printed)
  }

  #print({ version }: DevState, from: number): void {
    const events = version?.report.events ?? []
    for (const event of events.slice(Math.max(0, from))) console.log(eventLine(event, 120))
    this.#printed = events.length
  }
}
