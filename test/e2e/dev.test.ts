import { describe, expect, test } from 'vitest'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { called } from './called.ts'
import { launch, type Sluice } from './process.ts'
import { until } from './until.ts'

const folder = temporaryFolder()
const T0 = 1_780_000_000_000

/**
 * Returns a strategy that buys every token at its n-th print. The number n and the reason come from a module of their
 * own.
 */
function strategy(body: string): string {
  return `import { defineStrategy, z } from 'sluice'
import { AT, reason } from './numbers.ts'
export default defineStrategy({
  name: 'nth',
  about: 'Buys each token at its n-th print.',
  params: z.object({}),
  keys: ['trades'],
  exits: { maxHoldSeconds: 20 },
  token: () => ({ prints: 0 }),
  start: (_params, bot) => ({
    onTrade(_trade, token) {
      token.state.prints++
      ${body}
    },
  }),
})
`
}

const BUYS = 'if (token.state.prints === AT) bot.buy(token, { sol: 0.01, reason })'
const THROWS = "if (token.state.prints === 50) throw new Error('no ' + AT + ' ' + reason)"
const numbers = (at: number) => `export const AT = ${at}\nexport const reason = 'print ${at}'\n`

interface Edited {
  readonly dev: Sluice
  /** Saves a file of the strategy in the folder of `dev`. */
  save(name: 'nth.ts' | 'numbers.ts', text: string): void
}

/** Starts `dev` with a strategy in a new folder. */
function start(own: string, ...options: string[]): Edited {
  const save = (name: string, text: string): string => folder.write(`${own}/${name}`, text)
  save('numbers.ts', numbers(20))
  return { dev: launch(['dev', save('nth.ts', strategy(BUYS)), ...options], { NO_COLOR: '1' }), save }
}

async function tapeOf(name: string): Promise<string> {
  const tape = `${folder.path}/${name}.db`
  await writeTape(tape, [{ time: T0, items: noisyMarket(2_000, 3, T0) }])
  return tape
}

const printed = (dev: Sluice, text: RegExp) =>
  until(
    () => `${text}\n${dev.stdout}\n${dev.stderr}`,
    () => text.exec(dev.stdout),
    60_000,
  )

async function interrupt(dev: Sluice): Promise<void> {
  dev.child.kill('SIGINT')
  expect([await dev.ended, dev.stderr]).toEqual([0, ''])
}

describe.concurrent('dev', () => {
  test('`dev` stops a strategy version that does not return after 5 s, and the previous version continues', async () => {
    const { dev, save } = start('loops', '--journal', await tapeOf('loops'))
    await printed(dev, /RESULTS +VERSION 1 /)
    save('nth.ts', strategy('while (token.state.prints === 50) {}'))
    await printed(dev, /version 2 failed; version 1 continues\nthe strategy did not return within 5 s\n/)
    await interrupt(dev)
  })

  test('`dev` compares each saved version over the same rows, keeps the last one if the new one has an error, and exits with 0 on Ctrl-C', async () => {
    const { dev, save } = start('saves', '--journal', await tapeOf('tape'))
    await printed(
      dev,
      /version 1: first event, tape .*tape\.db, 2000 rows\nRESULTS +VERSION 1 +2000 rows[\s\S]*\norders +16\n/,
    )
    await printed(dev, /buy {5}\w{8} 0\.01 SOL print 20|filled|sell/)

    save('numbers.ts', numbers(40)) // a module of the strategy, not its file
    const [, ms] = await printed(dev, /version 2: first event, (\d+) ms after the save\n/)
    expect(Number(ms)).toBeGreaterThan(0)
    await printed(dev, /THE SAME ROWS +BEFORE +VERSION 2 +2000 rows[\s\S]*fills differ[\s\S]*- .* print 20\n/)

    save('nth.ts', strategy('this is not code'))
    await printed(
      dev,
      /version 3 failed; version 2 continues\n.*nth\.ts:13:\d+: SyntaxError: [\s\S]*\n> 13 \| +this is not code\n +\| +\^\n/,
    )

    save('nth.ts', strategy(THROWS))
    await printed(
      dev,
      /version 4 failed; version 2 continues\n.*nth\.ts:13:\d+: Error: no 40 print 40\n[\s\S]*> 13 \| /,
    )

    save('nth.ts', strategy(`${BUYS} // the same decisions`))
    await printed(dev, /VERSION 5 [\s\S]*every decision and every fill is the same as before\n/)

    await interrupt(dev)
  })

  test('in `dev`, a new version sees a live feed, even if the tape has moved on beyond the compared rows', async () => {
    const { dev, save } = start('stretch', '--window', '5', '--speed', '100')
    await printed(dev, /version 1: first event/)
    await printed(dev, /RESULTS[\s\S]*?(?:buy {5}[\s\S]*?){20}/)
    save('numbers.ts', numbers(10))
    const [, compared] = await printed(dev, /THE SAME ROWS([\s\S]*?fills differ[\s\S]*?print 10\n)/)
    expect(compared).not.toContain('FEED_DOWN')
    await interrupt(dev)
  })

  test('without a journal, `dev` runs the market of the sandbox and prints every new decision', async () => {
    const { dev } = start('sandbox', '--window', '20', '--speed', '40')
    await printed(dev, /version 1: first event, sandbox, seed 1\n/)
    await printed(
      dev,
      /RESULTS[\s\S]*\n\d\d:\d\d:\d\d buy +\w{8} 0\.01 SOL print 20\n[\s\S]*filled[\s\S]*sell .* all held for 20 s\n/,
    )
    await interrupt(dev)
  })

  test.for<[string[], string]>([
    [['nothing.ts'], 'nothing.ts: no such file; expected a strategy or a configuration'],
    [['package.json', '--speed', 'max'], '--speed max needs a tape: add --journal DB, or choose a number'],
    [['package.json', '--speed', '0'], 'Expected a number above 0, or max.'],
    [['package.json', '--journal', 'nowhere.db'], 'no journal at nowhere.db'],
  ])('`dev %s` exits with 2', async ([args, message]) => {
    const { code, stderr } = await called(['dev', ...args])
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})
