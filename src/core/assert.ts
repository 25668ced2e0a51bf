/** An invariant. A breach is a bug: it throws, the process ends, and recovery is a restart. Stays on in production. */
export default function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`)
}
