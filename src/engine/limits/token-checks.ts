import type { Refusal } from '../../base/errors.ts'
import { MINT_TRAITS, type MintFacts, type MintTrait } from '../../solana/mint.ts'

/** What of a mint is looked at before its first buy. */
export interface TokenChecks {
  /** `before`: a buy waits for the answer. `after`: it goes at once, and what fails is sold. */
  readonly when: 'before' | 'after' | 'off'
  /** Traits that do not matter to this bot. */
  readonly allow: readonly MintTrait[]
}

export const DEFAULT_TOKEN_CHECKS: TokenChecks = { when: 'before', allow: [] }

const REFUSALS: Readonly<Record<MintTrait, Refusal>> = {
  freezeAuthority: { code: 'FREEZE_AUTHORITY', reason: 'somebody can freeze whatever account holds it' },
  mintAuthority: { code: 'MINT_AUTHORITY', reason: 'somebody can make more of it at will' },
  permanentDelegate: { code: 'PERMANENT_DELEGATE', reason: 'somebody can take it out of any account' },
  transferHook: { code: 'TRANSFER_HOOK', reason: 'a program of somebody decides on each transfer' },
  transferFee: { code: 'TRANSFER_FEE', reason: 'a part of each transfer is kept back, or can be' },
  nonTransferable: { code: 'NON_TRANSFERABLE', reason: 'it cannot be transferred' },
  pausable: { code: 'PAUSABLE', reason: 'somebody can stop all its transfers' },
  defaultAccountState: { code: 'FROZEN_BY_DEFAULT', reason: 'every new account of it is frozen' },
  unknownExtension: { code: 'EXTENSION_UNKNOWN', reason: 'it has an extension that is not known here' },
}

/** The codes of all of them. */
export const MINT_REFUSALS: readonly string[] = ['MINT_PROGRAM', ...Object.values(REFUSALS).map(({ code }) => code)]

/** Why nothing of a mint is bought by a bot with these checks; undefined: it may be. */
export function mintRefusal({ program, traits }: MintFacts, { when, allow }: TokenChecks): Refusal | undefined {
  if (when === 'off') return undefined
  if (program === 'none') return { code: 'MINT_PROGRAM', reason: 'it is no mint of Token or Token-2022' }
  const first = MINT_TRAITS.find((trait) => traits.includes(trait) && !allow.includes(trait))
  return first === undefined ? undefined : REFUSALS[first]
}
