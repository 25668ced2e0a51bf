// The process that holds a wallet's key. It imports no package, only Node's own modules and files of Sluice that import
// no package either. File descriptor 3 is a connection to its parent. The parent is the engine that it signs for or,
// with --socket, the command that waits for the result of its start. The process ends when its parent does.
import { createServer, type Server, Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { ExitCode } from '../../base/errors.ts'
import { encodeAnswer } from './frames.ts'
import { readKeyFile, SignerFailure } from './key-file.ts'
import { type Decision, decide, serve } from './serve.ts'
import { Spending } from './spending-caps.ts'

/** Maximum number of engines that may be connected to one socket. */
const MOST_ENGINES = 8
/** Maximum number of log lines per minute about refusals and connections, because the clients of the socket cause these
 *  lines. */
const MOST_LINES = 20

const { values: given } = parseArgs({
  options: {
    key: { type: 'string' },
    state: { type: 'string' },
    wallet: { type: 'string' },
    socket: { type: 'string' },
    program: { type: 'string', multiple: true },
    policy: { type: 'string' },
    'per-transaction': { type: 'string' },
    'per-hour': { type: 'string' },
    'per-day': { type: 'string' },
  },
})

process.umask(0o077)
// The signer ignores these signals. A service manager sends the signal that halts the engine to every process of the
// service.
for (const signal of ['SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
// The signer continues if its log cannot be written.
process.stderr.on('error', () => {})
const parent = new Socket({ fd: 3, readable: true, writable: true })
try {
  start()
} catch (error) {
  const isKnown = error instanceof SignerFailure
  const reason = isKnown ? error.message : `the signer cannot start (${(error as NodeJS.ErrnoException).code})`
  const exitCode = isKnown ? error.exitCode : ExitCode.failed
  process.exitCode = exitCode
  parent.end(encodeAnswer({ kind: 'failed', exitCode, reason }))
}

function start(): void {
  const { key: keyPath = '', state = '', wallet, socket, program, policy } = given
  const key = readKeyFile(keyPath, wallet)
  const caps = {
    perTransaction: capOf(given['per-transaction']),
    perHour: capOf(given['per-hour']),
    perDay: capOf(given['per-day']),
  }
  const spending = new Spending(state, key.publicKey, caps, Date.now)
  const programs = program === undefined ? null : new Set(program)
  const rules = { wallet: key.wallet, programs, policyHash: policy ?? null }
  const conversation = {
    publicKey: key.publicKey,
    decide: (request: Parameters<typeof decide>[0]) => {
      const decision = decide(request, key, rules, spending)
      if (socket !== undefined) log(request, decision)
      return decision
    },
  }
  if (socket === undefined) {
    // The signer ignores these signals. Ctrl-C and a service stop signal the whole process group, and the signer must
    // outlive the engine, which may still need signatures for sales.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
    serve(parent, { ...conversation, over: (why) => end(why === '' ? 0 : 1, why) })
  } else listen(socket, conversation)
}

function listen(path: string, conversation: Omit<Parameters<typeof serve>[1], 'over'>): void {
  let engines = 0
  const server: Server = createServer((engine) => {
    if (engines === MOST_ENGINES) {
      logLimited(`a connection was refused: ${MOST_ENGINES} engines are connected`)
      engine.destroy()
      return
    }
    engines++
    const over = (why: string): void => {
      engines--
      if (why !== '') logLimited(`a connection was closed: ${why}`)
    }
    serve(engine, { ...conversation, over })
  })
  server.on('error', (error: NodeJS.ErrnoException) => {
    process.exitCode = ExitCode.failed
    const reason = `${path}: cannot listen on it (${error.code})`
    parent.end(encodeAnswer({ kind: 'failed', exitCode: ExitCode.failed, reason }))
  })
  // Only the owner and the group may connect. The umask ensures this from the creation of the socket on.
  process.umask(0o117)
  server.listen(path, () => {
    process.umask(0o077)
    parent.write(encodeAnswer({ kind: 'hello', publicKey: conversation.publicKey }))
  })
  const close = (): void => {
    server.close(() => end(0, ''))
    setTimeout(() => end(0, ''), 100)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, close)
  parent.on('error', close).once('close', close).resume()
}

function capOf(text: string | undefined): bigint | null {
  return text === undefined ? null : BigInt(text)
}

/** Logs signatures and refusals. An engine cannot change this log afterwards. */
function log({ orderId, attemptId, boundLamports }: Parameters<typeof decide>[0], decision: Decision): void {
  const what = `order ${JSON.stringify(orderId)} attempt ${JSON.stringify(attemptId)} bound ${boundLamports}`
  if (decision.kind === 'signed') process.stderr.write(`${new Date().toISOString()} signed ${what}\n`)
  else logLimited(`refused ${what}: ${decision.code} ${decision.reason}`)
}

let lines = 0
let minute = 0

/** Writes a log line, at most MOST_LINES per minute, because clients of the socket determine how often this is
 *  called. */
function logLimited(text: string): void {
  const now = Math.floor(Date.now() / 60_000)
  if (now !== minute) lines = 0
  minute = now
  if (++lines <= MOST_LINES) process.stderr.write(`${new Date().toISOString()} ${text}\n`)
  else if (lines === MOST_LINES + 1) process.stderr.write('further lines are suppressed until the next minute\n')
}

function end(code: number, why: string): void {
  if (why !== '') process.stderr.write(`the signer ends: ${why}\n`)
  process.exit(code)
}
