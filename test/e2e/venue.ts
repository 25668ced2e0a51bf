import { channel } from 'node:diagnostics_channel'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Outcome, replaySegments } from '../../src/backtest/replay/segments.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Finding } from '../../src/journal/proof/finding.ts'
import type { MemoryLimits } from '../../src/live/isolation/memory-guard.ts'
import { type RunningBots, startBots } from '../../src/live/start-bots.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts'
import { venueOf } from '../../src/venues/registry.ts'
import { type Books, BooksReader, type Chain, discrepancies, isSettled } from './books.ts'
import { kill, launch, type Sluice } from './process.ts'
import { until } from './until.ts'

const FUND_SOL = 20
/**
 * The speed of the market relative to real time. At this speed there are about 100 rows a second, several times as many
 * as from the real service. Each row costs time in all processes of a test, so a higher speed would only make the test
 * suite slower.
 */
const SPEED = 4
const SYSTEM_FOLDER = tmpdir()
/** This constant keeps the channel in use. Without a reference, Node would forget the channel and later create a second
 *  one, to which its server does not publish. */
const REQUESTS = channel('http.server.request.start')
/**
 * The sandbox, the bots and other tests share this process. Because of their load the bots would drop rows. The load is
 * therefore reported as 0.
 */
performance.eventLoopUtilization = () => ({ idle: 1, active: 0, utilization: 0 })
const STRATEGIES = {
  'round-trips': new URL('./strategies/round-trips.ts', import.meta.url),
  hostile: new URL('./strategies/hostile.ts', import.meta.url),
  hoarder: new URL('./strategies/hoarder.ts', import.meta.url),
  attentive: new URL('./strategies/attentive.ts', import.meta.url),
  puppet: new URL('./strategies/puppet.ts', import.meta.url),
  'standing-orders': new URL('./strategies/standing-orders.ts', import.meta.url),
}

export interface VenueOptions extends SandboxOptions {
  /** Sections of bots in the form of the YAML. `strategy` names a file in test/e2e/strategies. */
  bots: readonly BotSection[]
  config?: ConfigSections
  /** The memory limits of an engine that runs in a thread of its own. */
  isolation?: MemoryLimits
}

type BotSection = Readonly<{ name: string; strategy: keyof typeof STRATEGIES; [setting: string]: unknown }>
type ConfigSections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/**
 * A sandbox in this process, and a folder outside of the repository with everything that a run on the sandbox needs.
 */
export interface Venue {
  readonly sandbox: Sandbox
  readonly folder: string
  readonly configFile: string
  readonly journal: string
  /** The requests that reached the service, as `POST /api/trade/buy`. */
  readonly requests: string[]
  /** For each entry of `requests`: the time at which the request arrived, as `performance.now()` gives it. */
  readonly requestedAt: number[]
  /** Log lines of the bots. */
  readonly log: string[]
  /** Writes the configuration. These sections override the defaults, key by key. */
  configure(over: ConfigSections): void
  start(): Promise<RunningBots>
  /** Runs the bots in a separate process: `sluice run --live`. */
  run(env?: Readonly<Record<string, string>>, logTo?: number): Sluice
  books(): Books
  /** Waits until at least one order exists, every order has ended, and every fill is final. On a busy machine, bots
   *  may buy again and again, so a test halts the entries of bots that buy by themselves. */
  settled(): Promise<Books>
  /** Returns the chain together with the only wallet. */
  chain(): Chain
  /** Returns one object for each wallet of the bots: the chain together with this wallet. */
  chains(): Chain[]
  /** Writes the API key to its file. */
  giveKey(apiKey: string): void
  /** Returns the problems of a run after its end. */
  complaints(): Promise<string[]>
}

/** `atEnd`: vitest's onTestFinished. */
export async function openVenue(
  { bots, config = {}, isolation, ...options }: VenueOptions,
  atEnd: (close: () => Promise<void>) => void,
): Promise<Venue> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-e2e-'))
  process.env.XDG_STATE_HOME ??= stateFolder()
  const sandbox = await startSandbox(venueOf({ kind: 'sandbox' }).served, {
    fundSol: FUND_SOL,
    slotMs: 40,
    speed: SPEED,
    ...options,
  })
  const { requests, requestedAt, stopCounting } = countRequests(sandbox)
  const giveKey = (apiKey: string): void => writeFileSync(join(folder, 'key'), apiKey, { mode: 0o600 })
  giveKey(sandbox.apiKeys.standard)
  writeFileSync(join(folder, 'rpc'), sandbox.rpcUrl, { mode: 0o600 })
  const journal = join(folder, 'journal.db')
  const configFile = join(folder, 'bots.yaml')
  const configure = (over: ConfigSections): void => writeFileSync(configFile, JSON.stringify(merged(file, over)))
  const file = { ...defaultsFor(sandbox, folder, journal), bots: bots.map((bot) => liveBot(bot, folder)) }
  configure(config)

  const reader = new BooksReader(journal)
  const running = new Set<RunningBots>()
  const children: Sluice[] = []
  const log: string[] = []
  atEnd(async () => {
    reader.close()
    for (const one of children) await kill(one)
    for (const one of running) await one.stop()
    stopCounting()
    await sandbox.close()
    rmSync(folder, { recursive: true })
  })
  const start = async (): Promise<RunningBots> => {
    const loaded = await loadConfig([configFile])
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
    const bots = await startBots(loaded.config, {
      allow: 'live',
      ...(isolation && { isolate: true, memory: isolation }),
      logFormat: 'text',
      writeLog: (line) => void log.push(line),
    })
    running.add(bots)
    return {
      ...bots,
      stop: async () => {
        reader.close()
        if (running.delete(bots)) await bots.stop()
      },
    }
  }
  const run: Venue['run'] = (env = {}, logTo) => {
    reader.close()
    const child = launch(['run', configFile, '--live', '--yes', '--json'], env, undefined, logTo)
    child.child.once('exit', () => reader.close())
    children.push(child)
    return child
  }
  const books = (): Books => reader.read()
  const settled = (): Promise<Books> =>
    until('the end of every order', () => {
      const now = books()
      return now.orders.length > 0 && isSettled(now) && now
    })
  const named = Object.values(sandbox.wallets).map(({ publicKey }) => publicKey)
  const chains = (): Chain[] =>
    (named.length === 0 ? [sandbox.wallet] : named).map((wallet) => {
      return { ledger: sandbox.ledger, wallet, funds: FUND_SOL * 1e9 }
    })
  const chain = (): Chain => chains()[0] as Chain
  const complaints = async (): Promise<string[]> => [
    ...chains().flatMap((one) => discrepancies(books(), one)),
    ...(await replayComplaints(journal, books().segments.length)),
  ]
  return {
    sandbox,
    folder,
    configFile,
    journal,
    requests,
    requestedAt,
    log,
    configure,
    start,
    run,
    books,
    settled,
    chain,
    chains,
    giveKey,
    complaints,
  }
}

