import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../../src/base/random.ts'
import type { Fault } from '../../src/sandbox/faults.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { venueOf } from '../../src/venues/registry.ts'
import { kill, launch, sluice } from './process.ts'

/** The settings of a live session on a sandbox. */
export interface Session {
  readonly bots: 'four' | 'hundred'
  /** Market speed. */
  readonly speed: number
  readonly faults: boolean
}

/** The ten sessions that are measured. */
export const SESSIONS: readonly Session[] = [
  { bots: 'four', speed: 1, faults: false },
  { bots: 'four', speed: 1, faults: false },
  { bots: 'four', speed: 5, faults: false },
  { bots: 'four', speed: 5, faults: false },
  { bots: 'four', speed: 5, faults: false },
  { bots: 'hundred', speed: 1, faults: false },
  { bots: 'hundred', speed: 5, faults: false },
  { bots: 'four', speed: 1, faults: true },
  { bots: 'four', speed: 5, faults: true },
  { bots: 'hundred', speed: 5, faults: true },
]

export interface Difference {
  readonly gapSol: number
  readonly factors: { name: string; sol: number }[]
  readonly residualSol: number
}

interface Attributed extends Difference {
  readonly liveSol: number
  readonly backtestSol: number
  readonly bots: (Difference & { bot: string; mode: string; apart: object | null })[]
  readonly starts: number
  readonly attempts: number
  readonly matched: number
  readonly notes: string[]
}

const FUND_SOL = 50
/**
 * Faults begin after the first buy. If that buy never landed, it would block all other buys for longer than a session.
 */
const FAULTS_FROM_MS = 20_000
const FAULT_EVERY_MS = 3_000
const FAULTS: readonly Fault[] = [
  { kind: 'dropBefore' },
  { kind: 'dropAfter' },
  { kind: 'delay', ms: 1_500 },
  { kind: 'rateLimit', count: 2 },
  { kind: 'serverError', status: 502, executed: true },
  { kind: 'reverted' },
  { kind: 'notLanded' },
  { kind: 'fork', slots: 5 },
  { kind: 'rpcError', count: 3 },
  { kind: 'disconnect' },
]

/** Runs a session in real processes: a run with `--live`, the backtest of its tape, and `attribute`. The folder
 *  `keepIn` keeps the journal and the backtest. */
export async function attributedSession(
  session: Session,
  seed: number,
  seconds: number,
  keepIn?: string,
): Promise<Attributed> {
  const folder = keepIn ?? mkdtempSync(join(tmpdir(), 'sluice-attributed-'))
  mkdirSync(folder, { recursive: true })
  const sandbox = await startSandbox(venueOf({ kind: 'sandbox' }).served, {
    ...{ seed, speed: session.speed, fundSol: FUND_SOL },
  })
  try {
    const journal = join(folder, 'journal.db')
    const file = join(folder, 'bots.yaml')
    writeFileSync(join(folder, 'key'), sandbox.apiKeys.premium, { mode: 0o600 })
    writeFileSync(join(folder, 'rpc'), sandbox.rpcUrl, { mode: 0o600 })
    writeFileSync(file, JSON.stringify(configOf(session, sandbox, folder, journal)))
    await live(file, session, sandbox, seed, seconds)
    return await attributed(file, journal, join(folder, 'results'))
  } finally {
    await sandbox.close()
    if (keepIn === undefined) rmSync(folder, { recursive: true })
  }
}

async function live(file: string, { faults }: Session, sandbox: Sandbox, seed: number, seconds: number): Promise<void> {
  const state = { XDG_STATE_HOME: join(file, '..', 'state') }
  const run = launch(['run', file, '--live', '--yes', '--json', '--seconds', String(seconds)], state)
  const random = seededRandom(seed)
  const from = Date.now() + FAULTS_FROM_MS
  const strike = (): void => {
    if (Date.now() >= from) sandbox.faults.set(FAULTS[random.integer(FAULTS.length)] as Fault)
  }
  const timer = faults ? setInterval(strike, FAULT_EVERY_MS) : undefined
  try {
    const code = await run.ended
    if (code !== 0) throw new Error(`the run ended with ${code}: ${run.stderr.slice(-2_000)}`)
  } finally {
    clearInterval(timer)
    if (run.child.exitCode === null) await kill(run)
  }
}

async function attributed(file: string, journal: string, results: string): Promise<Attributed> {
  const made = await sluice(['backtest', file, '--journal', journal, '--out', results, '--partial'])
  if (made.code !== 0) throw new Error(`the backtest ended with ${made.code}: ${made.stderr}`)
  const { code, stdout, stderr } = await sluice(['attribute', journal, results, '--json'])
  if (code !== 0) throw new Error(`attribute ended with ${code}: ${stderr}`)
  return JSON.parse(stdout) as Attributed
}

function configOf({ bots }: Session, sandbox: Sandbox, folder: string, journal: string): object {
  const { baseUrl, wsUrl, wallet, policy, keypair } = sandbox
  return {
    service: { baseUrl, wsUrl, apiKey: `file:${join(folder, 'key')}`, builderPolicy: policy, lateSeconds: 2 },
    chain: { rpc: [{ url: `file:${join(folder, 'rpc')}`, requestsPerSecond: 50, sendsPerSecond: 50 }] },
    wallet: { publicKey: wallet, keypair: `file:${keypair}` },
    journal: { path: journal },
    ...(bots === 'four' ? FOUR_BOTS : HUNDRED_PLACES),
  }
}

const EXIT_ORDERS = { slippageLadder: [5, 15, 30, 50], retrySeconds: 3 }
const ORDERS = { slippagePercent: 15, ttlSeconds: 2, maxEventAgeSeconds: 3, maxChasePercent: 5 }
const EXITS = { stopLossPercent: 20, takeProfitPercent: 50, trailingPercent: 25, maxHoldSeconds: 15 }
const DIPS = { strategy: 'dip-buyer', params: { dropPercent: 10, sizeSol: 0.1 }, mode: 'live' }

/** The configuration of `npm start`, with shorter holding times. */
const FOUR_BOTS = {
  defaults: { orders: ORDERS, exitOrders: EXIT_ORDERS, exits: EXITS, limits: { maxOpenPositions: 5 } },
  bots: [
    { ...DIPS, name: 'dips', limits: { maxOpenPositions: 3 } },
    {
      ...{ name: 'launches', strategy: 'launch-sniper', params: { sizeSol: 0.1 }, mode: 'live' },
      exits: { stopLossPercent: 25, takeProfitPercent: 60, maxHoldSeconds: 20 },
    },
    { ...DIPS, name: 'dips-signed', executor: 'local' },
    { name: 'trend', strategy: 'momentum', params: { sizeSol: 0.1 }, mode: 'paper', exits: 'strategy' },
  ],
}

const HUNDRED_PLACES = {
  defaults: {
    ...{ orders: ORDERS, exitOrders: EXIT_ORDERS, exits: { ...EXITS, maxHoldSeconds: 30 } },
    limits: { maxOpenPositions: 100 },
  },
  bots: [{ ...DIPS, name: 'hundred', params: { dropPercent: 5, sizeSol: 0.1 } }],
}

/** Returns whether the unexplained part is above 1 % of the difference and above 0.0001 SOL. */
export function isUnexplained({ gapSol, residualSol }: Difference): boolean {
  return Math.abs(residualSol) > Math.max(0.0001, Math.abs(gapSol) / 100)
}
