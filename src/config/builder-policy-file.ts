import { stringify } from 'yaml'
import { z } from 'zod'
import { type Lamports, solToLamports } from '../base/units.ts'
import { MOST_SOL } from '../engine/setting-bounds.ts'
import {
  BUILT_IN_POLICY,
  type BuilderPolicy,
  JITO_TIPS,
  PRESETS,
  type TradingProgram,
} from '../orders/builder-policy.ts'
import { isPublicKey } from '../solana/base58.ts'
import { isMap, readText } from './read-file.ts'
import { ConfigDocument } from './yaml/document.ts'
import type { ConfigError } from './yaml/errors.ts'
import { found, parseWith } from './yaml/wording.ts'

export type PolicyResult =
  | { readonly ok: true; readonly policy: BuilderPolicy }
  | { readonly ok: false; readonly errors: readonly ConfigError[] }

/** Reads and checks a `builder-policy.yaml`; returns all errors together. */
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

// The following schemas are parts of the schema of builder-policy.yaml, which lists the permitted contents of a
// transaction. Every key is optional; an absent key permits nothing.
const address = z.string().refine(isPublicKey, { error: 'expected an address: base58 of 32 bytes' })
const addresses = z.array(address).max(256)
const sol = z.number().min(0).max(MOST_SOL)
const place = z.int().min(0).max(255)

const beginnings = z.array(
  z.string().regex(/^([0-9a-f]{2}){1,16}$/, { error: 'expected bytes in hexadecimal form, as in 66063d1201daebea' }),
)

const known = z.strictObject({ id: address, decode: z.enum(['pump', 'pump-swap']) })

const opaque = z.strictObject({
  id: address,
  decode: z.literal('opaque'),
  buy: beginnings.exactOptional(),
  sell: beginnings.exactOptional(),
  mintIndex: place,
  userIndex: place,
})

const names = Object.keys(PRESETS) as (keyof typeof PRESETS)[]

const feeAccount = z
  .strictObject({
    address,
    maxPercent: z.number().gt(0).max(100).exactOptional(),
    maxSol: sol.exactOptional(),
  })
  .refine(({ maxPercent, maxSol }) => maxPercent !== undefined || maxSol !== undefined, {
    error: 'expected a cap: maxPercent, maxSol or both',
  })

export const policySchema = z.strictObject({
  programs: z
    .array(z.union([z.enum(names), z.discriminatedUnion('decode', [known, opaque])]))
    .min(1)
    .exactOptional(),
  innerPrograms: addresses.exactOptional(),
  feeAccounts: z.array(feeAccount).max(256).exactOptional(),
  tips: z.strictObject({ accounts: z.union([z.literal('jito'), addresses.min(1)]), maxSol: sol }).exactOptional(),
  coSigners: addresses.exactOptional(),
  lookupTables: z.union([z.literal('any'), addresses]).exactOptional(),
  pools: addresses.exactOptional(),
  opaqueAccounts: addresses.exactOptional(),
  maxPriorityFeeSol: sol.exactOptional(),
  rentAccounts: z.int().min(0).max(10).exactOptional(),
  maxWalletSol: sol.exactOptional(),
  guard: z.enum(['auto', 'required', 'off']).exactOptional(),
  sellNumber: z.enum(['tokens', 'baseUnits']).exactOptional(),
})

/** A policy with the keys of the file, after a check by the schema. */
export type PolicyInput = z.output<typeof policySchema>

/** Returns the text of a `builder-policy.yaml`, with short values on the line of their key. */
export function policyText(policy: PolicyInput): string {
  return stringify(policy, { collectionStyle: 'any', flowCollectionPadding: true, lineWidth: 0 })
}
