import { defineStrategy as define } from '../engine/strategy.ts'
import { callerFile } from './strategy-trace.ts'

const stacks = new WeakMap<object, string>()

/** Returns its argument. The function exists to infer the types of a strategy, and to record the file of the strategy.
 *  */
export const defineStrategy: typeof define = (strategy) => {
  const caller = { stack: '' }
  Error.captureStackTrace(caller, defineStrategy)
  stacks.set(strategy, caller.stack)
  return define(strategy)
}

/** Returns the path of the file that defined a strategy; undefined if the file did not call `defineStrategy`. */
export function fileOf(strategy: object): string | undefined {
  return callerFile(stacks.get(strategy) ?? '')
}
