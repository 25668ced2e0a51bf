import type { Output, ThrownAt } from '../messages.ts'

const LONGEST_REASON = 500
const LONGEST_STACK = 16_384
const NO_STACK = { above: '', stack: '' }

/** A value that a strategy threw, read once. */
export interface Thrown {
  readonly reason: string
  /** Text of the stack above the message; for a syntax error it contains the place. */
  readonly above: string
  /** Stack frames as V8 writes them, one a line; may be ''. */
  readonly stack: string
}

/** Finds the strategy's own code in a stack. Reads only the text, so it cannot run code of the strategy. */
export type ThrownAtOf = (stack: string) => ThrownAt | undefined

/** Reads a thrown value. Any value may be thrown, and reading it may throw again or run code of the strategy; so every
 *  mode reads the same properties in the same order, and a replay repeats the effects. */
export function readThrown(error: unknown): Thrown {
  let reason = 'the strategy threw a value that cannot be printed'
  let message = ''
  try {
    if (error instanceof Error) message = String(error.message)
    reason = (error instanceof Error ? `${error.name}: ${message}` : String(error)).slice(0, LONGEST_REASON)
  } catch {
    // `reason` keeps its default.
  }
  return { reason, ...readStack(error, message) }
}

/** The stack begins with the message, which may contain foreign text that looks like frames, so the message is cut
 *  off. */
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

/** An alarm as one line. The place comes first, so that a terminal that cuts the line keeps it. */
export function alarmText({ reason, thrownAt }: { reason: string; thrownAt?: ThrownAt | undefined }): string {
  const line = reason.replace(/\s+/g, ' ')
  return thrownAt === undefined ? line : `${thrownAt.place}: ${line}`
}

/** An output as a replay compares it: without places, because paths and line numbers differ between machines. */
export function compared(output: Output): Output {
  if (output.kind !== 'alarm' || output.thrownAt === undefined) return output
  const { thrownAt: _, ...decided } = output
  return decided
}
