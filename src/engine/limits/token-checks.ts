import type { Refusal } from '../../base/errors.ts'
import { MINT_TRAITS, type MintFacts, type MintTrait } from '../../solana/mint.ts'

/** Settings for the checks of a mint when it is first bought. */
export interface TokenChecks {
  /** `before`: a buy waits for the result of the checks. `after`: the buy is sent immediately, and its tokens are sold
   *  if the mint fails the checks. */
  readonly when: 'before' | 'after' | 'off'
  /** Traits of a mint that the bot accepts. */
  readonly allow: readonly MintTrait[]
}

export const DEFAULT_TOKEN_CHECKS: TokenChecks = { when: 'before', allow: [] }

const REFUSALS: Readonly<Record<MintTrait, Refusal>> = {
  freezeAuthority: { code: 'FREEZE_AUTHORITY', reason: 'its freeze authority can freeze any token account' },
  mintAuthority: { code: 'MINT_AUTHORITY', reason: 'its mint authority can create more tokens' },
  permanentDelegate: {
    code: 'PERMANENT_DELEGATE',
    reason: 'its permanent delegate can take tokens out of any account',
  },
  transferHook: { code: 'TRANSFER_HOOK', reason: 'a program of a third party decides on each transfer' },
  transferFee: { code: 'TRANSFER_FEE', reason: 'its issuer can keep a part of each transfer' },
  nonTransferable: { code: 'NON_TRANSFERABLE', reason: 'the token cannot be transferred' },
  pausable: { code: 'PAUSABLE', reason: 'its issuer can pause all transfers' },
  defaultAccountState: { code: 'FROZEN_BY_DEFAULT', reason: 'every new token account is frozen' },
  unknownExtension: { code: 'EXTENSION_UNKNOWN', reason: 'the mint has an unknown extension' },
}

/** Returns why a trait is a risk, for example `its issuer can pause all transfers`. */
export function mintTraitReason(trait: MintTrait): string {
  return REFUSALS[trait].reason
}

/** Error codes of all mint checks. */
export const MINT_REFUSALS: readonly string[] = ['MINT_PROGRAM', ...Object.values(REFUSALS).map(({ code }) => code)]

/** Returns the reason not to buy a mint; undefined if the mint passes the checks. */
export function mintRefusal({ program, traits }: MintFacts, { when, allow }: TokenChecks): Refusal | undefined {
  if (when === 'off') return undefined
  if (program === 'none') return { code: 'MINT_PROGRAM', reason: 'the mint belongs to neither Token nor Token-2022' }
  const first = MINT_TRAITS.find((trait) => traits.includes(trait) && !allow.includes(trait))
  return first === undefined ? undefined : REFUSALS[first]
}
