import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { called } from '../e2e/called.ts'
import { type Answered, get, Listener, post, rpc } from './client.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-sandbox-'))
afterAll(() => rmSync(folder, { recursive: true }))

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

interface Started extends Sandbox {
  child: ChildProcess
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

function launch(args: string[]): ChildProcess {
  const child = spawn(process.execPath, [main, 'sandbox', '--child', ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  children.push(child)
  return child
}

async function start(...args: string[]): Promise<Started> {
  const child = launch(args)
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string]
  return { ...(JSON.parse(line) as Sandbox), child }
}

async function kill(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<number | null> {
  const ended = once(child, 'exit')
  child.kill(signal)
  return (await ended)[0] as number | null
}

/** Repeats a request until it succeeds, because the child process runs in real time and may not be ready. */
async function eventually<T>(ask: () => Promise<T | null | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test("the sandbox's JSON line has everything that a client needs, and the service trades at once", async () => {
  const sandbox = await start('--slot-ms', '20')
  expect(Object.keys(sandbox)).toEqual([
    'baseUrl',
    'wsUrl',
    'rpcUrl',
    'apiKeys',
    'wallet',
    'wallets',
    'genesisHash',
    'chain',
    'keypair',
    'policy',
    'telegram',
    'child',
  ])
  expect((await rpc(sandbox, 'getBalance', sandbox.wallet)).value).toBe(10_000_000_000)
  const listener = await Listener.on(sandbox, ['trades'])
  const { mint } = await listener.next('trade')
  const { signature } = (
    await post(sandbox, '/trade/buy', { publicKey: sandbox.wallet, mint, amount: 0.05, slippage: 50 })
  ).body
  await listener.until(() => listener.of('trade').some((trade) => trade.signature === signature))
  listener.close()
})

test('the flags --plan, --fund and --dialect of `sandbox` take effect', async () => {
  const sandbox = await start('--plan', 'Premium', '--fund', '2.5', '--dialect', '3', '--slot-ms', '20')
  expect(Object.keys(sandbox.apiKeys)).toEqual(['premium'])
  expect((await rpc(sandbox, 'getBalance', sandbox.wallet)).value).toBe(2_500_000_000)
  expect((await get(sandbox, '/portfolio/x', sandbox.apiKeys.premium)).status).toBe(400)
})

test('the sandbox has the same chain, wallet, tokens, keys and pending transactions after kill -9 and a restart', async () => {
  // The process must restart within 151 blocks, while the blockhash of the pending transaction is valid.
  const flags = ['--state', join(folder, 'new', 'killed.db'), '--slot-ms', '400']
  const first = await start(...flags)
  const listener = await Listener.on(first, ['trades'])
  const { mint } = await listener.next('trade')
  const order = { publicKey: first.wallet, mint, amount: 0.05, slippage: 50 }
  const landed = (await post(first, '/trade/buy', order)).body.signature as string
  const show = (sandbox: Sandbox, signature: string): Promise<Answered> => {
    return rpc(sandbox, 'getTransaction', signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 })
  }
  const record = await eventually(() => show(first, landed))
  const height = await rpc(first, 'getBlockHeight', { commitment: 'processed' })
  // The answer has been sent. Whether the transaction landed before the kill is random.
  const sent = (await post(first, '/trade/buy', order)).body.signature as string
  expect(await kill(first.child, 'SIGKILL')).toBeNull()

  const second = await start(...flags, '--seed', '5')
  expect([second.genesisHash, second.wallet, second.apiKeys]).toEqual([first.genesisHash, first.wallet, first.apiKeys])
  expect(await rpc(second, 'getBlockHeight', { commitment: 'processed' })).toBeGreaterThanOrEqual(height)
  expect(await show(second, landed)).toEqual(record)
  expect((await eventually(() => show(second, sent))).transaction.signatures).toEqual([sent])
  const rows = await rpc(second, 'getSignaturesForAddress', second.wallet, { commitment: 'confirmed' })
  expect(rows.map(({ signature }: Answered) => signature).sort()).toEqual([landed, sent].sort())
  const sale = (
    await post(second, '/trade/sell', { publicKey: second.wallet, mint, amount: '100%', sellAll: true, slippage: 90 })
  ).body.signature as string
  expect((await eventually(() => show(second, sale))).meta.err).toBeNull()
  expect(await kill(second.child, 'SIGTERM')).toBe(0)
})

test('a new sandbox has new keys and a new genesis hash, and ends with 0 after SIGINT and at the end of stdin', async () => {
  const [one, two] = await Promise.all([start(), start()])
  expect(one.genesisHash).not.toBe(two.genesisHash)
  expect(one.wallet).not.toBe(two.wallet)
  expect(one.apiKeys.standard).not.toBe(two.apiKeys.standard)
  expect(await kill(one.child, 'SIGINT')).toBe(0)
  const ended = once(two.child, 'exit')
  two.child.stdin!.end()
  expect((await ended)[0]).toBe(0)
})

test.each<[args: string[], code: number, said: RegExp]>([
  [['--plan', 'gold'], 2, /standard, premium, enterprise/],
  [['--market', '/nowhere.ndjson'], 2, /no such file/],
  [['--speed', 'fast'], 2, /number/],
])('`sandbox` reports the wrong arguments %j', async (args, code, said) => {
  const ended = await called(['sandbox', '--child', ...args])
  expect(ended.code).toBe(code)
  expect(ended.stderr).toMatch(said)
})

test('`sandbox` reports a port or a state file that is in use', async () => {
  const state = join(folder, 'taken.db')
  const { baseUrl } = await start('--state', state)
  for (const args of [
    ['--state', state],
    ['--port', new URL(baseUrl).port],
  ]) {
    const child = launch(args)
    let text = ''
    child.stderr!.on('data', (chunk) => (text += chunk))
    expect((await once(child, 'close'))[0]).toBe(1)
    expect(text).toMatch(/another sandbox uses|is in use/)
  }
})
