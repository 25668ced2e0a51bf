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
import { type Lock, lockName } from '../journal/lock.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import { redactor } from '../runtime/log.ts'
import { venueOf } from '../venues/registry.ts'
import type { Venue } from '../venues/venue.ts'
import { secretAddresses } from './source-addresses.ts'

/** Endpoints and credentials of the service and the chain. */
export interface ServiceAccess {
  readonly venue: Venue
  readonly baseUrl: string
  readonly wsUrl: string
  /** Returns the key. It is read again for every connection and request, because the key may be replaced at runtime. */
  readonly apiKey: () => string
  readonly rpc: readonly { readonly url: string; readonly requestsPerSecond: number; readonly sendsPerSecond: number }[]
  /** Public key of the wallet; '' if none is configured. */
  readonly wallet: string
  /** Whether the service builds transactions for local signing. A sandbox without a Solana runtime cannot execute
   *  them. */
  readonly builds: boolean
  /** Builder policy and signer settings for bots whose transactions this process signs. */
  readonly signs: { readonly policy: BuilderPolicy | undefined; readonly wallet: Omit<WalletConfig, 'limits'> }
  /** Name of the service in the id of an account. A sandbox has a new port at every start but keeps this name. */
  readonly host: string
  /** Whether no other process can have used the key. */
  readonly fresh: boolean
  /** Returns the text without any secret; keys that were read later are also removed. */
  readonly redact: (text: string) => string
  /** Calls `run` when the service ends by itself. Only a sandbox that this process started can report that. */
  onExit(run: () => void): void
  close(): Promise<void>
}

const SANDBOX_RPC_PER_SECOND = 50
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
  const sandbox = await startSandboxChild(`${journal.path}.chain`, speed)
  const plan = typeof service.plan === 'string' && service.plan !== 'auto' ? service.plan : 'standard'
  const apiKey = sandbox.apiKeys[plan] ?? ''
  return {
    venue: venueOf(service),
    baseUrl: sandbox.baseUrl,
    wsUrl: sandbox.wsUrl,
    apiKey: () => apiKey,
    rpc: [{ url: sandbox.rpcUrl, requestsPerSecond: SANDBOX_RPC_PER_SECOND, sendsPerSecond: SANDBOX_RPC_PER_SECOND }],
    wallet: sandbox.wallet,
    builds: sandbox.chain === 'runtime',
    signs: { policy: policyOf(sandbox), wallet: { keypairPath: sandbox.keypair, caps: NO_CAPS } },
    host: SANDBOX_HOST,
    fresh: true,
    redact: redactor([...Object.values(sandbox.apiKeys), ...addresses]),
    onExit: sandbox.onExit,
    close: sandbox.close,
  }
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
    wallet: config.wallet.publicKey ?? '',
    builds: true,
    signs: { policy: service.builderPolicy, wallet: config.wallet },
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
  readonly genesisHash: string
  /** Kind of the chain. `small` has no Solana runtime, so that bots with `executor: local` cannot trade. */
  readonly chain: 'runtime' | 'small'
  /** Paths of the wallet's keypair and of the sandbox builder's policy. */
  readonly keypair: string
  readonly policy: string
}

export interface SandboxChild extends SandboxContact {
  /** Ends the sandbox and waits for its exit. */
  close(): Promise<void>
  /** Called when the sandbox ends by itself. */
  onExit(run: () => void): void
}

/** Starts `sluice sandbox` as a child that never outlives this process, because it ends when its stdin closes. Its
 *  chain is stored in `stateFile`. */
async function startSandboxChild(stateFile: string, speed: number): Promise<SandboxChild> {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, 'sandbox', '--child', '--state', stateFile, '--speed', String(speed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // The child gets its own process group, because Ctrl-C in a terminal ends the whole group of this process. The
    // sandbox must outlast the bots, which still report their positions.
    detached: true,
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

/** Exclusive use of an API key. */
export interface KeyUse {
  /** Whether this machine has never sent a request with the key. */
  readonly isFresh: boolean
  /** Records that a request is about to be sent. */
  began(): void
  release(): void
}

/** Locks the API key, because two processes would each use the whole plan. A key that is shared on purpose (`share`
 *  below 1) and a sandbox's key are not locked. Throws a SluiceError that names the holder of the lock. */
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

/** Locks the wallet, because only one process may trade with it. */
export function lockWallet(service: ServiceAccess): Lock {
  return lockName(stateFolder(), 'the wallet', service.wallet)
}

/** Folder for state of this user on this machine that belongs to no journal: locks and the signer's spending counts. */
export function stateFolder(): string {
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'sluice')
}
