import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { View } from '../../src/runtime/view/view.ts'
import { TRADE_PROGRAM, type TradeData } from '../../src/sandbox/chain/trade-program.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { MINT } from '../sandbox/still-market.ts'
import { isLiveOf } from './books.ts'
import { openStage, orderIn, tell } from './stage.ts'
import { until } from './until.ts'
import { openVenue, type Venue } from './venue.ts'

const BOTS = [
  { name: 'serves', strategy: 'round-trips', wallet: 'main', executor: 'cloud', exits: { maxHoldSeconds: 3 } },
  { name: 'signs', strategy: 'round-trips', wallet: 'side', executor: 'local', exits: { maxHoldSeconds: 3 } },
] as const

test.concurrent('after a kill and a restart with two wallets, nothing is bought twice, each wallet signs only its own trades, and each ledger balances', async ({
  onTestFinished,
}) => {
  const config = { service: { lateSeconds: 1 } }
  const venue = await openVenue({ bots: BOTS, wallets: ['main', 'side'], config }, onTestFinished)
  const first = venue.run({ SLUICE_FAILPOINT: 'sent:4' })
  expect(await first.ended, first.stderr).toBe(null)
  expect(first.child.signalCode).toBe('SIGKILL')
  const second = await venue.start()
  await until('sales of both wallets', () => walletsOf(venue).every((wallet) => soldBy(venue, wallet) >= 2))
  await second.handle({ command: 'halt' })
  await venue.settled()
  await second.stop()
  expect(await venue.complaints()).toEqual([])
  expectOwnSigners(venue)
})

test.concurrent('with two wallets, a command, a second process and a transaction of another program affect only one wallet', async ({
  onTestFinished,
}) => {
  const bots = ['main', 'side'].map((wallet) => ({ name: `on-${wallet}`, strategy: 'puppet', wallet }) as const)
  const stage = await openStage({ bots, wallets: ['main', 'side'] }, onTestFinished)
  const { handle } = await stage.go()
  await until('both wallets', () => walletsOf(stage).every((wallet) => mayBuy(stage, wallet)))
  const answer = async (wallet: string, to: string): Promise<string> =>
    (await tell(handle, stage, to, `on-${wallet}`)).answer
  const done = async (wallet: string, to: string): Promise<void> => {
    // A buy is refused until the outcome of the earlier full exit is proved.
    const order = await until(to, async () => {
      const id = await answer(wallet, to)
      return id !== 'EXIT_UNPROVED' && id
    })
    expect(order).toMatch(/^o\d+$/)
    await orderIn(stage, order, ({ state }) => state === 'filled')
  }

  // Both wallets hold the same token. A sale in one wallet does not change the other.
  await Promise.all([done('main', 'buy'), done('side', 'buy')])
  expect(holders(stage)).toEqual(['on-main', 'on-side'])
  expect(await handle({ command: 'sell', mint: MINT, wallet: 'side' })).toMatchObject({ selling: 1 })
  await until('the sale', () => holders(stage).join() === 'on-main')

  expect(await handle({ command: 'halt', wallet: 'side' })).toMatchObject({
    text: expect.stringContaining('entries of the wallet side are halted'),
  })
  expect(await answer('side', 'buy')).toBe('HALTED')
  await done('main', 'sell')
  await done('main', 'buy')
  expect(() => handle({ command: 'halt', wallet: 'sied' })).toThrow(
    'there is no wallet sied: the wallets are main, side; did you mean side?',
  )
  await handle({ command: 'resume', wallet: 'side' })

  buyElsewhere(stage.sandbox, stage.sandbox.wallets.side?.publicKey ?? '')
  await until('the transaction', () => stopsOf(handle({ command: 'status' }) as View).length > 0)
  expect(stopsOf(handle({ command: 'status' }) as View)).toEqual([['FOREIGN_TX', 'on-side']])
  expect(await answer('side', 'buy')).toBe('FOREIGN_TX')
  await done('main', 'sell')
  await done('main', 'buy')

  // Starts a second process with another API key and another journal.
  stage.giveKey(stage.sandbox.apiKeys.premium)
  stage.configure({ journal: { path: join(stage.folder, 'second.db') } })
  await expect(stage.start()).rejects.toThrow('the wallet main is in use by ')
})

