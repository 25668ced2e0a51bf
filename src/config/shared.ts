import { canonicalJson } from './config-hash.ts'
import { chainFrom, journalFrom, serviceFrom, walletFrom } from './effective.ts'
import type { ConfigError } from './errors.ts'
import type { ConfigFile } from './read.ts'
import type { FileInput } from './schema.ts'

/** What the whole process shares: one file may leave to another what both need, but two may not say different things. */
export type Agreed = Pick<FileInput, 'service' | 'chain' | 'wallet' | 'journal'>

export function agree(parts: readonly ConfigFile[], cwd: string): { agreed: Agreed; disagreements: ConfigError[] } {
  const meaning = {
    service: (input: Agreed) => input.service && serviceFrom(input.service, cwd),
    chain: (input: Agreed) => chainFrom(input.chain, cwd),
    wallet: (input: Agreed) => walletFrom(input.wallet, cwd),
    journal: (input: Agreed) => journalFrom(input.journal, cwd),
  }
  const agreed: Agreed = {}
  const disagreements: ConfigError[] = []
  for (const name of ['service', 'chain', 'wallet', 'journal'] as const) {
    const [first, ...others] = parts.filter(({ sections }) => sections[name] !== undefined)
    if (!first) continue
    Object.assign(agreed, { [name]: first.sections[name] })
    const meant = canonicalJson(meaning[name](first.sections))
    for (const { document, sections } of others) {
      if (canonicalJson(meaning[name](sections)) === meant) continue
      const { file, line } = first.document.locateKey([name])
      const message = `differs from ${file}:${line}; files that run together must agree on it`
      disagreements.push(document.error([name], message))
    }
  }
  return { agreed, disagreements }
}
