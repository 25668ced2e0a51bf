import { afterAll, expect } from 'vitest'
import { Api } from '../../src/desk/api/routes.ts'
import type { Answers } from '../../src/desk/api/types.ts'
import { type JournalReader, openReader } from '../../src/journal/reader/reader.ts'
import { liquidationOf } from '../../src/runtime/liquidation-value.ts'

export type Query = Readonly<Record<string, string>>
type Endpoint = keyof Answers
export type List = 'orders' | 'fills' | 'round-trips' | 'positions' | 'log' | 'refusals'

/** The desk's API for a journal. It is closed at the end of the test file. */
export class ApiRig {
  readonly reader: JournalReader
  readonly #api: Api

  constructor(path: string, folders: readonly string[] = []) {
    this.reader = openReader(path)
    this.#api = new Api(this.reader, folders, () => liquidationOf(this.reader))
    afterAll(() => this.reader.close())
  }

  get<Name extends Endpoint>(endpoint: Name, query: Query = {}, about?: string): Answers[Name] {
    const path = about === undefined ? endpoint : `${endpoint}/${about}`
    const { status, body } = this.#api.answer(path, Object.entries(query))
    expect({ status, error: (body as { error?: string }).error }).toEqual({ status: 200, error: undefined })
    // Returns the answer in the form in which a client receives it.
    return JSON.parse(JSON.stringify(body)) as Answers[Name]
  }

  refusal(path: string, query: readonly (readonly [string, string])[]): { status: number; error: string } {
    const { status, body } = this.#api.answer(path, query)
    return { status, error: (body as { error: string }).error }
  }

  /** Returns the rows of all pages of a list. */
  pages<Row>(endpoint: List, key: string, query: Query): Row[] {
    const rows: Row[] = []
    let before: string | null | undefined
    while (before !== null) {
      const page = this.get(endpoint, before === undefined ? query : { ...query, before }) as unknown as {
        readonly next: string | null
      }
      rows.push(...((page as unknown as Readonly<Record<string, Row[]>>)[key] as Row[]))
      before = page.next
    }
    return rows
  }
}
