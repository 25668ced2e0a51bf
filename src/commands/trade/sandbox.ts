import { existsSync } from 'node:fs'
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts'
import { PLAN_NAMES, type PlanName } from '../../sandbox/service/customers.ts'
import { venueOf } from '../../venues/registry.ts'
import { defineCommand, flag, number, RUNNING, SEED, text } from '../options.ts'

/** Name of a wallet, as in a configuration. */
const NAME = /^[A-Za-z0-9][\w.-]{0,39}$/

const NO_RUNTIME =
  'litesvm is not installed, so the sandbox has no Solana runtime: the sandbox neither builds nor accepts transactions, and bots with executor: local cannot trade on it'

/** Runs the sandbox until a signal. With --child it also ends when stdin closes, so that it never outlives its
 *  parent. */
export const command = defineCommand({
  options: {
    port: number('<n>', 'listen on this port of loopback', { integer: true, min: 0, max: 65535 }),
    dialect: number('<seed>', "vary the details that the service's document leaves open", SEED),
    market: text('<file>', 'play a recorded market (NDJSON) instead of a simulated one'),
    repeat: flag('play the recorded market in a loop'),
    speed: RUNNING.speed,
    seed: number('<n>', 'random seed of the simulated market', SEED),
    plan: text('<name>', 'print only the API key of this plan'),
    state: text('<file>', 'store the state in this file, and continue from it after a restart'),
    wallets: text('<names>', 'names of further wallets to create, separated by commas'),
    fund: number('<sol>', 'balance of each new wallet in SOL', { min: 0, max: 1000000 }),
    slotMs: number('<n>', 'duration of a Solana slot in milliseconds', { integer: true, min: 10, max: 60000 }),
    child: flag('exit when stdin closes'),
  },
  async run(_args, { child, plan: planName, market, state, fund, wallets, ...rest }) {
    const plan = PLAN_NAMES.find((name) => name === planName?.toLowerCase())
    if (planName !== undefined && plan === undefined) {
      console.error(`--plan ${planName}: expected one of ${PLAN_NAMES.join(', ')}`)
      return 2
    }
    if (market !== undefined && !existsSync(market)) {
      console.error(`--market ${market}: no such file`)
      return 2
    }
    const names = wallets?.split(',')
    if (names?.some((name) => !NAME.test(name))) {
      console.error(`--wallets ${wallets}: expected names that are separated by commas, such as main,second`)
      return 2
    }
    const given = { ...rest, marketFile: market, stateFile: state, fundSol: fund, wallets: names }
    let sandbox: Sandbox
    try {
      const { served } = venueOf({ kind: 'sandbox' })
      const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
      sandbox = await startSandbox(served, options)
    } catch (error) {
      console.error(`the sandbox cannot start: ${startProblem(error, rest.port, state)}`)
      return 1
    }
    // The signals are watched before the line on stdout is printed, because the reader of that line may stop the
    // sandbox immediately.
    const stopped = untilStopped(child)
    // With --child, this warning is not printed, because the process that started the sandbox reports itself that the
    // runtime is missing.
    if (sandbox.chain === 'small' && !child) console.error(NO_RUNTIME)
    process.stdout.write(`${JSON.stringify(contact(sandbox, plan))}\n`)
    await stopped
    await sandbox.close()
    return 0
  },
})

/** The addresses and API keys that a client needs. With `plan`, only the key of this plan. */
function contact(sandbox: Sandbox, plan: PlanName | undefined): object {
  const { baseUrl, wsUrl, rpcUrl, apiKeys, wallet, wallets, genesisHash, chain, keypair, policy } = sandbox
  const keys = plan ? { [plan]: apiKeys[plan] } : apiKeys
  const telegram = { api: sandbox.telegram.api, token: sandbox.telegram.token }
  return { baseUrl, wsUrl, rpcUrl, apiKeys: keys, wallet, wallets, genesisHash, chain, keypair, policy, telegram }
}

function startProblem(error: unknown, port: number | undefined, state: string | undefined): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `port ${port} is in use`
  if (code === 'SQLITE_BUSY') return `another sandbox uses ${state}`
  return message
}

function untilStopped(child: boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      // Closes stdin, because it would keep the process alive.
      if (child) process.stdin.destroy()
      resolve()
    }
    process.once('SIGINT', stop)
    process.once('SIGTERM', stop)
    if (child) process.stdin.once('end', stop).once('close', stop).resume()
  })
}
