import { address } from './draft.ts'
import { honest } from './honest.ts'
import { SYSTEM_FAMILIES } from './hostile-system.ts'
import { TOKEN_FAMILIES } from './hostile-token.ts'
import { TRADE_FAMILIES } from './hostile-trade.ts'
import { WHOLE_FAMILIES } from './hostile-whole.ts'
import { type Family, type Hostile, PLAIN } from './spoil.ts'

/** Known attacks of a hostile builder, by name. */
export const FAMILIES: Readonly<Record<string, Family>> = {
  ...SYSTEM_FAMILIES,
  ...TOKEN_FAMILIES,
  ...TRADE_FAMILIES,
  ...WHOLE_FAMILIES,
}

/** Returns a draft of an honest shape with the attack `name` in it. */
export function spoiled(name: string, seed: number): Hostile {
  const { shapes = PLAIN, spoil } = FAMILIES[name] as Family
  const shape = shapes[seed % shapes.length] as string
  const draft = honest(shape, seed)
  // The draft gets a list of its own, because other drafts share the original list of instructions.
  draft.instructions = [...draft.instructions]
  spoil(draft, address(`thief ${draft.drawn.random.integer(100)}`))
  return draft
}
