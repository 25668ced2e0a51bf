import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import type { Market } from '../journal/tape/market-tape.ts'
import { eventOf } from '../market/block.ts'
import { Mints } from '../market/mints.ts'
import { DEFAULT_VENUE } from '../venues/registry.ts'
import { Pauses } from './tape-pauses.ts'

const CHUNK_CHARACTERS = 1 << 20

export interface Exported {
  readonly rows: number
  readonly gaps: number
}

type Message = Readonly<Record<string, unknown>>

export interface ExportOptions {
  /** Tokens whose market rows are written; undefined for all tokens. */
  readonly mints?: ReadonlySet<string> | undefined
  /** Called with the number of market rows that were read so far. */
  readonly progress?: (rows: number) => void
}

/** Writes a tape to a new file, as messages of the service, one per line, in the format that `import` reads. If the
 *  file name ends in .csv, the format is CSV. Throws SluiceError: exit 2 if the file exists or if the tape has no row
 *  of these tokens, otherwise exit 1; a partial file is deleted. */
export function exportTape(market: Market, path: string, { mints, progress = () => {} }: ExportOptions = {}): Exported {
  if (existsSync(path)) throw new SluiceError(`${path} already exists; choose a new file`, ExitCode.usage)
  const file = created(path)
  const count = { rows: 0, gaps: 0 }
  let isWhole = false
  try {
    const writer = DEFAULT_VENUE.captures.writer(path)
    let chunk: string[] = writer.header === '' ? [] : [writer.header, '\n']
    let length = 0
    const flush = (): void => {
      writeWhole(file, Buffer.from(chunk.join('')))
      chunk = []
      length = 0
    }
    let read = 0
    for (const { kind, message } of messagesOf(market)) {
      if (kind === 'rows') read++
      if (kind === 'rows' && mints?.has(message['mint'] as string) === false) continue
      count[kind]++
      const line = writer.line(message)
      chunk.push(line, '\n')
      length += line.length
      if (length < CHUNK_CHARACTERS) continue
      flush()
      progress(read)
    }
    if (count.rows === 0 && mints !== undefined)
      throw new SluiceError(`the tape has no row of ${[...mints].join(', ')}`, ExitCode.usage)
    flush()
    isWhole = true
  } catch (error) {
    throw error instanceof Error && 'syscall' in error ? unwritable(path, error) : error
  } finally {
    closeSync(file)
    if (!isWhole) rmSync(path)
  }
  return count
}

/** Yields the messages of a tape. The time between two segments (starts of the recording process) becomes a gap. */
function* messagesOf(market: Market): Generator<{ kind: keyof Exported; message: Message }, void, undefined> {
  const pauses = new Pauses()
  for (const item of market.items(new Mints())) {
    const news = item.kind === 'news' ? item.news : pauses.take(item)?.news
    if (news?.kind === 'gap') yield { kind: 'gaps', message: gapMessage(news) }
    if (item.kind !== 'rows') continue
    const { block, from, to } = item
    for (let row = from; row < to; row++) {
      yield { kind: 'rows', message: { receivedAt: block.time[row], ...eventOf(block, row).toJSON() } }
    }
  }
}

function gapMessage({ from, to, keys }: { from: Millis; to: Millis; keys: readonly string[] }): Message {
  return { type: 'gap', from, to, keys }
}

function created(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    throw unwritable(path, error as Error)
  }
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}

function unwritable(path: string, { message }: Error): SluiceError {
  return new SluiceError(`${path} cannot be written: ${message}`)
}
