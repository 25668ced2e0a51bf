import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, Statement } from 'better-sqlite3'
import { SluiceError } from '../../base/errors.ts'
import type { Seq } from '../../base/units.ts'
import { SEALED } from '../schema/seals.ts'
import { Statements } from '../schema/statements.ts'
import { BLOCK_AS_STORED } from '../tape/block-row.ts'
import type { Transactions } from '../writer/transactions.ts'
import {
  archiveFolder,
  type BlockHead,
  HEAD,
  HEAD_COLUMNS,
  journalIdentity,
  type Manifest,
  openDay,
  type TapeDay,
  writtenSum,
} from './day-file.ts'

/** Number of rows that one step moves. A step then takes a few milliseconds. */
const ROWS_A_STEP = 8192
/** Maximum number of blocks that one step looks at. */
const BLOCKS_A_STEP = 64

/** The day whose blocks are leaving the journal. */
interface Moving {
  readonly db: Database
  readonly manifest: Manifest
  readonly bytes: number
  readonly sha256: string
  readonly heads: Statement<[Seq, number], BlockHead>
  readonly block: Statement<[Seq], unknown[]>
  /** Last seq of the newest block of the day that was examined so far. */
  at: Seq
  isRecorded: boolean
}

/** Moves blocks out of the journal, a few at a time, if the file of their day is complete. One transaction deletes a
 *  block from the journal and records which day's file contains it. A block is therefore always in exactly one place,
 *  and a crash needs no repair: the next process continues. A block is moved only if every byte of its copy in the file
 *  is the same. */
export class DayMove {
  readonly #db: Database
  readonly #transactions: Transactions
  readonly #statements: Statements
  readonly #here: Statement<[Seq], unknown[]>
  readonly #drop: Statement<[Seq]>
  readonly #record: Statement
  readonly #known: Statement<[string], { readonly whole: number }>
  /** Days whose files cannot be read, belong to another journal, or contain no block of this journal. */
  readonly #strange = new Set<string>()
  #moving: Moving | undefined

  constructor(db: Database, transactions: Transactions) {
    this.#db = db
    this.#transactions = transactions
    this.#statements = new Statements(db)
    this.#here = db.prepare<[Seq], unknown[]>(BLOCK_AS_STORED).raw()
    this.#drop = db.prepare('DELETE FROM block WHERE last_seq = ?')
    this.#record = db.prepare(`INSERT INTO archived_block (${HEAD}, day) VALUES (${HEAD_COLUMNS.map(() => '?')}, ?)`)
    this.#known = db.prepare('SELECT whole FROM tape_day WHERE day = ?')
  }

  /** Looks for a complete file of a day that is not moved yet. Returns whether there is one. */
  look(): boolean {
    if (this.#moving !== undefined) return true
    for (const { day, path, sha256 } of this.#complete()) {
      this.#moving = this.#opened(path, sha256)
      if (this.#moving !== undefined) return true
      this.#strange.add(day)
    }
    return false
  }

  /** Moves a few blocks. Returns the number of rows that left the journal. */
  step(mostRows = ROWS_A_STEP): number {
    const moving = this.#moving
    if (moving === undefined) return 0
    const heads = moving.heads.all(moving.at, BLOCKS_A_STEP)
    let rows = 0
    let count = 0
    while (count < heads.length && rows < mostRows) rows += heads[count++]?.rows ?? 0
    const same = heads.slice(0, count).filter((head) => this.#isSame(moving, head))
    if (same.length > 0) this.#transactions.run(() => this.#take(moving, same))
    if (same.length > 0) moving.isRecorded = true
    if (count === 0) this.#end(moving)
    else moving.at = heads[count - 1]?.last_seq ?? moving.at
    return same.reduce((sum, head) => sum + head.rows, 0)
  }

  /** Closes the file of the day. */
  close(): void {
    this.#moving?.db.close()
    this.#moving = undefined
  }

  *#complete(): Generator<{ day: string; path: string; sha256: string }, void, undefined> {
    const folder = archiveFolder(this.#db.name)
    if (!existsSync(folder)) return
    for (const name of readdirSync(folder).sort()) {
      const day = /^(\d{4}-\d\d-\d\d)\.db$/.exec(name)?.[1]
      if (day === undefined || this.#strange.has(day) || this.#known.get(day)?.whole === 1) continue
      const path = join(folder, name)
      const sha256 = writtenSum(path)
      if (sha256 !== undefined) yield { day, path, sha256 }
    }
  }

  #opened(path: string, sha256: string): Moving | undefined {
    try {
      const { db, manifest } = openDay(path)
      if (manifest.journal !== journalIdentity(this.#db)) {
        db.close()
        return undefined
      }
      return {
        ...{ db, manifest, bytes: statSync(path).size, sha256, at: 0 },
        heads: db.prepare(`SELECT ${HEAD} FROM block WHERE last_seq > ? ORDER BY last_seq LIMIT ?`),
        block: db.prepare<[Seq], unknown[]>(BLOCK_AS_STORED).raw(),
        isRecorded: this.#known.get(manifest.day) !== undefined,
      }
    } catch (error) {
      if (error instanceof SluiceError) return undefined // not readable; `sluice tape list` shows it
      throw error
    }
  }

  /** Whether the journal has the same block, byte by byte. The journal may have merged or dropped the block since its
   *  copy was made. */
  #isSame({ block }: Moving, { last_seq }: BlockHead): boolean {
    const [here, there] = [this.#here.get(last_seq), block.get(last_seq)]
    if (here === undefined || there === undefined) return false
    return here.every((value, index) => {
      const other = there[index]
      return value instanceof Buffer && other instanceof Buffer ? value.equals(other) : value === other
    })
  }

  #take(moving: Moving, heads: readonly BlockHead[]): void {
    const { day } = moving.manifest
    if (!moving.isRecorded) this.#write(moving, 0)
    for (const head of heads) {
      this.#record.run(...HEAD_COLUMNS.map((name) => head[name]), day)
      this.#drop.run(head.last_seq)
    }
  }

  #end(moving: Moving): void {
    if (moving.isRecorded) this.#transactions.run(() => this.#write(moving, 1))
    else this.#strange.add(moving.manifest.day)
    this.close()
  }

  #write({ manifest, bytes, sha256 }: Moving, whole: TapeDay['whole']): void {
    const day: TapeDay = { ...manifest, bytes, sha256, whole }
    this.#statements.run(['tapeDay', ...SEALED.tape_day.map((name) => day[name])])
  }
}
