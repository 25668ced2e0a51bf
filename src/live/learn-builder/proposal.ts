import { lamportsToSol } from '../../base/units.ts'
import type { Findings, ProgramFinding } from '../../chain/learner/findings.ts'
import type { Payment } from '../../chain/learner/payments.ts'
import { ALWAYS_INNER } from '../../chain/verifier/simulate.ts'
import type { PolicyInput } from '../../config/builder-policy-file.ts'
import { BUILT_IN_POLICY, PRESETS } from '../../orders/builder-policy.ts'

/** A policy that permits exactly the sampled transactions, and texts about findings that a policy cannot express
 *  (`unsaid`). */
export interface Proposal {
  readonly policy: PolicyInput
  readonly unsaid: readonly string[]
}

export function proposalOf(findings: Findings): Proposal {
  const trading = findings.programs.filter(isTrading)
  const others = findings.programs.filter((one) => !isTrading(one))
  const named = [...ALWAYS_INNER, ...trading.map(({ id }) => id)]
  const inner = findings.inner.map(({ id }) => id).filter((id) => !named.includes(id))
  const tips = findings.payments.filter(({ isTip }) => isTip)
  const opaque = trading.filter(({ decode }) => decode === 'opaque')
  const priority = findings.priorityLamports.most
  const policy: PolicyInput = {
    ...(trading.length > 0 && { programs: trading.map(programEntry) }),
    innerPrograms: inner,
    feeAccounts: findings.payments.filter(({ isTip }) => !isTip).map((one) => feeEntry(one, opaque.length > 0)),
    ...(tips.length > 0 && { tips: { accounts: 'jito' as const, maxSol: most(tips) } }),
    coSigners: findings.coSigners.map(({ key }) => key),
    lookupTables: findings.tables.map(({ address }) => address),
    ...(priority > BigInt(BUILT_IN_POLICY.maxPriorityFeeLamports) && { maxPriorityFeeSol: solOf(priority) }),
    ...(opaque.length > 0 && { opaqueAccounts: strangersIn(findings) }),
    rentAccounts: Math.min(findings.records, 10),
    ...(opaque.length > 0 && { guard: 'required' as const }),
  }
  return { policy, unsaid: [...others.map(whyUnsaid), ...unsaidOf(findings, opaque)] }
}

function isTrading({ decode, mint, wallet, repeated }: ProgramFinding): boolean {
  return !repeated && (decode !== 'opaque' || (mint !== undefined && wallet !== undefined))
}

function programEntry({
  id,
  decode,
  buy,
  sell,
  mint = 0,
  wallet = 0,
}: ProgramFinding): NonNullable<PolicyInput['programs']>[number] {
  if (decode !== 'opaque') return PRESETS[decode].id === id ? decode : { id, decode }
  return {
    id,
    decode,
    ...(buy.length > 0 && { buy: [...buy] }),
    ...(sell.length > 0 && { sell: [...sell] }),
    mintIndex: mint,
    userIndex: wallet,
  }
}

/** Addresses of accounts with SOL in the samples, except the wallet's own ones and the recipients of fees and tips. */
function strangersIn({ handed, payments }: Findings): string[] {
  const paid = payments.map(({ to }) => to)
  return handed.flatMap(({ address, namesWallet }) => (namesWallet || paid.includes(address) ? [] : [address]))
}

/** Returns the policy entry for a recipient of fees. If a program's instructions cannot be decoded (`isOpaque`), the
 *  proceeds of its sales are unknown, so a percentage cannot limit their fee. */
function feeEntry(payment: Payment, isOpaque: boolean): NonNullable<PolicyInput['feeAccounts']>[number] {
  const { to, percent, lamports } = payment
  if (percent === undefined) return { address: to, maxSol: solOf(lamports.most) }
  const needsSol = isOpaque && payment.saleLamports.most > 0n
  return { address: to, maxPercent: percent, ...(needsSol && { maxSol: solOf(lamports.most) }) }
}

function whyUnsaid({ id, repeated }: ProgramFinding): string {
  return repeated
    ? `${id} is called several times in one transaction, but a policy cannot permit two trades`
    : `the mint and the wallet are not at the same positions among the accounts of ${id} in all samples, which a policy cannot describe`
}

function unsaidOfHanded(findings: Findings): string[] {
  const others = strangersIn(findings)
  return [
    ...(others.length > 0
      ? ['opaqueAccounts lists accounts with SOL: check that none of them was derived from the wallet by a seed']
      : []),
    ...findings.handed
      .filter(({ namesWallet }) => namesWallet)
      .map(
        ({ address }) =>
          `the data of the account ${address} names the wallet, and an opaque program could empty this account, so transactions with it are refused`,
      ),
  ]
}

function unsaidOf(findings: Findings, opaque: readonly ProgramFinding[]): string[] {
  const { coSigners, notSimulated, samples, innerUntold, payments } = findings
  const isCapped = opaque.length > 0 && payments.some(({ saleLamports }) => saleLamports.most > 0n)
  return [
    ...(isCapped
      ? [
          "a percentage does not cap the fees of an opaque program's sale; maxSol does, and is set to the largest observed fee: adjust it to your sizes",
        ]
      : []),
    ...(opaque.length > 0 ? unsaidOfHanded(findings) : []),
    ...opaque
      .filter(({ sell }) => sell.length === 0)
      .map(
        ({ id }) =>
          `no sample sells through ${id}, so no sale would be signed, and bots would not start: add a mint that the wallet holds`,
      ),
    ...(opaque.length > 0 && coSigners.length > 0
      ? [
          'guards cannot be added to a transaction that another key has signed, so an opaque program needs maxWalletSol: set it',
        ]
      : []),
    ...coSigners
      .filter((one) => one.signed < one.samples)
      .map(({ key }) => `${key} must sign too but has not: such a transaction is refused`),
    ...(notSimulated > 0
      ? [`${notSimulated} of ${samples} samples could not be simulated: their inner calls and new accounts are unknown`]
      : []),
    ...(innerUntold ? ['the node does not report inner calls: innerPrograms may be incomplete'] : []),
  ]
}

function most(payments: readonly Payment[]): number {
  return solOf(payments.reduce((top, { lamports }) => (lamports.most > top ? lamports.most : top), 0n))
}

function solOf(lamports: bigint): number {
  return lamportsToSol(Number(lamports))
}
