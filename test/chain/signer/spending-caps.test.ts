import { chmodSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Caps, Spending } from '../../../src/chain/signer/spending-caps.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
let files = 0
const NONE: Caps = { perTransaction: null, perHour: null, perDay: null }
const WALLET = new Uint8Array(32).fill(3)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = 1_800_000_000_000

/** Returns a function `open`, which opens the same file of counters at each call, and a clock whose time the test
 *  sets. */
function rig(caps: Partial<Caps>) {
  const path = join(folder.path, `${++files}.caps`)
  const clock = { now: START }
  const open = (wallet = WALLET) => new Spending(path, wallet, { ...NONE, ...caps }, () => clock.now)
  return { path, clock, open }
}

test('the caps of a transaction, an hour and a day are exact to the lamport', () => {
  const { clock, open } = rig({ perTransaction: 100n, perHour: 250n, perDay: 400n })
  const spending = open()
  expect(spending.take(101n)).toMatch(
    'the cap per transaction is 100 lamports, but with this request the total would be 101',
  )
  for (const lamports of [100n, 100n, 50n]) expect(spending.take(lamports)).toBeUndefined()
  expect(spending.take(1n)).toMatch('the cap per hour is 250 lamports, but with this request the total would be 251')
  clock.now += HOUR + MINUTE
  expect(spending.take(100n)).toBeUndefined()
  expect(spending.take(51n)).toMatch('the cap per day is 400 lamports, but with this request the total would be 401')
  expect(spending.take(50n)).toBeUndefined()
  clock.now += DAY + MINUTE
  expect(spending.take(100n)).toBeUndefined()
})

test('an amount that the signer refuses is not counted', () => {
  const spending = rig({ perHour: 10n }).open()
  for (let count = 0; count < 5; count++) expect(spending.take(11n)).toBeDefined()
  expect(spending.take(10n)).toBeUndefined()
})

test('every counted amount is kept across a restart, because it is on the disk before the signature is granted', () => {
  const { path, open } = rig({ perDay: 30n })
  for (let count = 0; count < 3; count++) {
    // The new process opens the file although the earlier one, which was killed, did not close it.
    expect(open().take(10n)).toBeUndefined()
  }
  expect(open().take(1n)).toMatch('the cap per day is 30 lamports, but with this request the total would be 31')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('setting the clock back before a start frees no part of a cap, and the refusal names the clock', () => {
  const { clock, open } = rig({ perHour: 10n })
  expect(open().take(10n)).toBeUndefined()
  clock.now -= 3 * HOUR
  expect(open().take(1n)).toMatch('the clock is 180 minutes behind')
  clock.now += 3 * HOUR + 59 * MINUTE
  expect(open().take(1n)).toMatch('the cap per hour')
  clock.now += 2 * MINUTE
  expect(open().take(1n)).toBeUndefined()
})

test('setting the clock back during a run frees no part of a cap', () => {
  const { clock, open } = rig({ perHour: 10n })
  const spending = open()
  expect(spending.take(10n)).toBeUndefined()
  clock.now -= 3 * HOUR
  expect(spending.take(1n)).toMatch('the clock is 180 minutes behind')
})

test('the file has a fixed number of places for minutes, and the count of a new minute replaces that of the old minute in the same place', () => {
  const { clock, open } = rig({ perHour: 10n })
  const spending = open()
  for (let round = 0; round < 2; round++, clock.now += 1_500 * MINUTE) expect(spending.take(6n)).toBeUndefined()
  clock.now -= 1_500 * MINUTE
  expect(spending.take(4n)).toBeUndefined()
  expect(spending.take(1n)).toMatch('the cap per hour is 10 lamports, but with this request the total would be 11')
})

test('in each hour and each day, the signed amounts stay within the cap, even across restarts', () => {
  const step = fc.record({
    ms: fc.integer({ min: 0, max: 40 * MINUTE }),
    lamports: fc.bigInt({ min: 1n, max: 60n }),
    restarts: fc.boolean(),
  })
  const property = fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
    const { clock, open } = rig({ perTransaction: 50n, perHour: 100n, perDay: 400n })
    let spending = open()
    const taken: { at: number; lamports: bigint }[] = []
    const within = (ms: number) =>
      taken.filter(({ at }) => at > clock.now - ms).reduce((sum, { lamports }) => sum + lamports, 0n)
    for (const { ms, lamports, restarts } of steps) {
      clock.now += ms
      if (restarts) {
        spending.close()
        spending = open()
      }
      if (spending.take(lamports) === undefined) taken.push({ at: clock.now, lamports })
      expect(within(HOUR)).toBeLessThanOrEqual(100n)
      expect(within(DAY)).toBeLessThanOrEqual(400n)
    }
    // One minute after the day has passed, the full cap is available again.
    clock.now += DAY + MINUTE
    expect(spending.take(50n)).toBeUndefined()
    spending.close()
  })
  fc.assert(property, { numRuns: 10 })
})

test.each<[string, (path: string) => void, RegExp]>([
  ['a file of counters that other users can write', (path) => chmodSync(path, 0o660), /mode 0600/],
  ['a file of counters that was truncated', (path) => truncateSync(path, 1_000), /damaged/],
  ['a file of counters that was overwritten', (path) => writeFileSync(path, 'x'.repeat(48_064)), /damaged/],
  [
    'a file of counters in which a count was changed',
    (path) => {
      const bytes = readFileSync(path)
      const slot = 64 + 32 * (Math.floor(START / MINUTE) % 1_500)
      bytes.writeUInt8(bytes.readUInt8(slot + 8) ^ 1, slot + 8)
      writeFileSync(path, bytes)
    },
    /damaged.*remove it to start from zero/,
  ],
])('%s is refused', (_name, spoil, because) => {
  const { path, open } = rig({})
  open().take(5n)
  spoil(path)
  expect(open).toThrow(because)
})

test('a file of counters that belongs to another wallet is refused', () => {
  const { open } = rig({})
  open().take(5n)
  expect(() => open(new Uint8Array(32).fill(4))).toThrow('another wallet')
})
