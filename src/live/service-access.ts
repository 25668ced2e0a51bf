import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { homedir } from 'node:os'
import { join } from 'node:path/posix'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { assert, ExitCode, SluiceError } from '../base/errors.ts'
import type { Config, RemoteService, WalletConfig } from '../config/config.ts'
import { loadPolicy } from '../config/policy.ts'
import { SANDBOX_HOST } from '../engine/account.ts'
import { type Lock, lockName } from '../journal/lock.ts'
import type { BuilderPolicy } from '../orders/builder-policy.ts'
import { redactor } from '../runtime/log.ts'
import { venueOf } from '../venues/registry.ts'
import type { Venue } from '../venues/venue.ts'

/** Where the service and the chain are, and as whom we come. */
export interface ServiceAccess {
  readonly venue: Venue
  readonly baseUrl: string
  readonly wsUrl: string
  /** Read again for every connection and request: a key may be replaced while we run. */
  readonly apiKey: () => string
  readonly rpc: readonly { readonly url: string; readonly requestsPerSecond: number; readonly sendsPerSecond: number }[]
  /** Public key; '' where none is configured. */
  readonly wallet: string
  /** It builds transactions for who signs here; a sandbox without a Solana runtime has nothing to run them. */
  readonly builds: boolean
  /** For bots that sign here: what may be signed, and with what. */
  readonly signs: { readonly policy: BuilderPolicy | undefined; readonly wallet: Omit<WalletConfig, 'limits'> }
  /** As in an account. A sandbox has another port at every start and is the same service all the same. */
  readonly host: string
  /** Nobody but us can have used the key. */
  readonly fresh: boolean
  /** Takes out of a text all that must never be shown, keys included that came later. */
  readonly redact: (text: string) => string
  /** The service ended by itself; only a sandbox of ours can tell. */
  onExit(run: () => void): void
  close(): Promise<void>
}

const SANDBOX_RPC_PER_SECOND = 50
const NO_CAPS = { perTransaction: null, perHour: null, perDay: null }

/** Starts the sandbox, its chain kept beside the journal, or reads the secrets of a configured service. `live`:
 *  somebody will trade. */
export async function openService(config: Config, live: boolean, speed = 1): Promise<ServiceAccess> {
  const { service } = config
  return service.kind === 'sandbox' ? openSandbox(config, speed) : openRemote(config, service, live)
}

async function openSandbox({ journal, service }: Config, speed: number): Promise<ServiceAccess> {
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
    redact: redactor(Object.values(sandbox.apiKeys)),
    onExit: sandbox.onExit,
    close: sandbox.close,
  }
}

/** A sandbox writes a policy of what it builds. */
function policyOf({ policy }: SandboxChild): BuilderPolicy {
  const loaded = loadPolicy(policy)
  assert(loaded.ok, `the sandbox wrote a policy that does not fit: ${policy}`)
  return loaded.policy
}

async function openRemote(config: Config, service: RemoteService, live: boolean): Promise<ServiceAccess> {
  const { apiKey } = service
  if (apiKey === undefined) throw new SluiceError('service.apiKey is missing: the feed needs it', ExitCode.usage)
  const secrets = new Set<string>()
  let redact = redactor([])
  const keep = (secret: string): string => {
    if (!secrets.has(secret)) redact = redactor([...secrets.add(secret)])
    return secret
  }
  const readKey = (): string => keep(apiKey.read())
  readKey()
  const rpc = config.chain.rpc.map(({ url, ...rates }) => ({ url: keep(url.read()), ...rates }))
  if (live && rpc.length === 0) throw new SluiceError('chain.rpc is missing: a live bot needs it', ExitCode.usage)
  if (config.alerts) keep(config.alerts.url.read())
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

/** What a sandbox says of itself in its first line. */
export interface SandboxContact {
  readonly baseUrl: string
  readonly wsUrl: string
  readonly rpcUrl: string
  readonly apiKeys: Readonly<Record<string, string>>
  readonly wallet: string
  readonly genesisHash: string
  /** `small`: without Solana's runtime, so that bots with `executor: local` cannot trade. */
  readonly chain: 'runtime' | 'small'
  /** Files: the wallet's keypair, and the builder-policy.yaml of what is built there. */
  readonly keypair: string
  readonly policy: string
}

export interface SandboxChild extends SandboxContact {
  /** Ends it and waits until it is gone. */
  close(): Promise<void>
  /** Called when it ends by itself. */
  onExit(run: () => void): void
}

/** Starts `sluice sandbox` as a child that never outlives this process: it ends when its stdin does. Its chain is kept
 *  in `stateFile`. */
async function startSandboxChild(stateFile: string, speed: number): Promise<SandboxChild> {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, 'sandbox', '--child', '--state', stateFile, '--speed', String(speed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // A terminal's Ctrl-C goes to the whole group: the sandbox has to outlast the bots, which still tell what they
    // hold.
    detached: true,
  })
  let closing = false
  let exited: () => void = () => {}
  const gone = once(child, 'exit').then(() => {
    if (!closing) exited()
  })
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), gone.then(() => [])])) as [string?]
  if (line === undefined) throw new SluiceError('the sandbox did not start; what it said stands above')
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

/** A hold on an API key. */
export interface KeyUse {
  /** No request was ever sent with it from this machine. */
  readonly isFresh: boolean
  /** A request is about to be sent. */
  began(): void
  release(): void
}

/** A key belongs to one process: two would each spend the whole plan. Not locked where it is shared on purpose, or a
 *  sandbox's. Throws a SluiceError that names the holder. */
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

/** One process trades with a wallet. */
export function lockWallet(service: ServiceAccess): Lock {
  return lockName(stateFolder(), 'the wallet', service.wallet)
}

/** Where things lie that belong to the machine's user and not to a journal: locks, what a signer has signed away. */
export function stateFolder(): string {
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'sluice')
}
