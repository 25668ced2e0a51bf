import { existsSync } from 'node:fs'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/sandbox.ts'
import { PLAN_NAMES, type PlanName } from '../../sandbox/service/customers.ts'
import { venueOf } from '../../venues/registry.ts'
import type { Options } from '../options.ts'

const SMALL =
  'litesvm is not installed, so the sandbox has no Solana runtime: it builds and takes no transactions, and bots with executor: local cannot trade on it'

/**
 * Serves until a signal or, as a child, until its parent's end of stdin is gone, so that it never outlives the parent.
 */
export async function run(_args: string[], flags: Options): Promise<number> {
  const plan = PLAN_NAMES.find((name) => name === flags.plan?.toLowerCase())
  if (flags.plan !== undefined && plan === undefined) {
    console.error(`--plan is one of ${PLAN_NAMES.join(', ')}, not ${flags.plan}`)
    return 2
  }
  if (flags.market !== undefined && !existsSync(flags.market)) {
    console.error(`--market ${flags.market}: no such file`)
    return 2
  }
  let sandbox: Sandbox
  try {
    sandbox = await startSandbox(venueOf({ kind: 'sandbox' }).served, toOptions(flags))
  } catch (error) {
    console.error(`the sandbox cannot start: ${describe(error, flags)}`)
    return 1
  }
  // Listening for the end comes first: whoever reads the line may end it at once.
  const stopped = untilStopped(flags.child === true)
  // Bots that started it say themselves what that means for them.
  if (sandbox.chain === 'small' && flags.child !== true) console.error(SMALL)
  process.stdout.write(`${JSON.stringify(contact(sandbox, plan))}\n`)
  await stopped
  await sandbox.close()
  return 0
}

function toOptions({ port, dialect, speed, market, repeat, seed, state, fund, slotMs }: Options): SandboxOptions {
  const given = { port, dialect, speed, marketFile: market, repeat, seed, stateFile: state, fundSol: fund, slotMs }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** With a plan named, only that plan's key. */
function contact(sandbox: Sandbox, plan: PlanName | undefined): object {
  const { baseUrl, wsUrl, rpcUrl, apiKeys, wallet, genesisHash, chain, keypair, policy } = sandbox
  const keys = plan ? { [plan]: apiKeys[plan] } : apiKeys
  return { baseUrl, wsUrl, rpcUrl, apiKeys: keys, wallet, genesisHash, chain, keypair, policy }
}

function describe(error: unknown, { port, state }: Options): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `port ${port} is in use`
  if (code === 'SQLITE_BUSY') return `another sandbox runs on ${state}`
  return message
}

function untilStopped(child: boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      // An open stdin would keep the process alive after everything else has ended.
      if (child) process.stdin.destroy()
      resolve()
    }
    process.once('SIGINT', stop)
    process.once('SIGTERM', stop)
    if (child) process.stdin.once('end', stop).once('close', stop).resume()
  })
}
