import { existsSync, rmSync } from 'node:fs'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Millis, Seq } from '../base/units.ts'
import type { Input } from '../engine/messages.ts'
import { openJournal } from '../journal/writer/journal.ts'
import type { LiveBlock } from '../market/live-block.ts'
import type { Journal } from '../orders/ports.ts'
import { DEFAULT_VENUE } from '../venues/registry.ts'
import type { Captured, CaptureImporter, Line } from '../venues/venue.ts'

const { captures } = DEFAULT_VENUE
const REPORT_BYTES = 1e6

export interface ImportOptions {
  /** Whether the first bad line ends the import. */
  readonly strict: boolean
  /** Called with a message about each bad line. */
  readonly complain: (complaint: string) => void
  /** Called with the number of bytes that both passes have read so far. */
  readonly progress?: (bytes: number) => void
}

/** Counts the bytes of lines, and reports them after every MB. */
class ReadBytes {
  readonly #progress: (bytes: number) => void
  #bytes = 0
  #reported = 0

  constructor(progress: (bytes: number) => void = () => {}) {
    this.#progress = progress
  }

  add({ start, end }: Line): void {
    this.#bytes += end - start + 1
    if (this.#bytes - this.#reported < REPORT_BYTES) return
    this.#reported = this.#bytes
    this.#progress(this.#bytes)
  }
}

export interface Imported {
  readonly rows: number
  readonly gaps: number
  readonly badLines: number
  readonly duplicates: number
  /** Number of rows whose time is earlier than that of the previous row. Such a row counts as received together with
   *  the previous row. */
  readonly late: number
  /** Subscription keys that the tape covers, except in its gaps. */
  readonly keys: readonly string[]
}

/** Imports captures of a feed into a new journal, merged by time. All files are read twice. The first pass finds their
 *  coverage and, in a strict import, any bad line before anything is written. Throws SluiceError: exit 2 if the journal
 *  exists, otherwise exit 1. */
export async function importTape(files: readonly string[], path: string, options: ImportOptions): Promise<Imported> {
  if (existsSync(path)) throw new SluiceError(`${path} already exists; an import creates a new journal`, ExitCode.usage)
  const bytes = new ReadBytes(options.progress)
  const { keys, badLines } = lookAt(files, options, bytes)
  if (keys.size === 0) throw new SluiceError(`${files.join(', ')}: no market message found`)
  let failure: Error | undefined
  const journal = openJournal(path, { onFailure: (error) => (failure = error) })
  let imported: Imported | undefined
  try {
    imported = { ...new Import(journal, [...keys]).run(files, bytes), badLines }
  } finally {
    await journal.close()
    if (imported === undefined || failure !== undefined)
      for (const end of ['', '-wal', '-shm', '.reserve', '.lock', '.lock.holder']) rmSync(path + end, { force: true })
  }
  if (failure !== undefined) throw failure
  return imported
}

function lookAt(
  files: readonly string[],
  { strict, complain }: ImportOptions,
  bytes: ReadBytes,
): { keys: Set<string>; badLines: number } {
  const reader = captures.reader()
  const keys = new Set<string>()
  let badLines = 0
  for (const file of files)
    for (const line of captures.linesOf(file)) {
      bytes.add(line)
      const captured = reader.read(line)
      if (captured.kind === 'row') keys.add(captured.key)
      if (captured.kind !== 'bad') continue
      const complaint = `${file}:${line.number}: not a market message: ${whyText(captured.why)}`
      if (strict) throw new SluiceError(complaint)
      complain(complaint)
      badLines++
    }
  return { keys, badLines }
}

/** Describes why a line is bad, as a part of a message. If the reason is a single word, it is the name of a field. */
function whyText(why: string): string {
  return /^\w+$/.test(why) ? `its ${why} is missing or invalid` : why
}

class Import {
  readonly #journal: Journal
  readonly #keys: readonly string[]
  readonly #importer: CaptureImporter
  #seq: Seq = 1
  #time: Millis = 0
  #rows = 0
  #gaps = 0
  readonly #knownGaps = new Set<string>()
  #duplicates = 0
  #late = 0

  constructor(journal: Journal, keys: readonly string[]) {
    this.#journal = journal
    this.#keys = keys
    this.#importer = captures.importer((block, from, to) => this.#take(block, from, to))
  }

  run(files: readonly string[], bytes: ReadBytes): Omit<Imported, 'badLines'> {
    const sources = files.map((file) => new Source(file))
    const first = earliest(sources)
    if (first !== undefined) this.#input(first.time, { kind: 'feed', status: 'live', confirmed: this.#keys })
    for (let source = first; source !== undefined; source = earliest(sources)) {
      bytes.add(source.line as Line)
      this.#add(this.#importer.read(source.line as Line), source.time)
      source.next()
    }
    this.#importer.deliver()
    return { rows: this.#rows, gaps: this.#gaps, duplicates: this.#duplicates, late: this.#late, keys: this.#keys }
  }

  #add(captured: Captured, time: Millis): void {
    if (captured.kind === 'gap') this.#addGap(captured.from, time, captured.keys ?? this.#keys)
    else {
      if (time < this.#time) this.#late++
      this.#time = Math.max(time, this.#time)
      if (!this.#importer.append(this.#time)) this.#duplicates++
    }
  }

  #addGap(from: Millis, to: Millis, keys: readonly string[]): void {
    const gap = [from, to, ...keys].join(' ')
    if (this.#knownGaps.has(gap)) {
      this.#duplicates++
      return
    }
    this.#knownGaps.add(gap)
    this.#importer.deliver()
    this.#input(to, { kind: 'gap', from, to, keys })
    this.#gaps++
  }

  #input(time: Millis, input: Input): void {
    this.#time = Math.max(time, this.#time)
    this.#journal.input(this.#seq++, this.#time, input)
  }

  #take(block: LiveBlock, from: number, to: number): number {
    this.#journal.rows(block, from, to, this.#seq)
    this.#seq += to - from
    this.#rows += to - from
    return to
  }
}

/** A file, and its next line, which is a row or a gap. */
class Source {
  line: Line | undefined
  time: Millis = 0
  readonly #lines: Generator<Line, void, undefined>
  readonly #reader = captures.reader()

  constructor(file: string) {
    this.#lines = captures.linesOf(file)
    this.next()
  }

  next(): void {
    this.line = undefined
    for (let next = this.#lines.next(); next.done !== true; next = this.#lines.next()) {
      const captured = this.#reader.read(next.value)
      if (captured.kind !== 'row' && captured.kind !== 'gap') continue
      this.line = next.value
      this.time = captured.time
      return
    }
  }
}

/** Returns the source with the earliest line. If several lines have the same time, the line of the first file comes
 *  first. */
function earliest(sources: readonly Source[]): Source | undefined {
  let first: Source | undefined
  for (const source of sources)
    if (source.line !== undefined && (first === undefined || source.time < first.time)) first = source
  return first
}
