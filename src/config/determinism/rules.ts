import { isBuiltin } from 'node:module'
import type { AnyNode } from 'acorn'
import { isPureBuiltin } from '../strategy-modules.ts'
import type { Use } from './names.ts'

// The names that a strategy cannot use, because a replay or a backtest could not repeat them, and the names to use
// instead.

const CLOCK = 'reads the clock of this machine, which a replay cannot repeat; use bot.now()'
const CHANCE = 'draws numbers that a replay cannot repeat; use bot.random()'
const TIMER =
  'runs code at times that the journal does not record; use bot.every(name, seconds) or bot.after(name, seconds), and onTimer'
const NETWORK =
  'reads data that the journal does not record; declare a source in the strategy, and write its address below `sources` of the bot'
const MACHINE = 'reads the state of this process or machine, which the journal does not record; make the value a param'
const FILES =
  "reads files that the journal does not record; import the data (import data from './data.json' with { type: 'json' }), or declare a source with a file"
const OUTSIDE = 'reaches beyond the events that the journal records; declare a source, or make the value a param'
const COLLECTED = 'depends on the times of garbage collection, which a replay cannot repeat; use a Map, or token.state'
const UNCHECKED = 'runs code that cannot be checked; write the code into the file'
const LATER =
  'lets code continue after its handler has returned, which a replay cannot repeat; use bot.after and onTimer, or a source'
const LOCAL_TIME = 'uses the time zone of this machine; use '

/** Globals and properties of globals that a strategy must not use. Each text says why, and names a replacement. */
const GLOBALS: Readonly<Record<string, string>> = {
  'Date.now': CLOCK,
  'Temporal.Now': CLOCK,
  performance: CLOCK,
  'Math.random': CHANCE,
  crypto: CHANCE,
  ...each('setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask', TIMER),
  ...each('MessageChannel BroadcastChannel Worker AbortSignal.timeout', TIMER),
  ...each('fetch WebSocket EventSource XMLHttpRequest', NETWORK),
  ...each('process navigator localStorage sessionStorage', MACHINE),
  ...each('WeakRef FinalizationRegistry gc', COLLECTED),
  ...each('eval require', UNCHECKED),
  Promise: LATER,
}

/** Functions that a strategy must not use, although it can import their modules. Their results are not deterministic.
 *  */
const IMPORTED: Readonly<Record<string, string>> = {
  ...each(
    'randomBytes randomInt randomUUID randomFill randomFillSync getRandomValues webcrypto subtle',
    CHANCE,
    'crypto.',
  ),
  ...each('generateKey generateKeySync generateKeyPair generateKeyPairSync', CHANCE, 'crypto.'),
  ...each('generatePrime generatePrimeSync', CHANCE, 'crypto.'),
  'util.promisify': LATER,
}

/** Reasons why modules of Node are not allowed, by the first part of the module's name. */
const MODULES: Readonly<Record<string, string>> = {
  fs: FILES,
  sqlite: FILES,
  ...each('http https http2 net tls dgram dns', NETWORK),
  timers: TIMER,
  perf_hooks: CLOCK,
  ...each('os process', MACHINE),
  ...each('child_process cluster module vm worker_threads', UNCHECKED),
}

function each(names: string, why: string, prefix = ''): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [prefix + name, why]))
}

/** A name or a syntax in a strategy that a replay could not repeat. `why`: the reason, and a replacement. */
export interface Breach {
  readonly name: string
  readonly why: string
}

export function breachOfUse({ path, node, parent }: Use): Breach | undefined {
  if (parent?.type === 'UnaryExpression' && parent.operator === 'typeof') return undefined
  if (parent?.type === 'BinaryExpression' && parent.operator === 'instanceof') return undefined
  if (path === 'Date') return breachOfDate(node, parent)
  if (path === 'Function' && isCalled(node, parent)) return { name: 'Function', why: UNCHECKED }
  const [, localTime] = /^new Date\.((?:get|set)(?!UTC|Time$)\w+|to(?:Locale)?(?:Date|Time)?String)$/.exec(path) ?? []
  if (localTime !== undefined) {
    const instead = localTime.startsWith('to') ? 'toISOString' : `${localTime.slice(0, 3)}UTC${localTime.slice(3)}`
    return { name: localTime, why: `${LOCAL_TIME}${instead}` }
  }
  const imported = /^import (?:node:)?(.*)$/.exec(path)?.[1]
  const [known, why] =
    Object.entries(imported === undefined ? GLOBALS : IMPORTED).find(([name]) => startsWith(imported ?? path, name)) ??
    []
  return known === undefined || why === undefined ? undefined : { name: imported ?? path, why }
}

function startsWith(path: string, known: string): boolean {
  return path === known || path.startsWith(`${known}.`)
}

/** Returns a breach if a strategy must not use `Date` in this way; otherwise undefined. A date that is created from a
 *  given time is deterministic, unless it depends on the machine's time zone. */
function breachOfDate(node: AnyNode, parent: AnyNode | undefined): Breach | undefined {
  if (!isCalled(node, parent)) return undefined
  if (parent.type === 'CallExpression') return { name: 'Date()', why: CLOCK }
  const [first, ...more] = parent.arguments
  if (first === undefined) return { name: 'new Date()', why: `${CLOCK}: new Date(bot.now())` }
  if (more.length > 0) return { name: 'new Date(year, ...)', why: `${LOCAL_TIME}new Date(Date.UTC(year, ...))` }
  if (first.type !== 'Literal' || typeof first.value !== 'string' || !/\d:\d\d(:[\d.]+)?$/.test(first.value))
    return undefined
  return { name: `new Date('${first.value}')`, why: `${LOCAL_TIME}'${first.value}Z'` }
}

function isCalled(
  node: AnyNode,
  parent: AnyNode | undefined,
): parent is Extract<AnyNode, { type: 'CallExpression' | 'NewExpression' }> {
  return (parent?.type === 'CallExpression' || parent?.type === 'NewExpression') && parent.callee === node
}

export function breachOfImport(specifier: string): Breach | undefined {
  if (!isBuiltin(specifier) || isPureBuiltin(specifier)) return undefined
  const [name = ''] = specifier.replace(/^node:/, '').split('/')
  return { name: specifier, why: MODULES[name] ?? OUTSIDE }
}

/** Returns a breach if a strategy must not use the syntax of this node, for example `await`; otherwise undefined. */
export function breachOfForm(node: AnyNode): Breach | undefined {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return node.async ? { name: 'async', why: LATER } : undefined
    case 'AwaitExpression':
      return { name: 'await', why: LATER }
    case 'ForOfStatement':
      return node.await ? { name: 'await', why: LATER } : undefined
    case 'ImportExpression':
      return {
        name: 'import()',
        why: 'loads a module while the strategy runs; import the module at the top of the file',
      }
    default:
      return undefined
  }
}
