// A thread with one version of a strategy. Each version has its own thread. All its modules are therefore loaded again,
// and no data of an old version stays in memory.
import { resolve } from 'node:path/posix'
import type { MessagePort } from 'node:worker_threads'
import { parentPort } from 'node:worker_threads'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import { loneBot } from '../../config/bots.ts'
import type { Config } from '../../config/config.ts'
import { loadConfig } from '../../config/load.ts'
import { PUBLIC_ENTRY } from '../../config/package-paths.ts'
import { loadStrategy } from '../../config/strategies.ts'
import { sourcesOf } from '../../config/strategy-sources.ts'
import { formatErrors } from '../../config/yaml/errors.ts'
import { LiveBlock, TranslatedBlock } from '../../market/live-block.ts'
import { Mints } from '../../market/mints.ts'
import type { BlockMemory, TapePart } from './growing-tape.ts'
import type { VersionReport } from './version-report.ts'
import { VersionRun } from './version-run.ts'

/** Parts of the tape, with the mints and the blocks that the thread does not know yet. */
export interface TapeNews {
  readonly mints: readonly string[]
  readonly blocks: readonly BlockMemory[]
  readonly parts: readonly TapePart[]
  /** Time to which the clock advances once the parts have been played. */
  readonly until: Millis
}

export type ToVersion =
  | { readonly kind: 'load'; readonly file: string; readonly isSandbox: boolean }
  /** Begins a new run. `news` contains all mints and all blocks of the parts, also those that the thread knows. */
  | { readonly kind: 'run'; readonly startsAt: Millis; readonly news: TapeNews }
  | { readonly kind: 'follow'; readonly news: TapeNews }
  | { readonly kind: 'report' }

export type FromVersion =
  | { readonly kind: 'ready' }
  | { readonly kind: 'loaded'; readonly sources: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string; readonly sources: readonly string[] }
  /** The first row of a run was handled. */
  | { readonly kind: 'began' }
  /** A part of the tape was played. */
  | { readonly kind: 'progress' }
  /** Results of the run. `report.events`: the events since the last report. */
  | { readonly kind: 'report'; readonly report: VersionReport }

const port = parentPort as MessagePort
const say = (message: FromVersion): void => port.postMessage(message)

let config: Config | undefined
let run: ThreadRun | undefined

/** A run of the version, with token numbers of its own. */
class ThreadRun {
  readonly #run: VersionRun
  readonly #mints = new Mints()
  readonly #tokens: number[] = []
  readonly #blocks = new Map<number, TranslatedBlock>()
  #hasBegun = false
  #reported = 0

  constructor(of: Config, startsAt: Millis) {
    this.#run = new VersionRun(of, this.#mints, startsAt)
  }

  take({ mints, blocks, parts, until }: TapeNews): void {
    for (const mint of mints) this.#tokens.push(this.#mints.intern(mint))
    for (const { number, buffer, capacity } of blocks)
      this.#blocks.set(number, new TranslatedBlock(new LiveBlock(this.#mints.list, capacity, buffer), this.#tokens))
    for (const part of parts) {
      if (part.kind === 'input') this.#run.play(part)
      else this.#rows(part)
      say({ kind: 'progress' })
    }
    this.#run.advanceTo(until)
  }

  #rows({ kind, block: number, from, to }: Extract<TapePart, { kind: 'rows' }>): void {
    const block = this.#blocks.get(number) as TranslatedBlock
    block.translate(to)
    if (this.#hasBegun) {
      this.#run.play({ kind, block, from, to })
      return
    }
    this.#hasBegun = true
    this.#run.play({ kind, block, from, to: from + 1 })
    say({ kind: 'began' })
    if (from + 1 < to) this.#run.play({ kind, block, from: from + 1, to })
  }

  report(): VersionReport {
    const report = this.#run.report(this.#reported)
    this.#reported += report.events.length
    return report
  }
}

async function load(file: string, isSandbox: boolean): Promise<void> {
  const path = resolve(file)
  const known = new Set(sourcesOf(path))
  try {
    const loaded = /\.ya?ml$/.test(file) ? await configOf(path) : await loneConfig(path)
    for (const { strategy } of loaded.bots) for (const source of sourcesOf(strategy.file)) known.add(source)
    // The market of the sandbox quotes its amounts in SOL. In `sluice dev` no order is sent, so every bot becomes a
    // paper bot.
    const { service } = loaded
    const units = isSandbox ? { ...service.units, tradeAmount: 'sol' as const } : service.units
    const bots = loaded.bots.map((bot) => ({ ...bot, mode: 'paper' as const }))
    config = { ...loaded, bots, service: { ...service, units } }
    say({ kind: 'loaded', sources: [...known] })
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    say({ kind: 'refused', message: error.message, sources: [...known] })
  }
}

async function configOf(file: string): Promise<Config> {
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new SluiceError(formatErrors(loaded.errors), ExitCode.usage)
  if (loaded.config.bots.length === 0) throw new SluiceError(`${file}: the configuration has no bots`, ExitCode.usage)
  return loaded.config
}

async function loneConfig(file: string): Promise<Config> {
  const { strategy } = await loadStrategy(file)
  const lone = loneBot(strategy, {})
  return { ...lone, bots: lone.bots.map((bot) => ({ ...bot, strategy: { ...bot.strategy, file } })) }
}

port.on('message', (message: ToVersion) => {
  if (message.kind === 'load') void load(message.file, message.isSandbox)
  else if (message.kind === 'run') {
    run = new ThreadRun(config as Config, message.startsAt)
    run.take(message.news)
  } else if (message.kind === 'follow') run?.take(message.news)
  else if (run !== undefined) say({ kind: 'report', report: run.report() })
})

// The public entry of Sluice is loaded now, while the thread waits, because every strategy imports it.
await import(PUBLIC_ENTRY)
say({ kind: 'ready' })
