import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { nondeterminism } from '../../../src/config/determinism/check.ts'
import { loadStrategy } from '../../../src/config/strategies.ts'
import { admitStrategy } from '../../../src/config/strategy-modules.ts'
import { testStrategy } from '../../../src/testing/strategy-rig.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const { path: folder } = temporaryFolder()

function written(text: string, name = 'tested.ts'): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

/** Returns what the determinism check finds in a file with this text: the place and the name of each finding. */
function foundIn(text: string, name?: string): string[] {
  const { found, unread } = nondeterminism(written(text, name))
  return [...unread, ...found.map(({ line, column, name }) => `${line}:${column} ${name}`)]
}

test.each([
  ['Date.now()', '1:1 Date.now'],
  ['const at = Date.now', '1:12 Date.now'],
  ['const { now } = Date', '1:9 Date.now'],
  ['const clock = Date\nclock.now()', '2:1 Date.now'],
  ['const { Date: Clock } = globalThis\nClock.now()', '2:1 Date.now'],
  ["Date['now']()", '1:1 Date.now'],
  ['Date[`now`]()', '1:1 Date.now'],
  ['let clock = Date\nclock.now()', '2:1 Date.now'],
  ['let { now } = Date', '1:7 Date.now'],
  ['var { random: draw } = Math', '1:15 Math.random'],
  ['let made = new Date(5)\nmade.getHours()', '2:1 getHours'],
  ['class Clock { at = Date.now?.() }', '1:20 Date.now'],
  ['Date?.now()', '1:1 Date.now'],
  ['globalThis.Date.now()', '1:1 Date.now'],
  ['(Date as any).now()', '1:1 Date.now'],
  ['let a = 1\n  + +new Date()', '2:6 new Date()'],
  ['new Date', '1:1 new Date()'],
  ['Date()', '1:1 Date()'],
  ['new Date(2024, 0, 1)', '1:1 new Date(year, ...)'],
  ["new Date('2024-01-01T00:00')", "1:1 new Date('2024-01-01T00:00')"],
  ['new Date(5).getHours()', '1:1 getHours'],
  ['const d = new Date(5)\nd.toLocaleString()', '2:1 toLocaleString'],
  ['Math.random()', '1:1 Math.random'],
  ['const { random } = Math', '1:9 Math.random'],
  ['const draw = () => Math.random() * 2', '1:20 Math.random'],
  ['crypto.randomUUID()', '1:1 crypto.randomUUID'],
  ["import { randomUUID } from 'node:crypto'\nrandomUUID()", '2:1 crypto.randomUUID'],
  ["import * as hash from 'crypto'\nhash.randomBytes(4)", '2:1 crypto.randomBytes'],
  ["export { randomInt } from 'node:crypto'", '1:10 crypto.randomInt'],
  ['performance.now()', '1:1 performance.now'],
  ['setTimeout(() => {}, 5)', '1:1 setTimeout'],
  ['setInterval(() => {}, 5)', '1:1 setInterval'],
  ['setImmediate(() => {})', '1:1 setImmediate'],
  ['queueMicrotask(() => {})', '1:1 queueMicrotask'],
  ["fetch('https://a.b')", '1:1 fetch'],
  ["const f = fetch\nf('https://a.b')", '1:11 fetch', '2:1 fetch'],
  ["new WebSocket('wss://a.b')", '1:1 WebSocket'],
  ['process.env.KEY', '1:1 process.env.KEY'],
  ['process.hrtime()', '1:1 process.hrtime'],
  ['const a = async () => 1', '1:11 async'],
  ['const handlers = { async onTrade() { await 0 } }', '1:20 async'],
  ['await 0', '1:1 await'],
  ['for await (const a of []) {}', '1:1 await'],
  ['Promise.resolve().then(() => 1)', '1:1 Promise.resolve'],
  ["import('./other.ts')", '1:1 import()'],
  ["import { readFileSync } from 'node:fs'", '1:1 node:fs'],
  ["import 'child_process'", '1:1 child_process'],
  ["import { setTimeout as wait } from 'node:timers/promises'", '1:1 node:timers/promises'],
  ["export * from 'node:os'", '1:1 node:os'],
  ["require('fs')", '1:1 require'],
  ["eval('1')", '1:1 eval'],
  ["new Function('return 1')", '1:1 Function'],
  ['new WeakRef({})', '1:1 WeakRef'],
  ['function f(process: number) { return process }\nprocess.exit()', '2:1 process.exit'],
  ['{ const Date = { now: () => 1 }; Date.now() }\nDate.now()', '2:1 Date.now'],
  ['const o = { Date }\nconst e = { [Date.now()]: 1 }', '2:14 Date.now'],
  ['/* sluice: allow Math.random, because it is a test */ Date.now()', '1:55 Date.now'],
  ['// sluice: allow Date.now\nDate.now()', '2:1 Date.now'],
])('the determinism check finds the forbidden use in: %s', (text, ...places) => {
  expect(foundIn(text)).toEqual(places)
})

