import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { homedir } from 'node:os'
import { join } from 'node:path/posix'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { assert, ExitCode, SluiceError } from '../base/errors.ts'
import { loadPolicy } from '../config/builder-policy-file.ts'
import type { Config, RemoteService, WalletConfig } from '../config/config.ts'
import { SANDBOX_HOST } from '../engine/account.ts'
import { InUse, type Lock, lockName } from '../journal/lock.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import { redactor } from '../runtime/redactor.ts'
import { venueOf } from '../venues/registry.ts'
import type { Venue } from '../venues/venue.ts'
import { secretAddresses } from './source-addresses.ts'

/** Endpoints and credentials of the service and the chain. */
export interface ServiceAccess {
  readonly venue: Venue
  readonly baseUrl: string
  readonly wsUrl: string
  /** Returns the API key. It is read again for every connection and request, because the key may be replaced at
   *  runtime. */
  readonly apiKey: () => string
  readonly rpc: readonly { readonly url: string; readonly requestsPerSecond: number; readonly sendsPerSecond: number }[]
  /** The wallets, at least one. */
  readonly wallets: readonly WalletKeys[]
  /** Whether the service builds transactions for local signing. A sandbox without a Solana runtime cannot execute
   *  them. */
  readonly builds: boolean
  /** Policy of transactions that this process signs; undefined if there is none. */
  readonly policy: BuilderPolicy | undefined
  /** Name of the service in the id of an account. A sandbox has a new port at every start but keeps this name. */
  readonly host: string
  /** Whether no other process can have used the API key. */
  readonly fresh: boolean
  /** Returns the text without any secret; keys that were read later are also removed. */
  readonly redact: (text: string) => string
  /** Calls `run` when the service ends by itself. Only a sandbox that this process started can report that. */
  onExit(run: () => void): void
  close(): Promise<void>
}

/** A wallet with its public key ('' if none is configured), and the settings with which its signer is reached. */
export type WalletKeys = Omit<WalletConfig, 'limits' | 'publicKey'> & { readonly publicKey: string }

const SANDBOX_RPC_PER_SECOND = 50
/** Limits V8's memory for new objects in the sandbox's process, whose market and chain are small. Without the limit,
 *  this memory grows to 64 MB. */
const SANDBOX_FLAGS = ['--max-semi-space-size=1']
const NO_CAPS = { perTransaction: null, perHour: null, perDay: null }

/** Starts the sandbox, whose chain is stored next to the journal, or reads the secrets of a configured service. `live`:
 *  whether at least one bot may trade real money. */
export async function openService(config: Config, live: boolean, speed = 1): Promise<ServiceAccess> {
  const { service } = config
  return service.kind === 'sandbox' ? openSandbox(config, speed) : openRemote(config, service, live)
}

async function openSandbox(config: Config, speed: number): Promise<ServiceAccess> {
  const { journal, service } = config
  const addresses = secretAddresses(config)
  const named = config.wallets.filter(({ name }) => name !== '').map(({ name }) => name)
  const sandbox = await startSandboxChild(`${journal.path}.chain`, speed, named)
  const plan = typeof service.plan === 'string' && service.plan !== 'auto' ? service.plan : 'standard'
  const apiKey = sandbox.apiKeys[plan] ?? ''
  return {
    venue: venueOf(service),
    baseUrl: sandbox.baseUrl,
    wsUrl: sandbox.wsUrl,
    apiKey: () => apiKey,
    rpc: [{ url: sandbox.rpcUrl, requestsPerSecond: SANDBOX_RPC_PER_SECOND, sendsPerSecond: SANDBOX_RPC_PER_SECOND }],
    wallets: config.wallets.map(({ name }) => sandboxWallet(sandbox, name)),
    builds: sandbox.chain === 'runtime',
    policy: policyOf(sandbox),
    host: SANDBOX_HOST,
    fresh: true,
    redact: redactor([...Object.values(sandbox.apiKeys), ...addresses]),
    onExit: sandbox.onExit,
    close: sandbox.close,
  }
}

/** Returns the sandbox's wallet for a name. Each name has its own wallet; '' stands for the sandbox's first wallet. */
function sandboxWallet({ wallet, keypair, wallets }: SandboxChild, name: string): WalletKeys {
  const own = name === '' ? { publicKey: wallet, keypair } : wallets[name]
  assert(own !== undefined, `the sandbox has no wallet ${name}`)
  return { name, publicKey: own.publicKey, keypairPath: own.keypair, caps: NO_CAPS }
}

/** Loads the builder policy, which the sandbox has written. */
function policyOf({ policy }: SandboxChild): BuilderPolicy {
  const loaded = loadPolicy(policy)
  assert(loaded.ok, `invalid builder policy written by the sandbox: ${policy}`)
  return loaded.policy
}

