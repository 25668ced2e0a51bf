import { inspect } from 'node:util'

/** Built-in globals to freeze. */
const NAMES = [
  ...['Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'BigInt', 'Date', 'RegExp', 'Map', 'Set'],
  ...['WeakMap', 'WeakSet', 'WeakRef', 'Promise', 'Proxy', 'Reflect', 'JSON', 'Math', 'Atomics', 'ArrayBuffer'],
  ...['SharedArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array'],
  ...['Int32Array', 'Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array', 'Iterator'],
  ...['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError', 'AggregateError'],
  ...['Buffer', 'structuredClone', 'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'process', 'console'],
]

/** Properties of the frozen prototypes that libraries override in their own objects and classes. They can still be set
 *  on objects that inherit them. */
const OVERRIDDEN = [
  'name',
  'message',
  'toString',
  'toJSON',
  'valueOf',
  'constructor',
  'toLocaleString',
  'hasOwnProperty',
]

/** Freezes the built-in globals of this thread, so that an assignment to `Array.prototype.push` throws instead of
 *  changing the engine and every other strategy. Called only in threads and processes that run strategies. */
export function hardenGlobals(): void {
  const roots = NAMES.map((name) => (globalThis as Record<string, unknown>)[name])
  const all = new Set<object>()
  for (const root of roots) {
    add(all, root)
    if (typeof root === 'function') add(all, root.prototype)
  }
  for (const hidden of hiddenPrototypes()) add(all, hidden)
  for (const one of all) {
    if (one === process || one === console) continue
    if (isInheritedFrom(one)) keepSettable(one)
    Object.freeze(one)
  }
  for (const name of NAMES) {
    const { value } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {}
    if (value !== undefined) Object.defineProperty(globalThis, name, { value, writable: false, configurable: false })
  }
}

function add(all: Set<object>, one: unknown): void {
  if ((typeof one === 'object' && one !== null) || typeof one === 'function') all.add(one)
}

/** Returns the prototypes that are not reachable through a global name. */
function hiddenPrototypes(): object[] {
  const iterators = [[][Symbol.iterator](), new Map().entries(), new Set().values(), ''[Symbol.iterator]()]
  const generator = Object.getPrototypeOf(function* () {})
  return [
    ...iterators.map((one) => Object.getPrototypeOf(one) as object),
    ...[Object.getPrototypeOf(Int8Array), Object.getPrototypeOf(Int8Array.prototype)],
    ...[generator, generator.prototype, Object.getPrototypeOf(generator.prototype)],
    ...[Object.getPrototypeOf(async () => {}), Object.getPrototypeOf(async function* () {})],
  ]
}

/** Whether programs commonly create objects and classes that inherit from this object. */
function isInheritedFrom(one: object): boolean {
  return one === Object.prototype || one === Function.prototype || one instanceof Error || one === Error.prototype
}

/** Replaces properties by accessors, because a frozen data property could not be set on any object that inherits it. */
function keepSettable(prototype: object): void {
  for (const key of OVERRIDDEN) {
    const found = Object.getOwnPropertyDescriptor(prototype, key)
    if (found === undefined || !('value' in found) || found.configurable !== true) continue
    const { value, enumerable = false } = found
    Object.defineProperty(prototype, key, {
      get: () => value,
      set(this: object, own: unknown) {
        if (this === prototype) throw new TypeError(`${key} is shared by all code and cannot be changed`)
        Object.defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true })
      },
      enumerable,
      configurable: false,
    })
  }
}

const LONGEST = 500
const LINES_A_SECOND = 20
const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir', 'table'] as const

/** Redirects the console of this thread to `say`, one line per call. The thread's own console would print only when the
 *  thread's event loop is free, which a strategy may prevent. Passes at most 20 lines per second; the next line
 *  contains the number of dropped lines. */
export function takeConsole(say: (text: string) => void, nowMs = () => performance.now()): void {
  let second = 0
  let lines = 0
  let dropped = 0
  const write = (...values: unknown[]): void => {
    const now = Math.floor(nowMs() / 1000)
    if (now !== second) [second, lines] = [now, 0]
    if (++lines > LINES_A_SECOND) {
      dropped++
      return
    }
    const more = dropped === 0 ? '' : ` (${dropped} earlier lines were dropped)`
    dropped = 0
    say(`${values.map(shown).join(' ').slice(0, LONGEST)}${more}`)
  }
  for (const method of METHODS) console[method] = write
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, LONGEST)
  try {
    return inspect(value, {
      depth: 2,
      breakLength: Number.POSITIVE_INFINITY,
      maxArrayLength: 20,
      maxStringLength: LONGEST,
    })
  } catch {
    return 'a value that cannot be shown'
  }
}