test.concurrent('if a bot moves to another wallet with another executor, its position stays in the former wallet and is sold there', async ({
  onTestFinished,
}) => {
  const bot = (name: string, wallet: string, executor: string) =>
    ({ name, strategy: 'puppet', wallet, executor }) as const
  const bots = [bot('moves', 'main', 'cloud'), bot('stays', 'main', 'cloud'), bot('signs', 'side', 'local')]
  const stage = await openStage({ bots, wallets: ['main', 'side'] }, onTestFinished)
  const first = await stage.go()
  await until('both wallets', () => walletsOf(stage).every((wallet) => mayBuy(stage, wallet)))
  const { answer } = await tell(first.handle, stage, 'buy', 'moves')
  await orderIn(stage, answer, ({ state }) => state === 'filled')
  await first.stop()

  writeFileSync(stage.configFile, moved(readFileSync(stage.configFile, 'utf8')))
  const { handle } = await stage.go()
  await until('the new wallet', () => mayBuy(stage, walletsOf(stage)[1] as string))
  // The bot cannot hold the token in two wallets, because the timers of its exits are stored by bot and token.
  expect((await tell(handle, stage, 'buy', 'moves')).answer).toBe('MINT_OWNED')
  expect((await tell(handle, stage, 'sell', 'moves')).answer).toBe('NO_POSITION')
  expect(() => handle({ command: 'sell', mint: MINT, wallet: 'side' })).toThrow('no bot of the wallet side holds')
  const { positions, wallets } = handle({ command: 'status' }) as View
  expect(positions.map(({ wallet }) => wallet)).toEqual(['main'])
  expect(wallets.map(({ name, positionsSol }) => [name, positionsSol > 0])).toEqual([
    ['side', false],
    ['main', true],
  ])
  await handle({ command: 'flatten', wallet: 'main' })
  await until('the sale', () => holders(stage).length === 0)
  expectOwnSigners(stage)
})

/** Returns whether the process has read a wallet, so that its bots may buy. */
function mayBuy(venue: Venue, wallet: string): boolean {
  return venue.books().inputs.some(({ kind, json }) => {
    return kind === 'gate' && json.includes('"open":true') && json.includes(`|${wallet}"`)
  })
}

/** Returns the configuration in which the first bot has moved to the second wallet and its executor. */
function moved(text: string): string {
  const { bots, ...more } = JSON.parse(text) as { bots: object[] }
  return JSON.stringify({ ...more, bots: [{ ...bots[0], wallet: 'side', executor: 'local' }, ...bots.slice(1)] })
}

function holders(venue: Venue): string[] {
  const held = venue.books().positions.filter(({ state, tokens }) => state !== 'closed' && tokens > 0n)
  return held.map(({ bot }) => bot).sort()
}

function stopsOf({ stops }: View): [string, string][] {
  return stops.map(({ code, bots }) => [code, bots.join()])
}

/** Buys tokens with a wallet as another program would, without Sluice. */
function buyElsewhere({ ledger }: Sandbox, wallet: string): void {
  const data: TradeData = {
    ...{ side: 'buy', wallet, mint: MINT, exact: 'in', lamports: 5e8, tokens: 0n, serviceFeeBps: 0 },
    ...{ slippagePercent: 10, priorityFeeSol: 0, opens: true, closes: false, fails: false },
  }
  ledger.submit({ payer: wallet, instruction: { program: TRADE_PROGRAM, data }, priorityFeeLamports: 0 })
}

function walletsOf({ sandbox }: Venue): string[] {
  return Object.values(sandbox.wallets).map(({ publicKey }) => publicKey)
}

function soldBy(venue: Venue, wallet: string): number {
  return venue.books().fills.filter((fill) => fill.side === 'sell' && isLiveOf(wallet)(fill)).length
}

/** Expects that each fill was paid for by the wallet of its account, and that no transaction changed both wallets. */
function expectOwnSigners(venue: Venue): void {
  const { fills, orders } = venue.books()
  const { ledger } = venue.sandbox
  const wallets = walletsOf(venue)
  const signedBy = wallets.map((address) =>
    ledger.signatures({ address, limit: 10_000, commitment: 'processed' }).map(({ signature }) => signature),
  )
  expect(signedBy[0]?.filter((signature) => signedBy[1]?.includes(signature))).toEqual([])
  for (const [index, wallet] of wallets.entries()) {
    const own = fills.filter(isLiveOf(wallet)).map(({ signature }) => signature)
    expect(own.filter((signature) => signedBy[index]?.includes(signature) !== true)).toEqual([])
  }
  const others = orders.filter((order) => !wallets.some((wallet) => isLiveOf(wallet)(order)))
  expect(others).toEqual([])
}