async function openRemote(config: Config, service: RemoteService, live: boolean): Promise<ServiceAccess> {
  const { apiKey } = service
  if (apiKey === undefined) throw new SluiceError('service.apiKey is required: the feed needs it', ExitCode.usage)
  const secrets = new Set<string>()
  let redact = redactor([])
  const keep = (secret: string): string => {
    if (!secrets.has(secret)) redact = redactor([...secrets.add(secret)])
    return secret
  }
  const readKey = (): string => keep(apiKey.read())
  readKey()
  const rpc = config.chain.rpc.map(({ url, ...rates }) => ({ url: keep(url.read()), ...rates }))
  if (live && rpc.length === 0) throw new SluiceError('chain.rpc is required: a live bot needs it', ExitCode.usage)
  for (const address of secretAddresses(config)) keep(address)
  return {
    venue: venueOf(service),
    baseUrl: service.baseUrl,
    wsUrl: service.wsUrl,
    apiKey: readKey,
    rpc,
    wallets: config.wallets.map((wallet) => ({ ...wallet, publicKey: wallet.publicKey ?? '' })),
    builds: true,
    policy: service.builderPolicy,
    host: service.host,
    fresh: false,
    redact: (text) => redact(text),
    onExit: () => {},
    close: async () => {},
  }
}

/** Contents of the first line that a sandbox prints. */
export interface SandboxContact {
  readonly baseUrl: string
  readonly wsUrl: string
  readonly rpcUrl: string
  readonly apiKeys: Readonly<Record<string, string>>
  readonly wallet: string
  /** The requested wallets, by name. */
  readonly wallets: Readonly<Record<string, { readonly publicKey: string; readonly keypair: string }>>
  readonly genesisHash: string
  /** Kind of the chain. A `small` chain has no Solana runtime, so bots with `executor: local` cannot trade on it. */
  readonly chain: 'runtime' | 'small'
  /** Path of the wallet's keypair. `policy`: path of the policy for the transactions of the sandbox's builder. */
  readonly keypair: string
  readonly policy: string
}

export interface SandboxChild extends SandboxContact {
  /** Ends the sandbox and waits for its exit. */
  close(): Promise<void>
  /** Calls `run` when the sandbox ends by itself. */
  onExit(run: () => void): void
}

/** Starts `sluice sandbox` as a child that never outlives this process, because it ends when its stdin closes. Its
 *  chain is stored in `stateFile`. */
async function startSandboxChild(stateFile: string, speed: number, wallets: readonly string[]): Promise<SandboxChild> {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const named = wallets.length === 0 ? [] : ['--wallets', wallets.join(',')]
  const args = [...SANDBOX_FLAGS, main, 'sandbox', '--child', '--state', stateFile, '--speed', String(speed), ...named]
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    // The child gets its own process group, because Ctrl-C in a terminal ends the whole group of this process. The
    // sandbox must outlive the bots, which report their positions when they end.
    detached: true,
    // malloc gets only one memory arena, because several arenas would take 5 MB more.
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
  })
  let closing = false
  let exited: () => void = () => {}
  const gone = once(child, 'exit').then(() => {
    if (!closing) exited()
  })
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), gone.then(() => [])])) as [string?]
  if (line === undefined) throw new SluiceError('the sandbox did not start; its output is above')
  return {
    ...(JSON.parse(line) as SandboxContact),
    close: async () => {
      closing = true
      child.stdin.end()
      await gone
    },
    onExit: (run) => {
      exited = run
    },
  }
}

/** The lock that gives this process the exclusive use of an API key. */
export interface KeyUse {
  /** Whether this machine has never sent a request with the API key. */
  readonly isFresh: boolean
  /** Records that a request is about to be sent. */
  began(): void
  release(): void
}

/** Locks the API key, because two processes would each use the whole plan. Two kinds of keys are not locked: a key that
 *  is shared on purpose (`share` below 1), and the key of a sandbox. Throws a SluiceError that names the holder of the
 *  lock. */
export function lockKey(config: Config, service: ServiceAccess): KeyUse {
  const isAnybodys = config.service.kind === 'sandbox' || config.service.share < 1
  if (isAnybodys) return { isFresh: service.fresh, began: () => {}, release: () => {} }
  const lock = lockName(stateFolder(), 'the API key', service.apiKey())
  return {
    isFresh: lock.isUnused,
    began: () => lock.markUsed(),
    release: () => lock.release(),
  }
}

/** Locks a wallet, because only one process may trade with it. Throws a SluiceError that names the wallet and the
 *  holder of the lock. */
export function lockWallet({ name, publicKey }: Pick<WalletKeys, 'name' | 'publicKey'>): Lock {
  try {
    return lockName(stateFolder(), 'the wallet', publicKey)
  } catch (error) {
    throw error instanceof InUse && name !== '' ? new InUse(`the wallet ${name}`, error.holder) : error
  }
}

/** Folder for state of this user on this machine that belongs to no journal: locks and the signer's spending counts. */
export function stateFolder(): string {
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'sluice')
}
