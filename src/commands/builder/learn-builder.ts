import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Clock } from '../../base/machine.ts'
import { solToLamports } from '../../base/units.ts'
import { type Findings, findingsOf } from '../../chain/learner/findings.ts'
import type { Sample } from '../../chain/learner/sample.ts'
import { readUpgraders } from '../../chain/learner/upgrades.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import { examine } from '../../chain/verifier/examine.ts'
import { GuardRoom } from '../../chain/verifier/guard-room.ts'
import { USUAL_INNER } from '../../chain/verifier/simulate.ts'
import { loadPolicy, policyText } from '../../config/policy.ts'
import { formatErrors } from '../../config/yaml/errors.ts'
import type { BuilderPolicy } from '../../orders/builder-policy.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { Options } from '../options.ts'
import { configOf } from '../trade/run-bots.ts'
import { takeFrom } from './builder-access.ts'
import { findingsText, samplesText, section, verdictLine } from './findings-text.ts'
import { type Proposal, proposalOf } from './proposal.ts'
import { boundOf, type Taken } from './samples.ts'

const DEFAULT_SOL = 0.001
const MOST_MINTS = 5
const HASH_DIGITS = 24

/** `sluice learn-builder FILE --mint M`: asks the service's builder for transactions, signs none, simulates them, shows
 *  all that is in them and proposes a policy that lets exactly that pass. `--accept HASH` makes the proposal that was
 *  shown with this hash the policy. */
export async function run(files: string[], options: Options): Promise<number> {
  const { mints = [], sol = DEFAULT_SOL, policy: target = 'builder-policy.yaml', acceptHash, json = false } = options
  if (acceptHash !== undefined) return accept(target, acceptHash)
  const wrong = mints.find((mint) => !isPublicKey(mint))
  if (mints.length === 0 || mints.length > MOST_MINTS || wrong !== undefined)
    throw new SluiceError(
      `--mint needs a base58 key of 32 bytes, for each of 1 to ${MOST_MINTS} tokens that trade now`,
      ExitCode.usage,
    )
  // It may name the policy that is learnt here and is not there yet.
  const config = await configOf(files, { readsPolicy: false })
  const say = (text: string): void => console.error(text)
  return takeFrom(config, { mints: [...new Set(mints)], amount: solToLamports(sol), say }, async (taken, chain) => {
    const samples = taken.flatMap(({ sample }) => (typeof sample === 'string' ? [] : [sample]))
    const findings = findingsOf(samples)
    const shown = [
      ...section(
        'samples',
        samplesText(
          taken.map((one) => one.sample),
          taken.map((one) => one.asked),
        ),
      ),
      ...findingsText(findings, await readUpgraders(chain.rpc, strangersIn(findings))),
    ]
    if (samples.length === 0) {
      console.log(shown.slice(0, taken.length + 1).join('\n'))
      throw new SluiceError('the builder gave no transaction that can be read, so there is nothing to learn')
    }
    const proposal = proposalOf(findings)
    const proposed = await propose(target, shown, proposal, taken, chain)
    const { hash, isAccepted } = proposed
    if (json)
      console.log(
        JSON.stringify({
          hash,
          file: proposedFile(target),
          accepted: isAccepted,
          unsaid: proposal.unsaid,
          policy: proposal.policy,
        }),
      )
    else
      console.log(
        `${proposed.text}\nNothing was signed. Read it, and accept exactly this by:\n  npx sluice learn-builder ${files.join(' ')} --policy ${target} --accept ${hash}`,
      )
    return isAccepted ? ExitCode.done : ExitCode.failed
  })
}

/** Programs that are not Solana's own. */
function strangersIn({ programs, inner }: Findings): string[] {
  const called = inner.map(({ id }) => id).filter((id) => !USUAL_INNER.includes(id))
  return [...new Set([...programs.map(({ id }) => id), ...called])]
}

/** Writes the proposal with all that was shown above it. Its hash is the file's. */
async function propose(
  target: string,
  shown: readonly string[],
  { policy, unsaid }: Proposal,
  taken: readonly Taken[],
  chain: { rpc: Rpc; clock: Clock },
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
  const before = existsSync(target) ? loadPolicy(target) : undefined
  const lines = [
    ...shown,
    ...section('beyond any policy', unsaid),
    ...section(
      'under the policy below',
      made.flatMap(({ lines: said }) => said),
    ),
    ...(before?.ok ? section(`against ${target}`, changesBetween(before.policy, loaded.policy)) : []),
  ]
  const text = `${lines.map((line) => `# ${line}`).join('\n')}\n${yaml}`
  writeFileSync(file, text, { mode: 0o600 })
  return { text, hash: hashOf(text), isAccepted: made.length === taken.length && made.every(({ ok }) => ok) }
}

async function verdictOf(
  number: number,
  sample: Sample,
  policy: BuilderPolicy,
  chain: { rpc: Rpc; clock: Clock },
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

/** Nobody is asked anything: what was shown is what is written. */
function accept(target: string, hash: string): number {
  const file = proposedFile(target)
  if (!existsSync(file))
    throw new SluiceError(`there is no proposal at ${file}: run learn-builder without --accept first`, ExitCode.usage)
  const text = readFileSync(file, 'utf8')
  const found = hashOf(text)
  if (found !== hash.trim().toLowerCase())
    throw new SluiceError(
      `the proposal at ${file} has the hash ${found}: read that one, or have it made again`,
      ExitCode.unsafe,
    )
  const loaded = loadPolicy(file)
  if (!loaded.ok) throw new SluiceError(formatErrors(loaded.errors), ExitCode.usage)
  renameSync(file, target)
  console.log(`${target} is the policy that you have read; name it as service.builderPolicy`)
  return ExitCode.done
}

function proposedFile(target: string): string {
  return `${target}.proposed`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)
}

/** What a policy would let pass that another does not, and the other way round: an entry a line. */
export function changesBetween(before: BuilderPolicy, after: BuilderPolicy): string[] {
  const [old, now] = [entriesOf(before), entriesOf(after)]
  const gone = old.filter((entry) => !now.includes(entry)).map((entry) => `- ${entry}`)
  const added = now.filter((entry) => !old.includes(entry)).map((entry) => `+ ${entry}`)
  return [...gone, ...added]
}

function entriesOf({ name: _, ...rules }: BuilderPolicy): string[] {
  return Object.entries(rules).flatMap(([key, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${key}: ${JSON.stringify(one)}`),
  )
}
