import { digest } from './addresses.ts'
import type { Dialect } from './dialect.ts'
import type { Records } from './records.ts'

/** Which of the two token programs a mint is of. */
export type TokenPrograms = (mint: string) => 'token' | 'token2022'

const KEY = 'tokenProgram'

/** As the dialect says; a chain keeps to what it began with, so that what is held can be sold. */
export function tokenPrograms(dialect: Dialect, records: Records): TokenPrograms {
  const chosen = records.read<Dialect['tokenProgram']>('chain').get(KEY) ?? dialect.tokenProgram
  records.write([{ kind: 'chain', key: KEY, body: chosen }])
  if (chosen !== 'both') return () => chosen
  return (mint) => (digest(mint).readUInt8(0) % 2 === 0 ? 'token' : 'token2022')
}
