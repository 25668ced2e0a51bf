import type { Output, ThrownAt } from '../messages.ts'

const LONGEST_REASON = 500
const LONGEST_STACK = 16_384
const NO_STACK = { above: '', stack: '' }

/** What a strategy threw, read once. */
export interface Thrown {
  readonly reason: string
  /** What the stack says above the message; of a syntax error also its place. */
  readonly above: string
  /** The frames of its stack as the JavaScript engine writes them, one a line; '' where there are none. */
  readonly stack: string
}

/** Finds the strategy's own code in a stack. It reads the text only, so it cannot run code of the strategy. */
export type ThrownAtOf = (stack: string) => ThrownAt | undefined

/** Anything may be thrown, and looking at it may throw again or run code of the strategy. So every mode looks at the
 *  same properties in the same order, and a replay repeats whatever that code did. */
export function readThrown(error: unknown): Thrown {
  let reason = 'it threw something that cannot be shown'
  let message = ''
  try {
    if (error instanceof Error) message = String(error.message)
    reason = (error instanceof Error ? `${error.name}: ${message}` : String(error)).slice(0, LONGEST_REASON)
  } catch {
    // The reason stays as it is.
  }
  return { reason, ...readStack(error, message) }
}

/** The stack begins with the message, which may be a stranger's text that looks like frames, so everything up to its
 *  end is cut off. */
function readStack(error: unknown, message: string): Omit<Thrown, 'reason'> {
  try {
    if (typeof error !== 'object' || error === null || !('stack' in error)) return NO_STACK
    const { stack } = error
    if (typeof stack !== 'string') return NO_STACK
    const at = Math.max(0, stack.indexOf(message))
    const end = stack.startsWith(message, at) ? at + message.length : 0
    return { above: stack.slice(0, at).slice(0, LONGEST_STACK), stack: stack.slice(end, end + LONGEST_STACK) }
  } catch {
    return NO_STACK
  }
}

/** An alarm for a person, as one line. The place comes first: a terminal that cuts the line keeps it. */
export function alarmText({ reason, thrownAt }: { reason: string; thrownAt?: ThrownAt | undefined }): string {
  const line = reason.replace(/\s+/g, ' ')
  return thrownAt === undefined ? line : `${thrownAt.place}: ${line}`
}

/** An output as a replay compares it: without places, since paths and lines are those of one machine's files. */
export function compared(output: Output): Output {
  if (output.kind !== 'alarm' || output.thrownAt === undefined) return output
  const { thrownAt: _, ...decided } = output
  return decided
}
