import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../src/base/machine.ts'
import { lamports } from '../src/base/units.ts'
import { LocalExecutor } from '../src/chain/local-executor.ts'
import type { Rpc } from '../src/chain/rpc/rpc.ts'
import { Sender } from '../src/chain/sender.ts'
import type { RunningSigner } from '../src/chain/signer/running.ts'
import { startSigner } from '../src/chain/signer/start.ts'
import { readRent } from '../src/chain/verifier/chain-facts.ts'
import { examine } from '../src/chain/verifier/checks-before-signing.ts'
import { startJournalThread } from '../src/journal/writer/journal-thread.ts'
import type { Attempt } from '../src/orders/attempt.ts'
import { Gateway } from '../src/orders/gateway.ts'
import { Limiter } from '../src/orders/plan-limiter.ts'
import type { Outcome } from '../src/orders/ports.ts'
import { monotonicMs, SystemClock } from '../src/runtime/system-clock.ts'
import { compile, type Draft, keypair } from '../test/chain/verifier/draft.ts'
import { type Drawn, honest } from '../test/chain/verifier/honest.ts'
import { ata } from '../test/chain/verifier/parts.ts'
import {
  mintAccount,
  nodeScript,
  plainAccount,
  scriptedNode,
  tokenAccount,
} from '../test/chain/verifier/scripted-node.ts'
import { aBuy } from '../test/support/gateway-world.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const RUNS = 7
const ORDERS = 120
const SOL = 1_000_000_000n
const WALLET = keypair('wallet 0')

type Case = Draft & { drawn: Drawn }

/** Different purchase transactions of one wallet. */
function purchases(count: number): Case[] {
  const found: Case[] = []
  for (let seed = 0; found.length < count; seed++) {
    const draft = honest('pump buy', seed)
    if (draft.payer.equals(WALLET.publicKey)) found.push(draft)
  }
  return found
}

/** An RPC node whose simulation returns the expected result immediately, so that only the time of Sluice is
 *  measured. */
function nodeFor({ drawn: { user, mint, amount, tokens } }: Case): Rpc {
  const script = nodeScript()
  script.before.set(user.toBase58(), plainAccount(1_000n * SOL))
  script.before.set(mint.toBase58(), mintAccount())
  script.after.set(user.toBase58(), plainAccount(1_000n * SOL - amount - 2_500_000n))
  script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens }))
  return scriptedNode(script)
}

/** Measures, in microseconds, how long the local executor takes from the order at the gateway until the signed bytes
 *  reach `sendTransaction`: first commit, build, checks, simulation, signature, second commit. */
async function ordersSent(signer: RunningSigner, drafts: readonly Case[], folder: string): Promise<number[]> {
  const clock = new SystemClock()
  const journal = await startJournalThread(join(folder, `${Math.random()}.db`), {
    onFailure: (error) => {
      throw error
    },
  })
  let sent: () => void = () => {}
  let draft = drafts[0] as Case
  let bytes = compile(draft).bytes
  let node = nodeFor(draft)
  const rpc: Rpc = async (method, params) => {
    if (method !== 'sendTransaction') return node(method, params)
    sent()
    return { ok: true, value: '' }
  }
  const write = (slot: Parameters<typeof journal.write>[0] & { kind: 'slot' }) => journal.write(slot)
  const limiter = new Limiter({
    ...{ key: 'k', clock, monotonicMs, boot: 'b', requestsPerMinute: 100_000, past: 'fresh' },
    write: (slot) => write({ kind: 'slot', slot }),
  })
  const executor = new LocalExecutor({
    ...{
      rpcs: [rpc],
      clock,
      signer,
      examine,
      policyHash: '',
      rent: keptRent(),
      sender: new Sender({ providers: [rpc], clock: NO_RESENDS, alarm: () => {} }),
    },
    policy: draft.policy,
    build: async () => ({
      kind: 'built',
      asked: draft.asked,
      bytes,
      lastValidBlockHeight: undefined,
    }),
    resolve: { begin, resume: () => {}, signedBytes: () => undefined, isKnown: () => false },
    room: () => ({ boundLamports: 10n * SOL, reservedLamports: 0n, headroomLamports: 0n }),
    refusalOf: () => undefined,
    commit: (then) => journal.commit(then),
    keep: (why) => {
      throw new Error(why)
    },
  })
  const gateway = new Gateway({
    ...{ clock, monotonicMs, journal, nextReport: 1, post: () => {} },
    route: () => ({ kind: 'local', executor, limiter }),
  })
  const times: number[] = []
  for (const next of drafts) {
    draft = next
    bytes = compile(next).bytes
    node = nodeFor(next)
    const arrived = new Promise<void>((resolve) => {
      sent = resolve
    })
    const began = performance.now()
    gateway.submit(aBuy({ time: clock.now(), reserveLamports: lamports(1e9) }))
    await arrived
    times.push((performance.now() - began) * 1000)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  clock.stop()
  await journal.close()
  return times
}

function keptRent(): (rpc: Rpc) => Promise<bigint> {
  let rent: Promise<bigint> | undefined
  return (rpc) => {
    rent ??= readRent(rpc)
    return rent
  }
}

/** A clock whose timers never fire, so that the bytes are sent only once. */
const NO_RESENDS: Clock = { now: () => 0, after: () => () => {} }

function begin(_attempt: Attempt, done: (outcome: Outcome) => void) {
  let signature = ''
  return {
    signed: (of: string) => {
      signature = of
      done({ kind: 'signed', signature })
    },
    sent: () => done({ kind: 'sent', signature }),
    ...{ acked: () => {}, doubt: () => {}, hungUp: () => {}, refused: () => {}, unsent: () => {} },
  }
}

export async function benchLocal(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const keyPath = join(folder, 'id.json')
    writeFileSync(keyPath, JSON.stringify([...WALLET.secretKey]), { mode: 0o600 })
    chmodSync(keyPath, 0o600)
    const clock = new SystemClock()
    const caps = { perTransaction: null, perHour: null, perDay: null }
    const wallet = WALLET.publicKey.toBase58()
    const launch = { keyPath, stateFile: join(folder, 'caps'), caps, wallet }
    const signer = await startSigner(launch, { clock, tell: () => {} })
    try {
      const drafts = purchases(smoke ? 20 : ORDERS)
      const runs: number[] = []
      for (let run = 0; run < (smoke ? 1 : RUNS); run++)
        runs.push(summarize((await ordersSent(signer, drafts, folder)).slice(10)).median)
      return [
        {
          ...{ name: 'order to first sendTransaction, p50', unit: 'us, without node and builder', goal: 5_000 },
          ...{ atMost: true, ...summarize(runs) },
        },
      ]
    } finally {
      await signer.close()
      clock.stop()
    }
  })
}

if (isMain(import.meta.url)) printFigures(await benchLocal())
