import { constants, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Keypair, VersionedTransaction } from '@solana/web3.js'
import { readKeyFile, type WalletKey } from '../src/chain/signer/key-file.ts'
import type { SignRequest } from '../src/chain/signer/port.ts'
import type { Rules } from '../src/chain/signer/rules.ts'
import { decide } from '../src/chain/signer/serve.ts'
import { startSigner } from '../src/chain/signer/start.ts'
import { verifyTransaction } from '../src/chain/verifier/verify-transaction.ts'
import { BUILT_IN_POLICY } from '../src/orders/builder-policy.ts'
import { SystemClock } from '../src/runtime/system-clock.ts'
import { decodeTransaction } from '../src/solana/transaction.ts'
import { compile, type Draft, keypair } from '../test/chain/verifier/draft.ts'
import { draw, honest } from '../test/chain/verifier/honest.ts'
import { type Figure, isMain, pairs, printFigures, summarize } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const RUNS = 21
const EACH = 300
const UNCOUNTED = { take: () => undefined }

/** An order with its built transaction, and with the key of its wallet. */
interface Subject {
  readonly draft: Draft
  readonly bytes: Uint8Array
  readonly accounts: readonly string[]
  readonly pair: Keypair
}

/** Calls a function many times. Returns the median duration of a call, ms. */
function p50(once: () => unknown): number {
  const taken: number[] = []
  for (let count = 0; count < EACH; count++) {
    const began = performance.now()
    once()
    taken.push(performance.now() - began)
  }
  return summarize(taken).median
}

function subjectOf(): Subject {
  const draft = honest('pump buy', 7)
  const user = draw(7).user.toBase58()
  const names = Array.from({ length: 12 }, (_none, index) => keypair(`wallet ${index}`))
  const pair = names.find(({ publicKey }) => publicKey.toBase58() === user) as Keypair
  return { draft, ...compile(draft), pair }
}

/** Executes the steps between a builder's answer and sending: decode the transaction, compare it with the order and the
 *  policy, check it again with the signer's rules, and sign it. */
function checkAndSign({ draft, bytes, accounts }: Subject, key: WalletKey, rules: Rules): SignRequest {
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) throw new Error(decoded.reason)
  const verdict = verifyTransaction(decoded.transaction, accounts, draft.asked, draft.policy, draft.facts)
  const request = {
    ...{ orderId: 'order 1', attemptId: 'attempt 1', policyHash: '', guarded: false },
    ...{ message: decoded.transaction.messageBytes, boundLamports: verdict.bound as bigint },
  }
  const decision = decide(request, key, rules, UNCOUNTED)
  if (decision.kind === 'refused') throw new Error(decision.reason)
  return request
}

function bareSign({ bytes, pair }: Subject): void {
  const transaction = VersionedTransaction.deserialize(bytes)
  transaction.sign([pair])
  transaction.serialize()
}

export async function benchSigner(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const runs = smoke ? 1 : RUNS
    const subject = subjectOf()
    const keyPath = join(folder, 'id.json')
    writeFileSync(keyPath, JSON.stringify([...subject.pair.secretKey]), { mode: 0o600 })
    const key = readKeyFile(keyPath, undefined)
    const programs = new Set(BUILT_IN_POLICY.programs.map(({ id }) => id))
    const rules: Rules = { wallet: key.wallet, programs, policyHash: null }
    const request = checkAndSign(subject, key, rules)
    const whole = await pairs(
      runs,
      () => p50(() => checkAndSign(subject, key, rules)),
      () => p50(() => bareSign(subject)),
    )
    const alone = await pairs(
      runs,
      () => p50(() => decide(request, key, rules, UNCOUNTED)),
      () => p50(() => bareSign(subject)),
    )
    return [
      { name: 'web3.js: deserialise, sign, serialise, p50', unit: 'ms', ...whole.bare },
      { name: 'verify and sign, both static checks, p50', unit: 'ms', goal: 1, atMost: true, ...whole.ours },
      { name: 'verify and sign, both static checks, p50', unit: 'x web3.js', ...whole.ratio },
      { name: "the signer's own check and sign, p50", unit: 'x web3.js', ...alone.ratio },
      ...(await roundTrip(folder, keyPath, request, runs)),
    ]
  })
}

/** Measures a request for a signature to the signer's process, which also writes the spent amount to disk. Compares it
 *  with a bare write of the same size that is synced to disk. */
async function roundTrip(folder: string, keyPath: string, request: SignRequest, runs: number): Promise<Figure[]> {
  const clock = new SystemClock()
  const caps = { perTransaction: null, perHour: null, perDay: null }
  const launch = { keyPath, stateFile: join(folder, 'signer.caps'), caps }
  const signer = await startSigner(launch, { clock, tell: () => {} })
  const file = openSync(join(folder, 'bare'), constants.O_RDWR | constants.O_CREAT | constants.O_DSYNC)
  const bytes = Buffer.alloc(32)
  writeSync(file, Buffer.alloc(48_064), 0)
  const asked = async (): Promise<number> => {
    const taken: number[] = []
    for (let count = 0; count < EACH; count++) {
      const began = performance.now()
      const result = await signer.sign(request)
      if (!result.ok) throw new Error(result.reason)
      taken.push(performance.now() - began)
    }
    return summarize(taken).median
  }
  const found = await pairs(runs, asked, () => p50(() => writeSync(file, bytes, 0, bytes.length, 64)))
  await signer.close()
  clock.stop()
  return [
    { name: 'one synced write of 32 bytes, p50', unit: 'ms', ...found.bare },
    { name: "a signature by the signer's process, p50", unit: 'ms', ...found.ours },
    { name: "a signature by the signer's process, p50", unit: 'x synced write', ...found.ratio },
  ]
}

if (isMain(import.meta.url)) printFigures(await benchSigner())