/** Returns the section of a live bot. Its strategy is in the folder, like the strategy of a user. */
function liveBot(bot: BotSection, folder: string): object {
  const strategy = join(folder, `${bot.strategy}.ts`)
  copyFileSync(STRATEGIES[bot.strategy], strategy)
  return { mode: 'live', ...bot, strategy }
}

function merged(file: Readonly<Record<string, unknown>>, over: ConfigSections): object {
  const sections = Object.entries(over).map(([name, section]) => [name, { ...(file[name] as object), ...section }])
  return { ...file, ...Object.fromEntries(sections) }
}

/** Returns the folder in which this test process and its children keep the locks of wallets and keys. */
function stateFolder(): string {
  const path = mkdtempSync(join(SYSTEM_FOLDER, 'sluice-e2e-state-'))
  process.once('exit', () => rmSync(path, { recursive: true }))
  return path
}

/** Returns a configuration whose limits stop no order, and whose timeouts are so long that a slow machine causes no
 *  retry. */
function defaultsFor({ baseUrl, wsUrl, wallet, wallets, policy }: Sandbox, folder: string, path: string): object {
  const named = Object.entries(wallets).map(([name, { publicKey, keypair }]) => {
    return [name, { publicKey, keypair: `file:${keypair}` }]
  })
  const isNamed = named.length > 0
  return {
    service: { baseUrl, wsUrl, apiKey: `file:${join(folder, 'key')}`, ...(isNamed && { builderPolicy: policy }) },
    chain: { rpc: [{ url: `file:${join(folder, 'rpc')}`, requestsPerSecond: 50, sendsPerSecond: 50 }] },
    ...(isNamed ? { wallets: Object.fromEntries(named) } : { wallet: { publicKey: wallet } }),
    journal: { path },
    defaults: {
      orders: { slippagePercent: 50, ttlSeconds: 600, maxEventAgeSeconds: 600, maxChasePercent: 1000 },
      exitOrders: { slippageLadder: [50, 90], retrySeconds: 600 },
      exits: { maxHoldSeconds: 3600 },
    },
  }
}

/** Counts the requests at the moment at which Node's own server receives them, before the sandbox reads them. */
function countRequests({ baseUrl }: Sandbox): Pick<Venue, 'requests' | 'requestedAt'> & { stopCounting: () => void } {
  const port = Number(new URL(baseUrl).port)
  const requests: string[] = []
  const requestedAt: number[] = []
  const seen = (message: unknown): void => {
    const { request, server } = message as { request: IncomingMessage; server: Server }
    const isOurs = (server.address() as AddressInfo | null)?.port === port
    if (!isOurs || request.url?.startsWith('/api/') !== true) return
    requests.push(`${request.method} ${request.url}`)
    requestedAt.push(performance.now())
  }
  REQUESTS.subscribe(seen)
  return { requests, requestedAt, stopCounting: () => void REQUESTS.unsubscribe(seen) }
}

/**
 * Returns the problems of a replay: segments that make other decisions or cannot be read, and rows of the journal that
 * the replay contradicts. The command `replay` does the same in a thread, which would load all modules again.
 */
export async function replayComplaints(journal: string, segments: number): Promise<string[]> {
  const outcomes: Outcome[] = []
  const findings: Finding[] = []
  await replaySegments(journal, {
    outcome: (outcome) => outcomes.push(outcome),
    finding: (finding) => findings.push(finding),
  })
  const unequal = outcomes.filter(({ skipped, divergence }) => skipped !== '' || divergence !== null)
  return [
    ...(outcomes.length === segments ? [] : [`${outcomes.length} of ${segments} segments are readable`]),
    ...[...unequal, ...findings].map((one) => `replay: ${JSON.stringify(one)}`),
  ]
}
