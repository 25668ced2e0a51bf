import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { decodeJson, encodeJson } from '../base/json.ts'

/** A record to be written. An undefined `body` deletes the record. */
export interface Change {
  kind: RecordKind
  key: string
  body: unknown
}

/** Kinds of records. `chain`: identity and newest slot of the chain; `pending`: sent transactions that have not landed;
 *  `pool`: curves of tokens that our wallets have traded; `secret`: keys. */
export type RecordKind = 'chain' | 'account' | 'transaction' | 'pending' | 'pool' | 'secret'

/** State that outlives the process of the sandbox. `write` is atomic, and its changes are durable when it returns. */
export interface Records {
  read<T>(kind: RecordKind): Map<string, T>
  write(changes: Change[]): void
  close(): void
}

/** Records that store nothing, for a chain that ends together with its process. */
export function forgetfulRecords(): Records {
  return { read: () => new Map(), write: () => {}, close: () => {} }
}

/** Records in an SQLite file. Throws SQLITE_BUSY if another process uses the file, because two sandboxes on one chain
 *  would spend the same money twice. */
export function fileRecords(path: string): Records {
  mkdirSync(dirname(path), { recursive: true })
  closeSync(openSync(path, 'a', 0o600)) // only the owner may read it, because it holds keys
  const database = new Database(path, { timeout: 0 })
  database.pragma('locking_mode = EXCLUSIVE')
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec(
    'CREATE TABLE IF NOT EXISTS records (kind TEXT, key TEXT, body TEXT NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID',
  )
  const select = database.prepare<[string], { key: string; body: string }>(
    'SELECT key, body FROM records WHERE kind = ?',
  )
  const put = database.prepare('INSERT INTO records VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body')
  const remove = database.prepare('DELETE FROM records WHERE kind = ? AND key = ?')
  const writeAll = database.transaction((changes: Change[]) => {
    for (const { kind, key, body } of changes) {
      if (body === undefined) remove.run(kind, key)
      else put.run(kind, key, encodeJson(body))
    }
  })
  return {
    read: <T>(kind: RecordKind) => new Map(select.all(kind).map(({ key, body }) => [key, decodeJson<T>(body)])),
    write: (changes) => writeAll.immediate(changes),
    close: () => database.close(),
  }
}
