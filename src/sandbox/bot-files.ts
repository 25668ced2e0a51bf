import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import type { Table } from './chain/message.ts'
import { POOL_PROGRAM } from './chain/pool-program.ts'
import { TIP_ACCOUNT, TIP_LAMPORTS } from './chain/trade-draft.ts'
import { SERVICE_FEES } from './chain/trade-program.ts'
import type { Dialect } from './dialect.ts'
import type { Secret } from './keys.ts'

/** Files for a bot that signs its transactions itself. */
export interface BotFiles {
  /** Path of the keypair file of the wallet, in the format of the Solana command line: a JSON list of 64 numbers. Only
   *  the owner of the file may read it. */
  keypair: string
  /** Wallets in addition to the first one, by name. */
  wallets: Record<string, { publicKey: string; keypair: string }>
  /** Path of a builder-policy.yaml that allows exactly the transactions of the sandbox's builder. */
  policy: string
  /** Removes the files in a temporary folder, which must not outlive the process. */
  close(): void
}

export interface BotFileParts {
  /** State file of the chain; the files are written next to it. If undefined, they are written to a temporary
   *  folder. */
  stateFile: string | undefined
  wallet: Secret
  named: ReadonlyMap<string, Secret>
  coSigner: Secret
  dialect: Dialect
  table: Table
}

export function writeBotFiles({ stateFile, wallet, named, coSigner, dialect, table }: BotFileParts): BotFiles {
  const folder = stateFile === undefined ? mkdtempSync(join(tmpdir(), 'sluice-sandbox-')) : dirname(resolve(stateFile))
  mkdirSync(folder, { recursive: true })
  const beside = (ending: string): string => join(folder, `${basename(stateFile ?? 'chain')}${ending}`)
  const keyFile = (ending: string, { bytes }: Secret): string => {
    const path = beside(ending)
    write(path, `[${[...bytes].join(',')}]\n`)
    return path
  }
  const keypair = keyFile('.keypair.json', wallet)
  const wallets = Object.fromEntries(
    [...named].map(([name, secret]) => {
      return [name, { publicKey: secret.address, keypair: keyFile(`.${name}.keypair.json`, secret) }]
    }),
  )
  const policy = beside('.policy.yaml')
  const text = JSON.stringify(policyOf(dialect, coSigner.address, table), undefined, 2)
  write(
    policy,
    `# Everything that this sandbox's builder puts into a transaction, as JSON, which is valid YAML.\n${text}\n`,
  )
  return {
    keypair,
    wallets,
    policy,
    close: () => {
      if (stateFile === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Builder policy, in the format that docs/verify-tx.md describes. */
function policyOf(dialect: Dialect, coSigner: string, table: Table): object {
  const { serviceFeeBps, sellNumber, builtTip, builtCoSigner } = dialect
  return {
    programs: [{ id: POOL_PROGRAM, decode: 'pump' }],
    feeAccounts: serviceFeeBps > 0 ? [{ address: SERVICE_FEES, maxPercent: serviceFeeBps / 100 }] : [],
    ...(builtTip === 'yes' ? { tips: { accounts: [TIP_ACCOUNT], maxSol: TIP_LAMPORTS / 1e9 } } : {}),
    coSigners: builtCoSigner === 'yes' ? [coSigner] : [],
    lookupTables: [table.address],
    maxPriorityFeeSol: 0.01,
    rentAccounts: 0,
    sellNumber,
  }
}

/** Writes a file that only its owner may read. The mode is also set if the file exists. */
function write(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 })
  chmodSync(path, 0o600)
}
