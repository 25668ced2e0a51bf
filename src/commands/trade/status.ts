import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { SluiceError } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import { isOpen } from '../../engine/order.ts'
import { neighbourHint } from '../../journal/database.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import { NothingRuns, sendCommand } from '../../live/control/client.ts'
import { stampOf } from '../../runtime/time-text.ts'
import { mintsOf, symbolsIn, withSymbols } from '../../runtime/view/token-symbols.ts'
import type { View } from '../../runtime/view/view.ts'
import { defineCommand, PROCESS } from '../options.ts'
import { DEFAULT_COLUMNS } from '../terminal.ts'
import { runningJournal } from './control.ts'
import { liveTable } from './status-table.ts'

/** Shows the running bots. If no process is running, shows the positions and orders that the journal left open, and
 *  exits 1. */
export const command = defineCommand({
  options: PROCESS,
  async run(_args, { json, ...process }) {
    const journal = await runningJournal(process)
    try {
      const status = named(journal, (await sendCommand(resolve(journal), { command: 'status' })) as View)
      if (json) console.log(JSON.stringify({ running: true, ...status }))
      else showTable(status, journal)
      return 0
    } catch (error) {
      if (!(error instanceof NothingRuns)) throw error
      if (!existsSync(journal)) throw new SluiceError(`${error.message}${neighbourHint(journal)}`)
      const leftover = leftoverIn(journal)
      if (json) console.log(JSON.stringify({ running: false, ...leftover }))
      throw new SluiceError(`${error.message}: ${textOf(leftover)}`)
    }
  },
})

/** Adds the symbols of the tokens from the journal, because the status from the process that runs the bots contains
 *  only mints. Returns the status unchanged if the journal cannot be read, or if that process runs an earlier version
 *  of Sluice. */
function named(journal: string, status: View): View {
  if (!('openOrders' in status && existsSync(journal))) return status
  let reader: JournalReader | undefined
  try {
    reader = openReader(journal)
    return withSymbols(status, symbolsIn(reader, mintsOf(status)))
  } catch (error) {
    if (error instanceof SluiceError) return status
    throw error
  } finally {
    reader?.close()
  }
}

function showTable(status: View, journal: string): void {
  if (!('planNotice' in status && 'undecided' in status && 'openOrders' in status))
    throw new SluiceError(
      `the process on ${journal} runs another version of Sluice: restart it, or use --json to see its answer`,
    )
  const columns = process.stdout.columns ?? DEFAULT_COLUMNS
  for (const line of liveTable(status, undefined, columns)) console.log(line)
}

/** Open positions and orders of a journal that no running process writes. */
interface Leftover {
  readonly positions: number
  readonly openOrders: number
  readonly halted: boolean
  /** Time of the last record; null for an empty journal. */
  readonly lastTime: number | null
  readonly endedInOrder: boolean
}

function leftoverIn(journal: string): Leftover {
  const reader = openReader(journal)
  try {
    const { money, orders, lastTime, clean } = reader.recover()
    return {
      positions: money.positions.filter(({ tokens, state }) => state !== 'closed' && tokens > 0n).length,
      openOrders: orders.filter(({ state }) => isOpen(state)).length,
      halted: money.accounts.some(({ halted }) => halted),
      lastTime: lastTime === 0 ? null : lastTime,
      endedInOrder: clean,
    }
  } finally {
    reader.close()
  }
}

function textOf({ positions, openOrders, halted, lastTime, endedInOrder }: Leftover): string {
  if (lastTime === null) return 'the journal is empty'
  return [
    `last record at ${stampOf(lastTime)}${endedInOrder ? '' : ', and the process did not shut down cleanly'}`,
    positions === 0
      ? 'no open positions'
      : `${counted(positions, 'open position')}, and no process to sell ${positions === 1 ? 'it' : 'them'}`,
    ...(openOrders === 0 ? [] : [`${counted(openOrders, 'undecided order')}`]),
    ...(halted ? ['entries are halted'] : []),
  ].join('; ')
}
