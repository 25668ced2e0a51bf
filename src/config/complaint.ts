import type { Path } from './path.ts'

/** What a schema has against a value, at one place. */
export interface Complaint {
  readonly path: Path
  readonly message: string
  /** It is the key that is wrong, not its value. */
  readonly atKey: boolean
}
