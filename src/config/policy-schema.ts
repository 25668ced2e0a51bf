import { z } from 'zod'
import { isPublicKey } from '../core/base58.ts'
import { PRESETS } from '../core/builder-policy.ts'
import { MOST_SOL } from './bounds.ts'

// The YAML of builder-policy.yaml: what a builder may put into a transaction. Every key is optional, and absent is strict.

const address = z.string().refine(isPublicKey, { error: 'expected an address: base58 of 32 bytes' })
const addresses = z.array(address).max(256)
const sol = z.number().min(0).max(MOST_SOL)
const place = z.int().min(0).max(255)
const beginnings = z.array(
  z.string().regex(/^([0-9a-f]{2}){1,16}$/, { error: 'expected bytes in hex, as in 66063d1201daebea' }),
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

/** A policy as written, once it fits the schema. */
export type PolicyInput = z.output<typeof policySchema>
