import { BUILT_IN_POLICY, type BuilderPolicy, JITO_TIPS, PRESETS, type TradingProgram } from '../core/builder-policy.ts'
import { type Lamports, solToLamports } from '../core/units.ts'
import { ConfigDocument } from './document.ts'
import type { ConfigError } from './errors.ts'
import { type PolicyInput, policySchema } from './policy-schema.ts'
import { isMap, readText } from './read.ts'
import { found, parseWith } from './wording.ts'

export type PolicyResult =
  | { readonly ok: true; readonly policy: BuilderPolicy }
  | { readonly ok: false; readonly errors: readonly ConfigError[] }

/** Reads and checks a `builder-policy.yaml`; answers everything that is wrong with it at once. */
export function loadPolicy(file: string, cwd = process.cwd()): PolicyResult {
  const text = readText(file, cwd)
  if (typeof text !== 'string')
    return { ok: false, errors: [{ file, line: 1, column: 1, path: '', message: text.problem }] }
  const document = new ConfigDocument(file, text)
  const { value, errors } = document
  if (value === undefined) return { ok: false, errors }
  if (!isMap(value)) {
    return {
      ok: false,
      errors: [document.error([], `expected a map that begins with \`programs:\`, found ${found(value)}`)],
    }
  }
  const result = parseWith(policySchema, value)
  const complaints = result.ok ? [] : result.complaints.map((complaint) => document.complain(complaint))
  const all = [...errors, ...complaints]
  if (!result.ok || all.length > 0) return { ok: false, errors: all }
  return { ok: true, policy: policyFrom(result.value, file) }
}

function policyFrom(input: PolicyInput, name: string): BuilderPolicy {
  const { programs, innerPrograms = [], feeAccounts = [], tips, coSigners = [], lookupTables, pools = [] } = input
  const { accounts = [], maxSol = 0 } = tips ?? {}
  return {
    name,
    programs: programs?.map(programFrom) ?? BUILT_IN_POLICY.programs,
    innerPrograms,
    feeAccounts: feeAccounts.map(({ address, maxPercent = null, maxSol: most }) => {
      return { address, maxPercent, maxLamports: lamportsOr(most, null) }
    }),
    tips: { accounts: accounts === 'jito' ? JITO_TIPS : accounts, maxLamports: solToLamports(maxSol) },
    coSigners,
    lookupTables: lookupTables ?? BUILT_IN_POLICY.lookupTables,
    pools,
    opaqueAccounts: input.opaqueAccounts ?? [],
    maxPriorityFeeLamports: lamportsOr(input.maxPriorityFeeSol, BUILT_IN_POLICY.maxPriorityFeeLamports),
    rentAccounts: input.rentAccounts ?? BUILT_IN_POLICY.rentAccounts,
    maxWalletLamports: lamportsOr(input.maxWalletSol, null),
    guard: input.guard ?? BUILT_IN_POLICY.guard,
    sellNumber: input.sellNumber ?? null,
  }
}

function programFrom(program: NonNullable<PolicyInput['programs']>[number]): TradingProgram {
  if (typeof program === 'string') return PRESETS[program]
  return program.decode === 'opaque' ? { ...program, buy: program.buy ?? [], sell: program.sell ?? [] } : program
}

function lamportsOr<T>(sol: number | undefined, otherwise: T): Lamports | T {
  return sol === undefined ? otherwise : solToLamports(sol)
}
