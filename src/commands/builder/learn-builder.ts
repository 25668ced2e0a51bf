import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { solToLamports } from '../../base/units.ts'
import { type Findings, findingsOf } from '../../chain/learner/findings.ts'
import type { Sample } from '../../chain/learner/sample.ts'
import { readUpgraders } from '../../chain/learner/upgrades.ts'
import { examine } from '../../chain/verifier/checks-before-signing.ts'
import { GuardRoom } from '../../chain/verifier/guard-room.ts'
import { ALWAYS_INNER } from '../../chain/verifier/simulate.ts'
import { loadPolicy, policyText } from '../../config/builder-policy-file.ts'
import { formatErrors } from '../../config/yaml/errors.ts'
import { type Chain, withSamples } from '../../live/learn-builder/access.ts'
import { type Proposal, proposalOf } from '../../live/learn-builder/proposal.ts'
import { boundOf, type Taken } from '../../live/learn-builder/samples.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { configOf, withWalletOnly } from '../configuration.ts'
import { defineCommand, JSON_LINE, number, text, texts, type Values, WALLET } from '../options.ts'
import { findingsText, samplesText, section, verdictLine } from './findings-text.ts'

const MAX_MINTS = 5
const HASH_DIGITS = 24

const OPTIONS = {
  mint: texts('<mint>', `request samples for this token; repeat for up to ${MAX_MINTS}`),
  sol: number('<n>', 'amount of a sample buy; nothing is bought', { min: 0.001, max: 1 }, 0.001),
  policy: text('<file>', 'write the policy to this file', 'builder-policy.yaml'),
  accept: text('<hash>', 'make the proposal with this hash the policy'),
  wallet: WALLET,
  json: JSON_LINE,
}
type Options = Values<typeof OPTIONS>

/** Requests sample transactions from the service's builder, simulates them without signing any, lists their contents
 *  and proposes a policy that permits exactly these contents. With --accept, an earlier proposal becomes the policy. */
export const command = defineCommand({
  options: OPTIONS,
  async run(files, options) {
    const { mint: mints, policy: target, accept: hash } = options
    if (hash !== undefined) return accept(target, hash)
    if (mints.length === 0 || mints.length > MAX_MINTS || !mints.every(isPublicKey))
      throw new SluiceError(
        `--mint needs 1 to ${MAX_MINTS} mints (base58, 32 bytes) of tokens that are traded now`,
        ExitCode.usage,
      )
    // The existing policy is not read, because the configuration may refer to a policy file that this command will
    // write.
    const config = withWalletOnly(await configOf(files, { readsPolicy: false }), options.wallet)
    const wanted = {
      mints: [...new Set(mints)],
      amount: solToLamports(options.sol),
      say: (text: string): void => console.error(text),
    }
    return withSamples(config, wanted, (samples, chain) => learn(files, options, samples, chain))
  },
})

async function learn(
  files: string[],
  { policy: target, json }: Options,
  taken: Taken[],
  chain: Chain,
): Promise<number> {
  const samples = taken.flatMap(({ sample }) => (typeof sample === 'string' ? [] : [sample]))
  const findings = findingsOf(samples)
  const sampleLines = samplesText(
    taken.map((one) => one.sample),
    taken.map((one) => one.asked),
  )
  const shown = [
    ...section('samples', sampleLines),
    ...findingsText(findings, await readUpgraders(chain.rpc, foreignPrograms(findings))),
  ]
  if (samples.length === 0) {
    console.log(shown.slice(0, taken.length + 1).join('\n'))
    throw new SluiceError('the builder returned no readable transaction, so no policy can be proposed')
  }
  const proposal = proposalOf(findings)
  const { hash, isAccepted, text } = await propose(target, shown, proposal, taken, chain)
  const { policy, unsaid } = proposal
  if (json) console.log(JSON.stringify({ hash, file: proposedFile(target), accepted: isAccepted, unsaid, policy }))
  else
    console.log(
      `${text}\nNothing was signed. Read the proposal, then accept exactly this version with:\n  npx sluice learn-builder ${files.join(' ')} --policy ${target} --accept ${hash}`,
    )
  return isAccepted ? ExitCode.done : ExitCode.failed
}

