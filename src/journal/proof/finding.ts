/** A row that contradicts the rest of the journal. */
export interface Finding {
  readonly table: string
  /** Key of the row in a form for people: `signature 5K..., order_id o12`. */
  readonly row: string
  /** The contradiction, as a clause: `the row is missing`. */
  readonly problem: string
}

const MOST_CHARACTERS = 120

/** Formats a value of a row for the user. */
export function shown(value: unknown): string {
  const text = value === null ? 'NULL' : String(value)
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}...`
}

export function keyText(columns: readonly string[], row: Readonly<Record<string, unknown>>): string {
  return columns.map((column) => `${column} ${shown(row[column])}`).join(', ')
}
