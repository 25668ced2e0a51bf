import { PublicKey } from '@solana/web3.js'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { address } from './draft.ts'
import { seededAccount } from './honest.ts'
import * as parts from './parts.ts'
import { type Account, plainAccount, tokenAccount } from './scripted-node.ts'
import type { Hostile } from './spoil.ts'

/**
 * An account that a hostile builder passes to an opaque program (a program whose instructions Sluice cannot read). The
 * wallet has rights over the account, which the program could use.
 */
export interface Bait {
  readonly address: PublicKey
  readonly state: Account
  readonly isWritable: boolean
}

type Family = (draft: Hostile, thief: PublicKey) => Bait | readonly Bait[]

const SOL = 1_000_000_000n
const SYSTEM = new PublicKey(PROGRAMS.system)
const STAKE = 'Stake11111111111111111111111111111111111111'
const VOTE = 'Vote111111111111111111111111111111111111111'
const UPGRADEABLE = 'BPFLoaderUpgradeab1e11111111111111111111111'

const someAddress = ({ drawn }: Hostile) => address(`bait ${drawn.random.integer(1e6)}`)

function bait(draft: Hostile, state: Account, isWritable = true): Bait {
  return { address: someAddress(draft), state, isWritable }
}

/** Returns an account of `bytes` bytes with the wallet's key at offset `at`. */
function naming({ drawn: { user } }: Hostile, owner: string, bytes: number, at: number, lamports = 5n * SOL): Account {
  const data = Buffer.alloc(bytes, 1)
  data.set(user.toBytes(), at)
  return { ...plainAccount(lamports, owner), data }
}

const token = ({ drawn: { random } }: Hostile) => (random.integer(2) === 0 ? PROGRAMS.token : PROGRAMS.token2022)

/** Accounts that are not the wallet's own token accounts, but over which it has rights, by name. */
export const EXPOSURES: Readonly<Record<string, Family>> = {
  'tokens of a stranger that the wallet may spend as a delegate': (draft, thief) =>
    bait(
      draft,
      tokenAccount({ mint: thief, owner: thief, tokens: 5n, delegate: draft.drawn.user, program: token(draft) }),
    ),
  "a stranger's account that the wallet may close": (draft, thief) =>
    bait(
      draft,
      tokenAccount({ mint: thief, owner: thief, tokens: 0n, closeAuthority: draft.drawn.user, program: token(draft) }),
    ),
  'tokens of the traded mint that a stranger owns and the wallet may spend as a delegate': (draft, thief) => {
    const { user, mint } = draft.drawn
    return bait(draft, tokenAccount({ mint, owner: thief, tokens: 5n, delegate: user, program: token(draft) }))
  },
  'a nonce account of the wallet': (draft) => bait(draft, naming(draft, PROGRAMS.system, 80, 8)),
  'a seeded account of the wallet': (draft) => {
    const seed = `savings ${draft.drawn.random.integer(1e6)}`
    return {
      address: seededAccount(draft.drawn.user, seed, SYSTEM),
      state: plainAccount(5n * SOL),
      isWritable: true,
    }
  },
  'a multisig of which the wallet is a member, and the tokens of the multisig': (draft, thief) => {
    const at = 3 + 32 * draft.drawn.random.integer(11)
    const multisig = bait(draft, naming(draft, token(draft), 355, at), draft.drawn.random.integer(2) === 0)
    const owned = tokenAccount({ mint: thief, owner: multisig.address, tokens: 5n })
    return [multisig, bait(draft, owned)]
  },
  'a mint that the wallet may mint': (draft) => bait(draft, naming(draft, token(draft), 82, 4)),
  'a mint that the wallet may freeze': (draft) => bait(draft, naming(draft, token(draft), 82, 50)),
  'a mint whose permanent delegate is the wallet': (draft, thief) => {
    // The wallet's key is in an extension of the mint, after the first 165 bytes. The mint does not have to be
    // writable.
    const mint = bait(draft, naming(draft, PROGRAMS.token2022, 202, 170), false)
    const held = tokenAccount({ mint: mint.address, owner: thief, tokens: 5n, program: PROGRAMS.token2022 })
    return [mint, bait(draft, held)]
  },
  'a stake account that the wallet may delegate or withdraw': (draft) =>
    bait(draft, naming(draft, STAKE, 200, [12, 44][draft.drawn.random.integer(2)] as number)),
  'a vote account of the wallet': (draft) => bait(draft, naming(draft, VOTE, 3_762, 36)),
  'a lookup table of the wallet': (draft) => bait(draft, naming(draft, PROGRAMS.lookupTable, 56 + 64, 22)),
  'the code account of a program that the wallet may upgrade': (draft) =>
    bait(draft, naming(draft, UPGRADEABLE, 4_096, 13)),
  "an unknown program's record that names the wallet": (draft, thief) => {
    const bytes = 64 + draft.drawn.random.integer(900)
    return bait(draft, naming(draft, thief.toBase58(), bytes, draft.drawn.random.integer(bytes - 32)))
  },
  "the wallet's account of another token": (draft, thief) =>
    bait(draft, tokenAccount({ mint: thief, owner: draft.drawn.user, tokens: 5n, program: token(draft) })),
}

/** Routes the trade through a program of the thief, which receives these accounts. */
export function handOver(draft: Hostile, thief: PublicKey, baits: readonly Bait[]): void {
  const program = { id: thief.toBase58(), decode: 'opaque', buy: ['66063d12'], sell: [], mintIndex: 2, userIndex: 6 }
  draft.policy = { ...draft.policy, programs: [program as never], guard: 'required' }
  const trade = draft.instructions.find(({ programId }) => programId.equals(parts.PUMP))
  if (trade === undefined) throw new Error('no trade in the draft')
  trade.programId = thief
  for (const { address: pubkey, isWritable } of baits) trade.keys.push({ pubkey, isSigner: false, isWritable })
}