/** Addresses of all programs that the sample transactions call, except Solana's own. */
function foreignPrograms({ programs, inner }: Findings): string[] {
  const called = inner.map(({ id }) => id).filter((id) => !ALWAYS_INNER.includes(id))
  return [...new Set([...programs.map(({ id }) => id), ...called])]
}

/** Writes the proposal with the findings as comments above it. The returned hash covers the whole file. `isAccepted`:
 *  whether the proposed policy accepts every sample. */
async function propose(
  target: string,
  shown: readonly string[],
  { policy, unsaid }: Proposal,
  taken: readonly Taken[],
  chain: Chain,
): Promise<{ text: string; hash: string; isAccepted: boolean }> {
  const file = proposedFile(target)
  const yaml = policyText(policy)
  writeFileSync(file, yaml, { mode: 0o600 })
  const loaded = loadPolicy(file)
  if (!loaded.ok) throw new Error(`the proposal does not fit the schema: ${formatErrors(loaded.errors)}`)
  const verdicts = await Promise.all(
    taken.map(({ sample }, index) =>
      typeof sample === 'string' ? undefined : verdictOf(index + 1, sample, loaded.policy, chain),
    ),
  )
  const made = verdicts.filter((one) => one !== undefined)
  const current = existsSync(target) ? loadPolicy(target) : undefined
  const lines = [
    ...shown,
    ...section('not covered by a policy', unsaid),
    ...section(
      'verdicts under the policy below',
      made.flatMap((verdict) => verdict.lines),
    ),
    ...(current?.ok ? section(`changes against ${target}`, changesBetween(current.policy, loaded.policy)) : []),
  ]
  const text = `${lines.map((line) => `# ${line}`).join('\n')}\n${yaml}`
  writeFileSync(file, text, { mode: 0o600 })
  return { text, hash: hashOf(text), isAccepted: made.length === taken.length && made.every(({ ok }) => ok) }
}

async function verdictOf(
  number: number,
  sample: Sample,
  policy: BuilderPolicy,
  chain: Chain,
): Promise<{ ok: boolean; lines: string[] }> {
  const { transaction, asked } = sample
  const guard = new GuardRoom(policy.guard, () => ({
    boundLamports: boundOf(sample),
    reservedLamports: 0n,
    headroomLamports: 0n,
  }))
  const examined = await examine({ transaction, asked, policy, chain, guard })
  return { ok: examined.refusals.length === 0, lines: verdictLine(number, examined) }
}

/**
 * Makes the proposal the policy by renaming its file. Throws a SluiceError if the hash of the file is not `hash`,
 * because the operator has then read a different version.
 */
function accept(target: string, hash: string): number {
  const file = proposedFile(target)
  if (!existsSync(file))
    throw new SluiceError(`${file} does not exist: run learn-builder without --accept first`, ExitCode.usage)
  const text = readFileSync(file, 'utf8')
  const found = hashOf(text)
  if (found !== hash.trim().toLowerCase())
    throw new SluiceError(
      `the proposal in ${file} has the hash ${found}: read and accept that version, or create a new proposal`,
      ExitCode.unsafe,
    )
  const loaded = loadPolicy(file)
  if (!loaded.ok) throw new SluiceError(formatErrors(loaded.errors), ExitCode.usage)
  renameSync(file, target)
  console.log(`wrote ${target}; set service.builderPolicy to it`)
  return ExitCode.done
}

function proposedFile(target: string): string {
  return `${target}.proposed`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)
}

/** Lines with the entries that a new policy adds (+) and removes (-). */
export function changesBetween(before: BuilderPolicy, after: BuilderPolicy): string[] {
  const [old, current] = [entriesOf(before), entriesOf(after)]
  const gone = old.filter((entry) => !current.includes(entry)).map((entry) => `- ${entry}`)
  const added = current.filter((entry) => !old.includes(entry)).map((entry) => `+ ${entry}`)
  return [...gone, ...added]
}

function entriesOf({ name: _, ...rules }: BuilderPolicy): string[] {
  return Object.entries(rules).flatMap(([key, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${key}: ${JSON.stringify(one)}`),
  )
}
