import { readFileSync, statSync } from 'node:fs'
import { examine } from '../chain/verifier/examine.ts'
import { NOTHING_FOUND } from '../chain/verifier/verify.ts'
import { rpcAddressProblem } from '../config/address.ts'
import { SECRET_REFERENCE, secretFrom } from '../config/secret.ts'
import type { AskedTrade } from '../core/asked-trade.ts'
import { BUILT_IN_POLICY, type BuilderPolicy } from '../core/builder-policy.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { decodeTransaction } from '../core/transaction-bytes.ts'
import { SystemClock } from '../runtime/system-clock.ts'
import { openHttp } from '../service/http.ts'
import { type BuiltReply, readBuiltReply } from '../service/wire/built-reply.ts'
import { readRequest } from '../service/wire/request-reader.ts'
import { budgetedRpcs } from '../wiring/access/rpc-access.ts'
import type { Options } from './options.ts'
import { policyOf } from './policy-option.ts'
import { type Examined, verdictJson, verdictText } from './verify-tx-show.ts'

const MOST_BYTES = 65_536
const CALLS_PER_SECOND = 8

/** `sluice verify-tx`: whether a transaction that somebody else built does what was ordered, and nothing else. Signs and sends nothing. */
export async function run(_args: string[], options: Options): Promise<number> {
  const { tx, order, json = false } = options
  if (tx === undefined || order === undefined) throw new SluiceError('verify-tx needs --tx and --order', ExitCode.usage)
  const asked = askedOf(order)
  const policy = options.policy === undefined ? BUILT_IN_POLICY : policyOf(options.policy)
  if (policy === undefined) return ExitCode.usage
  const reply = readBuiltReply(bytesOf(tx), (bytes) => {
    const decoded = decodeTransaction(bytes)
    return decoded.ok ? undefined : decoded
  })
  const examined = await examineReply(reply, asked, policy, options.rpc)
  if (json) console.log(JSON.stringify(verdictJson(examined)))
  else console.log(verdictText(examined))
  return examined.refusals.length === 0 ? ExitCode.done : ExitCode.unsafe
}

async function examineReply(
  reply: BuiltReply,
  asked: AskedTrade,
  policy: BuilderPolicy,
  rpc: string | undefined,
): Promise<Examined> {
  const lastValidBlockHeight = reply.ok ? reply.lastValidBlockHeight : undefined
  const known = { asked, policy: policy.name, lastValidBlockHeight }
  const decoded = reply.ok ? decodeTransaction(reply.bytes) : reply
  if (!decoded.ok) {
    const { code, reason } = decoded
    return { ...known, ...NOTHING_FOUND, simulated: undefined, refusals: [{ code, reason }] }
  }
  const { transaction } = decoded
  if (rpc === undefined) return { ...known, ...(await examine({ transaction, asked, policy })) }
  const url = rpcUrlOf(rpc)
  const { http, close } = openHttp()
  const clock = new SystemClock()
  const { any } = budgetedRpcs([{ url, requestsPerSecond: CALLS_PER_SECOND, sendsPerSecond: 1 }], http, clock)
  try {
    return {
      ...known,
      ...(await examine({ transaction, asked, policy, lastValidBlockHeight, chain: { rpc: any, clock } })),
    }
  } finally {
    clock.stop()
    await close()
  }
}

function askedOf(order: string): AskedTrade {
  const read = readRequest(order.trimStart().startsWith('{') ? order : readSmall(order, '--order').toString('utf8'))
  if (!read.ok) throw new SluiceError(`--order: ${read.problem}`, ExitCode.usage)
  return read.asked
}

/** What stands there is the answer of the builder itself, unless it is the name of a file that holds it. */
function bytesOf(tx: string): Uint8Array {
  const isFile = tx.length < 4_096 && statSync(tx, { throwIfNoEntry: false })?.isFile() === true
  return isFile ? readSmall(tx, '--tx') : Buffer.from(tx)
}

function readSmall(file: string, option: string): Buffer {
  const status = statSync(file, { throwIfNoEntry: false })
  if (!status?.isFile()) throw new SluiceError(`${option}: neither JSON nor a file`, ExitCode.usage)
  if (status.size > MOST_BYTES) throw new SluiceError(`${option}: the file is larger than 64 KiB`, ExitCode.usage)
  return readFileSync(file)
}

/** An address, or where it lies: providers put keys into theirs, and others can see the arguments of a process. */
function rpcUrlOf(rpc: string): string {
  if (SECRET_REFERENCE.test(rpc)) return secretFrom(rpc, process.cwd(), rpcAddressProblem).read()
  const problem = rpcAddressProblem(rpc)
  if (problem !== undefined) throw new SluiceError(`--rpc: ${problem}`, ExitCode.usage)
  return rpc
}
