import type { Output, ThrownAt } from '../messages.ts'

const LONGEST_REASON = 500
const LONGEST_STACK = 16_384
const NO_STACK = { above: '', stack: '' }

/** Texts of a value that a strategy threw. The value is read only once, because a read may run code of the strategy. */
export interface Thrown {
  readonly reason: string
  /** The text that a stack contains above its message. For a syntax error, this text names the place of the error. */
  readonly above: string
  /** Stack frames as V8 writes them, one a line; '' if there are none. */
  readonly stack: string
}

/** Finds the place in the strategy's own code in a stack; undefined if there is none. Reads only the text, so it cannot
 *  run code of the strategy. */
export type ThrownAtOf = (stack: string) => ThrownAt | undefined

/** Reads a value that a strategy threw. The value may be anything, and reading it may throw or run code of the
 *  strategy. Every mode reads the same properties in the same order, so that a replay has the same effects. */
export function readThrown(error: unknown): Thrown {
  let reason = 'the strategy threw a value that cannot be printed'
  let message = ''
  try {
    if (error instanceof Error) message = String(error.message)
    reason = (error instanceof Error ? `${error.name}: ${message}` : String(error)).slice(0, LONGEST_REASON)
  } catch {
    // Reading the value threw an error, so `reason` keeps its initial text.
  }
  return { reason, ...readStack(error, message) }
}

/** Returns the stack without the message at its beginning, because the message may contain foreign text that looks like
 *  frames. */
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

/** Returns an alarm as one line. The place in the strategy's code comes first, so that a terminal that cuts off long
 *  lines still shows it. */
export function alarmText({ reason, thrownAt }: { reason: string; thrownAt?: ThrownAt | undefined }): string {
  const line = reason.replace(/\s+/g, ' ')
  return thrownAt === undefined ? line : `${thrownAt.place}: ${line}`
}

/** Returns an output as a replay compares it: without places, because paths and line numbers differ between
 *  machines. */
export function compared(output: Output): Output {
  if (output.kind !== 'alarm' || output.thrownAt === undefined) return output
  const { thrownAt: _, ...decided } = output
  return decided
}
