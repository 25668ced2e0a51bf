import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ERRORS } from '../../../src/base/errors.ts'
import { parse } from '../../../src/commands/parse.ts'
import { encodeBase58 } from '../../../src/solana/base58.ts'
import { compile } from '../../chain/verifier/draft.ts'
import { type Drawn, FEES, honest } from '../../chain/verifier/honest.ts'
import { spoiled } from '../../chain/verifier/hostile.ts'
import { ata } from '../../chain/verifier/parts.ts'
import {
  type NodeScript,
  nodeScript,
  plainAccount,
  scriptedNode,
  tokenAccount,
} from '../../chain/verifier/scripted-node.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
const policy = folder.write(
  'builder-policy.yaml',
  `feeAccounts: [{ address: ${FEES.toBase58()}, maxPercent: 1, maxSol: 0.04 }]\n`,
)
const draft = honest('pump buy', 4)
const { bytes } = compile(draft)
const base64 = Buffer.from(bytes).toString('base64')
const order = orderOf(draft.drawn)

let out = ''
let said = ''
beforeEach(() => {
  out = ''
  said = ''
  vi.spyOn(console, 'log').mockImplementation((line) => {
    out += `${line}\n`
  })
  vi.spyOn(console, 'error').mockImplementation((line) => {
    said += `${line}\n`
  })
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
})
afterEach(() => vi.restoreAllMocks())

function orderOf({ user, mint, amount, asked }: Drawn, more: object = {}): string {
  const terms = { publicKey: user.toBase58(), mint: mint.toBase58(), slippage: asked.slippagePercent }
  return JSON.stringify({ side: 'buy', ...terms, amount: Number(amount) / 1e9, ...more })
}

const verify = (...args: string[]) => parse(['verify-tx', ...args])

test('verify-tx accepts an honest transaction, and prints its maximum cost and its unknown parts', async () => {
  expect(await verify('--tx', base64, '--order', order, '--policy', policy)).toBe(0)
  expect(out).toMatch(/ACCEPTED.* buy \S+ for [\d.]+ SOL, slippage \d+ %/)
  expect(out).toMatch(/trade +pump buy, \d+ base units, for at most [\d.]+ SOL/)
  expect(out).toMatch(/SOL out +at most [\d.]+ \(trade [\d.]+, fee to \S+ [\d.]+, .*base fee 0\.000005, rent [\d.]+\)/)
  expect(out).toMatch(/unknown +the transaction was not simulated/)
})

test('verify-tx --json prints one line, and --tx accepts a file, a JSON answer and base58', async () => {
  const answer = JSON.stringify({ transaction: encodeBase58(bytes), lastValidBlockHeight: 123 })
  expect(
    await verify(
      '--tx',
      folder.write('reply.json', answer),
      '--order',
      folder.write('order.json', order),
      '--policy',
      policy,
      '--json',
    ),
  ).toBe(0)
  expect(out.trim().split('\n')).toHaveLength(1)
  const { most, tokens, mint } = draft.drawn
  expect(JSON.parse(out)).toMatchObject({
    ...{ ok: true, refusals: [], policy, lastValidBlockHeight: 123, simulated: null, boundSol: expect.any(Number) },
    trade: {
      name: 'pump buy',
      side: 'buy',
      mint: mint.toBase58(),
      exact: 'out',
      sol: Number(most) / 1e9,
      tokens: String(tokens),
    },
  })
})

test('verify-tx exits with 4 and explains the code of a refused transaction, and without a policy it refuses every fee', async () => {
  expect(await verify('--tx', base64, '--order', order)).toBe(4)
  expect(out).toMatch(/REFUSED/)
  expect(out).toMatch(/SOL out +no upper bound/)
  expect(out).toContain(`SOL_TRANSFER: ${ERRORS.SOL_TRANSFER}`)
  const drain = Buffer.from(
    compile(spoiled('an Approve instruction that makes a thief the delegate of the tokens', 0)).bytes,
  ).toString('base64')
  out = ''
  expect(
    await verify(
      '--tx',
      drain,
      '--order',
      orderOf(spoiled('an Approve instruction that makes a thief the delegate of the tokens', 0).drawn),
      '--json',
    ),
  ).toBe(4)
  expect(JSON.parse(out).refusals.map(({ code }: { code: string }) => code)).toContain('AUTHORITY_CHANGE')
})

