import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isOpen } from '../../src/engine/order.ts'
import { sendCommand } from '../../src/live/control/client.ts'
import { SeededMarket } from '../../src/sandbox/market/seeded-market.ts'
import { type Books, knowsWallet, readBooks, segmentsOf } from './books.ts'
import type { Sluice } from './process.ts'
import { until } from './until.ts'
import { openVenue, type Venue } from './venue.ts'

type Executor = 'cloud' | 'local'
type Output = Books['outputs'][number]
type Status = Readonly<{ feed: string; stops: readonly Readonly<{ code: string; text: string; bots: string[] }>[] }>

/** The slot time of the real chain, ms. A process sees the transactions of the other process only after some blocks. */
const SLOT_MS = 400
const MOST_DOUBLED = 2
/** The bot of the wallet that both processes use, and the bot of the wallet that only one process uses. */
const [SHARED, ALONE] = ['hoarder', 'alone']
/** The second process starts after this number of buys of the first process. */
const BUYS_BEFORE = 3
/** The number of buys that a process has to refuse after it has stopped entries. */
const REFUSALS = 5
const WALLET_STOPS = ['FOREIGN_TX', 'UNEXPECTED_FILL']
const LIKELY_CAUSE = /another process may be trading with (the|this) wallet/i

/** A wallet that two processes use, and a market of many tokens. The market has no prints until it is opened. */
interface Scene {
  readonly venue: Venue
  readonly wallet: string
  readonly market: { isOpen: boolean }
}

/** A `sluice run --live` with a home folder, a state folder and a journal of its own. */
interface Container {
  readonly name: string
  readonly journal: string
  readonly process: Sluice
}

test.concurrent.for(['cloud', 'local'] as const)(
  'two processes that start together on one wallet (executor %s) both stop entries before they buy a third token twice',
  async (executor, { onTestFinished }) => {
    const scene = await openScene(executor, onTestFinished)
    const both = [await start(scene, 'first', executor), await start(scene, 'second', executor)]
    for (const one of both) await ready(one)
    scene.market.isOpen = true
    await expectNoticed(scene, both)
  },
)

test.concurrent('a second process on a wallet that already trades stops before it buys three tokens again', async ({
  onTestFinished,
}) => {
  const scene = await openScene('cloud', onTestFinished)
  scene.market.isOpen = true
  const first = await start(scene, 'first', 'cloud')
  await until('the first process to buy', () => booksOf(first).fills.length >= BUYS_BEFORE)
  const second = await start(scene, 'second', 'cloud')
  expect(await expectNoticed(scene, [first, second])).toContain('second')
})

test.concurrent('if a second process uses one of two wallets, both processes stop the entries of this wallet before they buy a third token twice, and the other wallet continues to trade', async ({
  onTestFinished,
}) => {
  const scene = await openScene('cloud', onTestFinished, ['main', 'side'])
  const first = await start(scene, 'first', 'cloud')
  const second = await start(scene, 'second', 'cloud', 'main')
  for (const one of [first, second]) await ready(one)
  scene.market.isOpen = true
  expect(await expectNoticed(scene, [first, second])).toContain('first')
  const { stops } = await statusOf(first)
  const stopped = stops.flatMap(({ code, bots }) => (WALLET_STOPS.includes(code) ? bots : []))
  expect(new Set(stopped)).toEqual(new Set([SHARED]))
  const before = booksOf(first, ALONE).fills.length
  await until('the other wallet to trade on', () => booksOf(first, ALONE).fills.length >= before + BUYS_BEFORE)
  expect(doubledBuys(scene, scene.venue.sandbox.wallets.side?.publicKey)).toBe(0)
})

/** `wallets` has the names of the wallets. Both processes use the first one. */
async function openScene(
  executor: Executor,
  atEnd: Parameters<typeof openVenue>[1],
  wallets: readonly string[] = [],
): Promise<Scene> {
  const market = { isOpen: false }
  const bot = { name: SHARED, strategy: 'hoarder', executor } as const
  const named = wallets.map((wallet, index) => ({ ...bot, name: index === 0 ? SHARED : ALONE, wallet }))
  const venue = await openVenue(
    {
      bots: wallets.length === 0 ? [bot] : named,
      wallets,
      market: (emit) => new SeededMarket({ seed: 1, emit: (event) => market.isOpen && emit(event) }),
      slotMs: SLOT_MS,
      speed: 5,
    },
    atEnd,
  )
  const { wallet, wallets: own } = venue.sandbox
  return { venue, market, wallet: own[wallets[0] ?? '']?.publicKey ?? wallet }
}

