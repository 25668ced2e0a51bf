import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { SluiceError } from '../../base/errors.ts'
import { isOpen } from '../../engine/order.ts'
import { neighbourHint } from '../../journal/database.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { NothingRuns, sendCommand } from '../../live/control/client.ts'
import type { Status } from '../../live/status.ts'
import { stampOf } from '../../runtime/time-text.ts'
import type { Options } from '../options.ts'
import { counted } from '../terminal.ts'
import { liveTable } from './live-table.ts'
import { steeredJournal } from './steered-journal.ts'

/** Where nobody says how wide a line is. */
const USUAL_COLUMNS = 120

/** `sluice status`: how the bots are that run on a journal. Where none run, what is left to itself, and exit 1. */
export async function run(_args: string[], options: Options): Promise<number> {
  const { json } = options
  const journal = await steeredJournal(options)
  try {
    const status = (await sendCommand(resolve(journal), { command: 'status' })) as Status
    if (json === true) console.log(JSON.stringify({ running: true, ...status }))
    else if (!('planNotice' in status && 'undecided' in status))
      throw new SluiceError(`the process on ${journal} is of another Sluice: --json has what it says, or restart it`)
    else
      for (const line of liveTable(status, relative('', journal), undefined, process.stdout.columns ?? USUAL_COLUMNS))
        console.log(line)
    return 0
  } catch (error) {
    if (!(error instanceof NothingRuns)) throw error
    if (!existsSync(journal)) throw new SluiceError(`${error.message}${neighbourHint(journal)}`)
    const left = leftIn(journal)
    if (json === true) console.log(JSON.stringify({ running: false, ...left }))
    throw new SluiceError(`${error.message}: ${textOf(left)}`)
  }
}

/** What nobody looks after. */
interface Left {
  readonly positions: number
  readonly openOrders: number
  readonly halted: boolean
  /** When the last of it was written; null: nothing ever was. */
  readonly lastTime: number | null
  /** The last process ended in order. */
  readonly endedInOrder: boolean
}

function leftIn(journal: string): Left {
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

function textOf({ positions, openOrders, halted, lastTime, endedInOrder }: Left): string {
  if (lastTime === null) return 'it is empty'
  return [
    `it was written last at ${stampOf(lastTime)}${endedInOrder ? '' : ', and the process did not end in order'}`,
    positions === 0
      ? 'nothing is held'
      : `${counted(positions, 'position')} held, and nothing sells ${positions === 1 ? 'it' : 'them'}`,
    ...(openOrders === 0 ? [] : [`${counted(openOrders, 'order')} not decided yet`]),
    ...(halted ? ['entries are halted'] : []),
  ].join('; ')
}
