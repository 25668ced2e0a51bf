import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { lamports } from '../src/base/units.ts'
import { loadConfig } from '../src/config/load.ts'
import { accountOf } from '../src/engine/account.ts'
import { NO_COSTS } from '../src/engine/accounting/fill-costs.ts'
import type { Fill, Order } from '../src/engine/order.ts'
import { NO_MONEY } from '../src/engine/recovered-money.ts'
import type { OpenJournal } from '../src/journal/writer/gathering-journal.ts'
import { openJournal } from '../src/journal/writer/journal.ts'
import { startBots } from '../src/live/start-bots.ts'
import type { Attempt } from '../src/orders/attempt.ts'
import { type Sandbox, startSandbox } from '../src/sandbox/sandbox.ts'
import { encodeBase58 } from '../src/solana/base58.ts'
import { venueOf } from '../src/venues/registry.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const ORDERS = 100_000
const SMOKE_ORDERS = 1_000
const RUNS = 5
const MINT = '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'

/** Measures how long a start after a crash takes until the bots may buy again. The start checks the tables of a journal
 *  with many orders, and reads the wallet through an RPC node on loopback. */
export async function benchRecovery(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    process.env.XDG_STATE_HOME ??= folder
    const orders = smoke ? SMOKE_ORDERS : ORDERS
    const sandbox = await startSandbox(venueOf({ kind: 'sandbox' }).served, { fundSol: 10 })
    const path = join(folder, 'journal.db')
    await writeJournal(path, sandbox, orders)
    const config = configOf(sandbox, folder, path)
    const taken: number[] = []
    for (let run = 0; run < (smoke ? 1 : RUNS); run++) taken.push(await gateMs(config, path))
    await sandbox.close()
    const name = `recovery: start until entries may begin, ${orders} orders in the journal`
    return [{ name, unit: 'ms', goal: 2_000, atMost: true, ...summarize(taken) }]
  })
}

async function gateMs(config: string, path: string): Promise<number> {
  const loaded = await loadConfig([config])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const began = performance.now()
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>()
  const bots = await startBots(loaded.config, {
    allow: 'live',
    logFormat: 'text',
    writeLog: (line) => {
      if (line.includes('entries may begin')) open()
    },
  })
  await isOpen
  const took = performance.now() - began
  await bots.stop()
  // The journal looks as after a crash: its last segment has no end.
  const db = new Database(path)
  db.exec('UPDATE segment SET ended = NULL')
  db.close()
  return took
}

function configOf(sandbox: Sandbox, folder: string, path: string): string {
  const secret = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return `file:${join(folder, name)}`
  }
  const file = join(folder, 'bots.yaml')
  writeFileSync(
    file,
    JSON.stringify({
      service: { baseUrl: sandbox.baseUrl, wsUrl: sandbox.wsUrl, apiKey: secret('key', sandbox.apiKeys.standard) },
      chain: { rpc: [{ url: secret('rpc', sandbox.rpcUrl), requestsPerSecond: 50 }] },
      wallet: { publicKey: sandbox.wallet },
      journal: { path },
      bots: [{ name: 'dips', strategy: 'dip-buyer', mode: 'live', exits: { stopLossPercent: 20 } }],
    }),
  )
  return file
}

/** Writes a journal with orders that were filled and reported, and with ten orders whose outcome is unknown. */
async function writeJournal(path: string, { baseUrl, genesisHash, wallet }: Sandbox, orders: number): Promise<void> {
  const fail = (error: Error): never => {
    throw error
  }
  const account = accountOf('live', new URL(baseUrl).host, genesisHash, wallet).id
  const journal = openJournal(path, { durable: false, onFailure: fail })
  journal.input(1, 1, {
    ...{ kind: 'start', segment: 1, config: 'c', code: 'c', seed: 1, bots: [], money: NO_MONEY },
    plan: {
      name: 'standard',
      requestsPerMinute: 100,
      connections: 5,
      messagesPerSecond: 50,
      maxBuyLamports: lamports(1e11),
    },
    ...{ units: { tradePrice: 'auto', tradeAmount: 'auto' }, warm: { from: 1, to: 0 } },
  })
  for (let number = 1; number <= orders; number++) writeOrder(journal, account, number, number > orders - 10)
  await journal.close()
}

function writeOrder(journal: OpenJournal, account: string, number: number, isLost: boolean): void {
  const seq = number * 3
  const time = 1_700_000_000_000 + seq
  const id = `o${number}`
  const mint = isLost ? encodeBase58(new Uint8Array(32).fill(number % 256)) : MINT
  const about = { account, bot: 'dips', mint, side: 'buy', class: 'entry' } as const
  const size = { kind: 'sol', lamports: lamports(5e7) } as const
  const order: Order = {
    ...{ id, seq, time, ...about, size, price: 1e-7, reason: 'fell 15 %', notAfter: time, repeatMs: null },
    ...{ slippagePercents: [5], priorityFeeLamports: null, priorityFeeLadder: [], reserveLamports: lamports(6e7) },
  }
  const signature = encodeBase58(Buffer.from(String(number).padStart(64, 'x')))
  const attempt: Attempt = {
    ...{ id: `${id}.1`, orderId: id, ...about, size, executor: 'cloud', slippagePercent: 5, priorityFeeLamports: null },
    ...{ price: 1e-7, armedAt: time, baseline: null, state: isLost ? 'unknown' : 'filled', signature, code: '' },
  }
  const fill: Fill = {
    ...{ signature, orderId: id, attemptId: attempt.id, account, bot: 'dips', mint, side: 'buy', slot: number, time },
    ...{
      tokens: 5n,
      decimals: 6,
      tradeLamports: lamports(5e7),
      feeLamports: lamports(5e3),
      rentLamports: lamports(0),
      costs: NO_COSTS,
    },
    ...{ walletLamports: lamports(-50_005_000), final: true },
  }
  const state = isLost ? 'working' : 'filled'
  journal.output(seq, time, 0, { kind: 'order', order })
  journal.write({ kind: 'attempt', attempt })
  const told = { orderId: id, attemptId: attempt.id, state, code: '', reason: '', ...(!isLost && { fill }) } as const
  journal.input(seq + 1, time, { kind: 'report', id: number, report: told })
  journal.output(seq + 1, time, 0, { kind: 'orderState', orderId: id, state, code: '', reason: '' })
}

if (isMain(import.meta.url)) printFigures(await benchRecovery())
