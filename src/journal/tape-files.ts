import { resolve } from 'node:path'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { JoinedMarket } from './joined-market.ts'
import { type JournalReader, type Market, openReader } from './reader.ts'

export interface OpenTape {
  readonly market: Market
  /** What was really sent while they were written. */
  executions(): ReturnType<JournalReader['executions']>
  close(): void
}

/** One journal's tape, or several as one. Throws SluiceError as `openReader` does, and (exit 2) where one is named twice. */
export function openTape(paths: readonly string[]): OpenTape {
  const twice = paths.find((path, index) => paths.findIndex((other) => resolve(other) === resolve(path)) < index)
  if (twice !== undefined) throw new SluiceError(`${twice} is named twice`, ExitCode.usage)
  const readers: JournalReader[] = []
  const close = (): void => {
    for (const reader of readers) reader.close()
  }
  try {
    for (const path of paths) readers.push(openReader(path, { mapped: true }))
    const markets = readers.map((reader) => reader.market())
    const [first] = markets
    return {
      market: markets.length === 1 && first !== undefined ? first : new JoinedMarket(markets),
      executions: () => readers.flatMap((reader) => reader.executions()),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}