test('verify-tx exits with 4 for text that is not a transaction, and for a transaction of version 1', async () => {
  expect(await verify('--tx', 'not a transaction', '--order', order)).toBe(4)
  expect(out).toContain('REPLY_UNREADABLE')
  const newer = Buffer.from([129, ...bytes.subarray(1)]).toString('base64')
  expect(await verify('--tx', newer, '--order', order)).toBe(4)
  expect(out).toContain('TX_VERSION')
})

describe('verify-tx with wrong arguments', () => {
  test.each<[string, string[]]>([
    ['no order', ['--tx', base64]],
    ['no transaction', ['--order', order]],
    ['an order without a valid side', ['--tx', base64, '--order', '{"side":"hold"}']],
    ['an order file that does not exist', ['--tx', base64, '--order', 'nowhere.json']],
    ['an RPC address without encryption', ['--tx', base64, '--order', order, '--rpc', 'http://example.com']],
    [
      'an RPC address whose variable is not set',
      ['--tx', base64, '--order', order, '--rpc', 'env:SLUICE_TEST_NO_SUCH'],
    ],
    [
      'a policy file with an error',
      ['--tx', base64, '--order', order, '--policy', folder.write('wrong.yaml', 'tip: 1\n')],
    ],
  ])('verify-tx exits with 2 for %s', async (_what, args) => {
    expect(await verify(...args)).toBe(2)
    expect(out).toBe('')
  })

  test('verify-tx reports an error in the policy file with line and column', async () => {
    const file = folder.write('typo.yaml', 'programs: [pump]\ncoSigner: []\n')
    await verify('--tx', base64, '--order', order, '--policy', file)
    expect(said).toContain(`${file}:2:1`)
    expect(said).toContain('did you mean coSigners?')
  })
})

describe('with an RPC', () => {
  let server: Server
  let script: NodeScript
  beforeEach(async () => {
    script = nodeScript()
    const { user, mint, amount, tokens } = draft.drawn
    script.before.set(user.toBase58(), plainAccount(10_000_000_000n))
    script.after.set(user.toBase58(), plainAccount(10_000_000_000n - amount - 2_500_000n))
    script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens }))
    const node = scriptedNode(script)
    server = createServer(async (request, response) => {
      const { id, method, params } = (await json(request)) as { id: number; method: string; params: unknown[] }
      const answer = await node(method, params)
      const { ok: _, ...error } = answer
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(answer.ok ? { result: answer.value } : { error }) }))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterEach(() => server.close())
  const rpc = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  test('verify-tx --rpc prints the simulated changes of the balances', async () => {
    expect(await verify('--tx', base64, '--order', order, '--policy', policy, '--rpc', rpc())).toBe(0)
    const { amount, tokens } = draft.drawn
    expect(out).toContain(`-${Number(amount + 2_500_000n) / 1e9} SOL, ${tokens} base units`)
    expect(out).not.toContain('not simulated')
  })

  test('verify-tx --rpc exits with 4 if the simulation shows a loss or the RPC does not answer', async () => {
    script.after.set(draft.payer.toBase58(), plainAccount(0n))
    expect(await verify('--tx', base64, '--order', order, '--policy', policy, '--rpc', rpc())).toBe(4)
    expect(out).toContain('SIMULATION_LOSS')
    script.refuses.push('simulateTransaction')
    expect(await verify('--tx', base64, '--order', order, '--policy', policy, '--rpc', rpc())).toBe(4)
    expect(out).toContain('CHAIN_SILENT')
  })
})
