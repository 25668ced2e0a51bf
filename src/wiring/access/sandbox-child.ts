import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SluiceError } from '../../core/errors.ts'

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

/** Starts `sluice sandbox` as a child that never outlives this process: it ends when its stdin does. Its chain is kept in `stateFile`. */
export async function startSandboxChild(stateFile: string, speed: number): Promise<SandboxChild> {
  const main = fileURLToPath(new URL('../../main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, 'sandbox', '--child', '--state', stateFile, '--speed', String(speed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // A terminal's Ctrl-C goes to the whole group: the sandbox has to outlast the bots, which still tell what they hold.
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
