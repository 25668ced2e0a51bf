import type { SealedTable } from '../schema/seals.ts'

/** How `sluice replay --verify` proves the rows of a table:
 *  - repeated: the rows are computed again from the recorded inputs and decisions, and compared column by column.
 *  - sealed: the rows come from outside of the engine. Each row has a checksum. A missing row is noticed if other rows
 *  refer to it, or if the rows are numbered.
 *  - tape: each block has checksums and continues the block before it.
 *  - fixed: the rows are the same in every journal.
 *  - room: the rows hold no data; they only reserve disk space. */
export type Proof = 'repeated' | 'sealed' | 'tape' | 'fixed' | 'room'

/** For every table of a journal, how its rows are proved. */
export const COVERAGE: Readonly<Record<SealedTable | (string & {}), Proof>> = {
  ...{ segment: 'sealed', input: 'sealed', output: 'sealed', attempt: 'sealed', report: 'sealed' },
  ...{ wallet: 'sealed', wallet_transaction: 'sealed', audit: 'sealed', watch: 'sealed', learned: 'sealed' },
  ...{ mark: 'sealed', trip_mark: 'sealed', slot: 'sealed', frame: 'sealed', missing: 'sealed', tape_day: 'sealed' },
  net_result: 'sealed',
  ...{ order: 'repeated', fill: 'repeated', position: 'repeated', past_position: 'repeated', account: 'repeated' },
  ...{
    bot: 'repeated',
    token_state: 'repeated',
    timer: 'repeated',
    counter: 'repeated',
    conditional_order: 'repeated',
  },
  ...{ posting: 'repeated', audited: 'repeated' },
  ...{ block: 'tape', run: 'tape', archived_block: 'tape' },
  ...{ number: 'fixed', digits: 'fixed', power2: 'fixed' },
  ...{ reserve: 'room' },
}

/** Columns whose values come from the wall clock. No replay can compute them again; the checksum of the row covers
 *  them. */
export const WALL_CLOCK: readonly string[] = [
  ...['segment.time', 'segment.ended', 'input.time', 'attempt.armed_at', 'wallet_transaction.time', 'audit.time'],
  ...[
    'learned.time',
    'net_result.time',
    'frame.time',
    'missing.first_time',
    'missing.last_time',
    'slot.taken_at',
    'slot.done_at',
  ],
]