test.each([
  ['new Date(5).toISOString()'],
  ['new Date(5).getUTCHours() + new Date(5).getTime()'],
  ["new Date('2024-01-01')"],
  ["new Date('2024-01-01T00:00:00Z')"],
  ['Date.UTC(2024, 0, 1)'],
  ["Date.parse('2024-01-01')"],
  ['const at: Date | undefined = undefined'],
  ['type Clock = typeof Date; interface A { fetch: typeof fetch; process: NodeJS.Process }'],
  ["import type { Stats } from 'node:fs'"],
  ['({}) instanceof Date'],
  ['({}) instanceof Promise'],
  ['let performance = 0\nperformance += 1\nperformance.toFixed()'],
  ['let global = { process: 1 }\nglobal.process'],
  ['var Date = Date'],
  ['for (let process = 0, crypto = process; process < 3; process++) crypto.toFixed()'],
  ['for (const process of [{ exit: 1 }]) process.exit'],
  ["import data from './prices.json' with { type: 'json' }\ndata"],
  ["typeof process === 'undefined'"],
  ['const Date = { now: () => 1 }\nDate.now()'],
  ['function f(Date: any) { return Date.now() }'],
  ['const f = ({ Math }: any) => Math.random()'],
  ['const f = ([process]: any) => process.exit()'],
  ['try {} catch (performance: any) { performance.now() }'],
  ['function fetch() {}\nfetch()'],
  ['class Promise {}\nnew Promise()'],
  ['{ var setTimeout = (f: any) => f }\nsetTimeout(1)'],
  ['const a = { fetch: 1, process() {}, Date: { now() {} } }\na.fetch\na.process()\na.Date.now()'],
  ['class A { crypto = 1; static async = 2; get performance() { return this.crypto } }'],
  ['performance: for (;;) break performance'],
  ['// Date.now()\n/* Math.random() */'],
  ["'Date.now()' + `Math.random()` + /setTimeout/.source"],
  ["import { createHash } from 'node:crypto'\ncreateHash('sha256')"],
  ["import { random, fetch } from './own.ts'\nrandom()\nfetch()"],
  ['Math.max(1, 2)'],
  ['export const fetch = 1'],
  ['function* walk() { yield 1 }'],
  ['// sluice: allow Date.now, because the result is only logged\nDate.now()'],
  ['Date.now() // sluice: allow Date, because the result is only logged'],
  ['new Date() // sluice: allow new Date(), because the result is only logged'],
])('the determinism check allows: %s', (text) => {
  expect(foundIn(text)).toEqual([])
})

test('the determinism check reports the line and column of the TypeScript source, even after types and multi-byte letters', () => {
  expect(foundIn("const é: Map<鯨, '𝕊'> = new Map(), 鯨 = '𝕊'; Math.random()")).toEqual(['1:46 Math.random'])
  expect(foundIn('Math.random()', 'tested.mjs')).toEqual(['1:1 Math.random'])
})

test('the determinism check reads the local modules that a strategy imports, each of them once, and no others', () => {
  written("import './tested.ts'\nexport const a = Math.random()", 'near.ts')
  written('export const b = Date.now()', 'far.ts')
  const file = written("import { a } from './near.ts'\n// import { b } from './far.ts'\nexport default a")
  const { found } = nondeterminism(file)
  expect(found.map(({ file, line, column }) => `${file}:${line}:${column}`)).toEqual([`${folder}/near.ts:2:18`])
})

test('the determinism check reads a module that only another module of the strategy imports', () => {
  written('export const b = () => Date.now()', 'far.ts')
  written("export { b } from './far.ts'", 'near.ts')
  const { found } = nondeterminism(written("import { b } from './near.ts'\nexport default b"))
  expect(found.map(({ file, line, column }) => `${file}:${line}:${column}`)).toEqual([`${folder}/far.ts:1:24`])
})

test('a strategy that breaks the determinism rules is refused, with each place and the name to use instead', async () => {
  const file = written('export default { at: Date.now(), by: Math.random() }')
  await expect(loadStrategy(file, folder)).rejects.toThrow(
    `the strategy ${file} cannot be used: tested.ts:1:22: Date.now reads the clock of this machine, which a replay cannot \
repeat; use bot.now()\ntested.ts:1:38: Math.random draws numbers that a replay cannot repeat; use bot.random()`,
  )
})

test('`testStrategy` refuses a strategy that breaks the determinism rules', async () => {
  const file = written(`import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: 'a', about: '', params: z.object({}), keys: ['trades'],
  start: () => ({ onTimer: () => void Math.random() }) })`)
  admitStrategy(pathToFileURL(file).href)
  const { default: strategy } = await import(file)
  expect(() => testStrategy(strategy, {})).toThrow('tested.ts:3:39: Math.random draws numbers')
})