/** Starts a process, and waits until it has read its configuration. `only` is its only wallet. */
async function start({ venue }: Scene, name: string, executor: Executor, only?: string): Promise<Container> {
  const home = join(venue.folder, name)
  mkdirSync(home)
  const journal = join(home, 'journal.db')
  const { keypair, policy, wallet } = venue.sandbox
  venue.configure({
    journal: { path: journal },
    ...(executor === 'local' && {
      service: { builderPolicy: policy },
      wallet: { publicKey: wallet, keypair: `file:${keypair}` },
    }),
  })
  if (only !== undefined) keepOnly(venue.configFile, only)
  const process = venue.run({ HOME: home, XDG_STATE_HOME: join(home, 'state') })
  await until(`the ${name} process to run`, () => {
    expect(process.child.exitCode, process.stderr).toBe(null)
    return process.stderr.includes('"msg":"running"')
  })
  return { name, journal, process }
}

/** Removes all wallets but one from a configuration, and their bots. */
function keepOnly(file: string, wallet: string): void {
  const config = JSON.parse(readFileSync(file, 'utf8'))
  const bots = config.bots.filter((bot: { wallet: string }) => bot.wallet === wallet)
  writeFileSync(file, JSON.stringify({ ...config, wallets: { [wallet]: config.wallets[wallet] }, bots }))
}

/** Waits until the process may buy. */
async function ready(one: Container): Promise<void> {
  await until('the wallet', () => segmentsOf(one.journal) > 0 && knowsWallet(booksOf(one), 1))
  await until('the feed', async () => (await statusOf(one)).feed === 'live')
}

/**
 * Expects that each process stops entries because of the other process's buys, and names the likely cause. Returns the
 * names of the stopped processes. If one process stops before it buys, the other process has no reason to stop.
 */
async function expectNoticed(scene: Scene, both: readonly Container[]): Promise<string[]> {
  const stopped = await until('the end of entries', async () => {
    expect(doubledBuys(scene)).toBeLessThanOrEqual(MOST_DOUBLED)
    const stops = await Promise.all(both.map(stopsOf))
    const found = both.filter((_, index) => stops[index] !== '')
    return (found.length === both.length || found.some(hasBoughtNothing)) && found
  })
  for (const one of stopped) await expectStopped(one)
  expect(doubledBuys(scene)).toBeLessThanOrEqual(MOST_DOUBLED)
  return stopped.map(({ name }) => name)
}

/**
 * Expects that the status and the log of a process name the likely cause, and that it buys nothing more although its
 * strategy still requests buys.
 */
async function expectStopped(one: Container): Promise<void> {
  expect(await stopsOf(one)).toMatch(LIKELY_CAUSE)
  await until('the log to name the likely cause', () => LIKELY_CAUSE.test(one.process.stderr))
  const after = await until('buys to be refused', () => {
    const { outputs } = booksOf(one)
    const isRefusal = ({ kind, code }: Output): boolean => kind === 'refused' && WALLET_STOPS.includes(code)
    const first = outputs.findIndex(isRefusal)
    return outputs.filter(isRefusal).length >= REFUSALS && outputs.slice(first)
  })
  expect(after.filter(({ kind }) => kind === 'order')).toEqual([])
  await until('the end of its orders', () => booksOf(one).orders.every(({ state }) => !isOpen(state)))
}

/** Returns whether the process has no fill and no open order. */
function hasBoughtNothing(one: Container): boolean {
  const { orders, fills } = booksOf(one)
  return fills.length === 0 && orders.every(({ state }) => !isOpen(state))
}

/** Returns the reasons for which the wallet stops the entries of a process; '' if there are none. */
async function stopsOf(one: Container): Promise<string> {
  const { stops } = await statusOf(one)
  return stops.flatMap(({ code, text }) => (WALLET_STOPS.includes(code) ? [text] : [])).join()
}

async function statusOf({ journal }: Container): Promise<Status> {
  return (await sendCommand(journal, { command: 'status' })) as Status
}

/** Returns what the journal of a process contains about a bot. */
function booksOf({ journal }: Container, bot = SHARED): Books {
  const books = readBooks(journal)
  const own = <Row extends { readonly bot: string }>(rows: readonly Row[]): Row[] =>
    rows.filter((one) => one.bot === bot)
  return { ...books, orders: own(books.orders), fills: own(books.fills), outputs: own(books.outputs) }
}

/** Returns the number of buys of tokens that the wallet had bought before. */
function doubledBuys({ venue, wallet: shared }: Scene, wallet = shared): number {
  const { ledger } = venue.sandbox
  const bought = ledger
    .signatures({ address: wallet, limit: 10_000, commitment: 'processed' })
    .flatMap(({ error, tokens }) => (error === null ? tokens : []))
    .filter(({ owner, pre = 0n, post = 0n }) => owner === wallet && post > pre)
  return bought.length - new Set(bought.map(({ mint }) => mint)).size
}
