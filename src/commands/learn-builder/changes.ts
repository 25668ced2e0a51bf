import type { BuilderPolicy } from '../../core/builder-policy.ts'

/** What a policy would let pass that another does not, and the other way round: an entry a line. */
export function changesBetween(before: BuilderPolicy, after: BuilderPolicy): string[] {
  const [old, now] = [entriesOf(before), entriesOf(after)]
  const gone = old.filter((entry) => !now.includes(entry)).map((entry) => `- ${entry}`)
  const added = now.filter((entry) => !old.includes(entry)).map((entry) => `+ ${entry}`)
  return [...gone, ...added]
}

function entriesOf({ name: _, ...rules }: BuilderPolicy): string[] {
  return Object.entries(rules).flatMap(([key, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${key}: ${JSON.stringify(one)}`),
  )
}
