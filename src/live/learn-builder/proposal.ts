import { lamportsToSol } from '../../base/units.ts'
import type { Findings, ProgramFinding } from '../../chain/learner/findings.ts'
import type { Payment } from '../../chain/learner/payments.ts'
import { ALWAYS_INNER } from '../../chain/verifier/simulate.ts'
import type { PolicyInput } from '../../config/policy.ts'
import { BUILT_IN_POLICY, PRESETS } from '../../orders/builder-policy.ts'

/** What a policy would have to say to let exactly this pass, and what none could. */
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

/** Accounts that hold SOL; what the fees and tips name need not be named again. */
function strangersIn({ handed, payments }: Findings): string[] {
  const paid = payments.map(({ to }) => to)
  return handed.flatMap(({ address, namesWallet }) => (namesWallet || paid.includes(address) ? [] : [address]))
}

/** Of a sale by a program that cannot be read a percentage is no cap. */
function feeEntry(payment: Payment, isOpaque: boolean): NonNullable<PolicyInput['feeAccounts']>[number] {
  const { to, percent, lamports } = payment
  if (percent === undefined) return { address: to, maxSol: solOf(lamports.most) }
  const needsSol = isOpaque && payment.saleLamports.most > 0n
  return { address: to, maxPercent: percent, ...(needsSol && { maxSol: solOf(lamports.most) }) }
}

function whyUnsaid({ id, repeated }: ProgramFinding): string {
  return repeated
    ? `${id} is called several times in one transaction: no policy lets two trades pass`
    : `${id} has mint and wallet at no place that is the same in all samples: no policy can name it`
}

function unsaidOfHanded(findings: Findings): string[] {
  const others = strangersIn(findings)
  return [
    ...(others.length > 0
      ? ['opaqueAccounts lists accounts that hold SOL: check that the wallet opened none of them by a seed']
      : []),
    ...findings.handed
      .filter(({ namesWallet }) => namesWallet)
      .map(
        ({ address }) => `${address} names the wallet, so it is refused: an opaque program could take what is in it`,
      ),
  ]
}

function unsaidOf(findings: Findings, opaque: readonly ProgramFinding[]): string[] {
  const { coSigners, notSimulated, samples, innerUntold, payments } = findings
  const isCapped = opaque.length > 0 && payments.some(({ saleLamports }) => saleLamports.most > 0n)
  return [
    ...(isCapped
      ? [
          'of a sale by a program that cannot be read a percentage is no cap: its fees are capped by maxSol, here the largest seen; set it for your sizes',
        ]
      : []),
    ...(opaque.length > 0 ? unsaidOfHanded(findings) : []),
    ...opaque
      .filter(({ sell }) => sell.length === 0)
      .map(
        ({ id }) =>
          `no sale by ${id} was seen, so none would be signed: name a mint that the wallet holds some of; no bot starts before`,
      ),
    ...(opaque.length > 0 && coSigners.length > 0
      ? [
          'guards cannot be added to what somebody else has signed: an opaque program then needs maxWalletSol, which only you can set',
        ]
      : []),
    ...coSigners
      .filter((one) => one.signed < one.samples)
      .map(({ key }) => `${key} has to sign too and has not: such a transaction is refused`),
    ...(notSimulated > 0
      ? [`${notSimulated} of ${samples} samples did not run: what they call and open is not known`]
      : []),
    ...(innerUntold
      ? ['the node does not tell which programs are called from inside: innerPrograms may lack some']
      : []),
  ]
}

function most(payments: readonly Payment[]): number {
  return solOf(payments.reduce((top, { lamports }) => (lamports.most > top ? lamports.most : top), 0n))
}

function solOf(lamports: bigint): number {
  return lamportsToSol(Number(lamports))
}
