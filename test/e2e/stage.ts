import { openReader } from '../../src/journal/reader/reader.ts'
import type { ControlCommand } from '../../src/live/control/command.ts'
import type { RunningBots } from '../../src/live/start-bots.ts'
import { eventOf } from '../../src/market/block.ts'
import { Mints } from '../../src/market/mints.ts'
import { MINT, StillMarket } from '../sandbox/still-market.ts'
import { type BookedOrder, type Books, knowsWallet, segmentsOf } from './books.ts'
import { until } from './until.ts'
import { openVenue, type Venue, type VenueOptions } from './venue.ts'

/** A venue whose market moves only when the test moves it, with bots (puppets) that act on the test's commands. */
export interface Stage extends Venue {
  readonly still: StillMarket
  /** Starts the bots and waits until they may buy. */
  go(): Promise<RunningBots>
  /** Makes the market print this number of trades of other traders now, and returns their signatures. */
  prints(count: number): string[]
  /** Signatures of all trades on the tape. */
  tape(): string[]
}

/** The answer of a puppet, a bot that acts on commands. */
export interface Told {
  /** The id of the order, or the reason for which it was refused. */
  readonly answer: string
  readonly reservedSol: number
}

const PUPPET = { name: 'puppet', strategy: 'puppet' } as const

export async function openStage(
  options: Partial<VenueOptions>,
  atEnd: Parameters<typeof openVenue>[1],
): Promise<Stage> {
  let still: StillMarket | undefined
  const market = (emit: ConstructorParameters<typeof StillMarket>[0]): StillMarket => {
    still = new StillMarket(emit)
    return still
  }
  const venue = await openVenue({ market, bots: [PUPPET], ...options }, atEnd)
  venue.configure({ service: { units: { tradeAmount: 'sol' } }, ...options.config })
  const prints = (count: number): string[] =>
    Array.from({ length: count }, () => (still as StillMarket).trade('buy', 100_000_000n).signature)
  return {
    ...venue,
    still: still as StillMarket,
    prints,
    tape: () => tapeOf(venue.journal),
    go: async () => {
      const segment = segmentsOf(venue.journal) + 1
      const running = await venue.start()
      await until('the feed', () => running.world.feed.state === 'live')
      const rows = running.model.rows
      prints(3)
      await until('a price', () => running.model.rows >= rows + 3)
      await until('the wallet', () => knowsWallet(venue.books(), segment))
      return running
    },
  }
}

export type Send = (command: ControlCommand) => object | Promise<object>

/** Sends a command to a puppet and returns its answer. */
export async function tell(send: Send, stage: Venue, signal: string, to = 'puppet'): Promise<Told> {
  const notes = (): Books['outputs'] => stage.books().outputs.filter(({ kind, bot }) => kind === 'note' && bot === to)
  const before = notes().length
  await send({ command: 'signal', signal, data: { to, mint: MINT } })
  const note = await until(`the answer of ${to} to ${signal}`, () => notes()[before])
  return JSON.parse(note.reason) as Told
}

/** Waits until an order matches, and returns the journal's record of it. */
export function orderIn(
  stage: Venue,
  id: string,
  is: (order: BookedOrder, books: Books) => boolean,
): Promise<BookedOrder> {
  let order: BookedOrder | undefined
  const told = (): string =>
    order === undefined ? 'there is no such order' : `its state is ${order.state} ${order.code}`
  return until(
    () => `the order ${id} in the expected state; ${told()}`,
    () => {
      const books = stage.books()
      order = books.orders.find((one) => one.id === id)
      return order !== undefined && is(order, books) && order
    },
  )
}

/** Signatures of all trades on the tape. */
function tapeOf(journal: string): string[] {
  const reader = openReader(journal)
  try {
    const events = [...reader.blocks(new Mints())].flatMap((block) =>
      Array.from({ length: block.length }, (_, row) => eventOf(block, row)),
    )
    return events.flatMap((event) => (event.type === 'trade' ? [event.signature] : []))
  } finally {
    reader.close()
  }
}
