import { PublicKey } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { creatorVaultOf, volumeAccumulatorOf } from '../../../src/chain/addresses.ts'
import { type Examination, examine } from '../../../src/chain/verifier/checks-before-signing.ts'
import { GuardRoom } from '../../../src/chain/verifier/guard-room.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { decodeTransaction } from '../../../src/solana/transaction.ts'
import { address, compile } from './draft.ts'
import { honest } from './honest.ts'
import { type Bait, EXPOSURES, handOver } from './hostile-exposure.ts'
import { ata } from './parts.ts'
import { mintAccount, type NodeScript, nodeScript, plainAccount, scriptedNode, tokenAccount } from './scripted-node.ts'
import { type Hostile, OLD_BUYS } from './spoil.ts'

/** The number of drafts of each kind. Set SLUICE_MUTANTS=1000 for a long manual run. */
const EACH = Number(process.env.SLUICE_MUTANTS ?? 10)
const SOL = 1_000_000_000n

/** Examines a draft as the local executor does, with guards that would allow a loss of 0.13 SOL. */
async function look(draft: Hostile, baits: readonly Bait[]): Promise<{ examined: Examination; script: NodeScript }> {
  const decoded = decodeTransaction(compile(draft).bytes)
  if (!decoded.ok) throw new Error(decoded.reason)
  const { user, mint, tokens } = draft.drawn
  const script = nodeScript()
  script.before.set(user.toBase58(), plainAccount(10n * SOL))
  script.before.set(mint.toBase58(), mintAccount())
  for (const one of baits) script.before.set(one.address.toBase58(), one.state)
  // The result of the simulation is that of an honest trade.
  script.after.set(user.toBase58(), plainAccount(10n * SOL - 1_000_000n))
  script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens }))
  const room = { boundLamports: 130_000_000n, reservedLamports: 0n, headroomLamports: 0n }
  const examined = await examine({
    ...{ transaction: decoded.transaction, asked: draft.asked, policy: draft.policy },
    chain: { rpc: scriptedNode(script), clock: new SimulatedClock() },
    guard: new GuardRoom('required', () => room),
  })
  return { examined, script }
}

function draftOf(seed: number): { draft: Hostile; thief: PublicKey } {
  const draft = honest(OLD_BUYS[seed % OLD_BUYS.length] as string, seed)
  draft.instructions = [...draft.instructions]
  return { draft, thief: address(`thief ${seed}`) }
}

const codesOf = ({ refusals }: Examination) => refusals.map(({ code }) => code)

describe('accounts that the wallet controls', () => {
  test.each(Object.entries(EXPOSURES))(
    'an opaque program that receives this account is refused: %s',
    async (_name, family) => {
      for (let seed = 0; seed < EACH; seed++) {
        const { draft, thief } = draftOf(seed)
        const baits = [family(draft, thief)].flat()
        handOver(draft, thief, baits)
        const { examined, script } = await look(draft, baits)
        expect(codesOf(examined), `seed ${seed}`).toContain('ACCOUNT_FOREIGN')
        expect(script.asked).not.toContain('simulateTransaction')
      }
    },
  )
})

describe('an opaque program may receive accounts that give it no rights over the wallet', () => {
  const accepted = async (make: (draft: Hostile) => Bait[], change: (draft: Hostile) => void = () => {}) => {
    for (let seed = 0; seed < EACH; seed++) {
      const { draft, thief } = draftOf(seed)
      const baits = make(draft)
      handOver(draft, thief, baits)
      change(draft)
      expect(codesOf((await look(draft, baits)).examined), `seed ${seed}`).toEqual([])
    }
  }
  const given = (at: string | PublicKey, state: Bait['state'], isWritable = true): Bait => {
    return { address: new PublicKey(at), state, isWritable }
  }
  const fees = address('fees of the venue')

  test('an opaque program may receive a token account of another owner, and a data account of another program', () =>
    accepted(({ drawn: { mint } }) => [
      given(address('vault'), tokenAccount({ mint, owner: fees, tokens: 5n })),
      given(address('record'), {
        ...plainAccount(SOL, address('venue').toBase58()),
        data: new Uint8Array(500).fill(7),
      }),
    ]))

  test("an opaque program may receive the records of pump.fun and PumpSwap about the wallet's volume", () =>
    accepted(({ drawn: { user } }) =>
      [PROGRAMS.bondingCurve, PROGRAMS.pumpSwap].map((venue) => {
        const data = Buffer.concat([Buffer.alloc(8, 3), user.toBytes(), Buffer.alloc(40)])
        return given(volumeAccumulatorOf(user.toBase58(), venue), { ...plainAccount(2_000_000n, venue), data })
      }),
    ))

  test("the vault of a coin's creator if the curve is in the transaction", () =>
    accepted(() => {
      const creator = address('creator').toBytes()
      const data = Buffer.alloc(150, 5)
      data.set(creator, 49)
      return [
        given(address('curve'), { ...plainAccount(SOL, PROGRAMS.bondingCurve), data }),
        given(creatorVaultOf(creator), plainAccount(3n * SOL)),
      ]
    }))

  test('an opaque program may receive accounts of other owners if they hold no SOL, are read-only or are in the policy', async () => {
    const paid = () => [given(fees, plainAccount(900n * SOL))]
    await accepted(paid, (draft) => {
      draft.policy = { ...draft.policy, opaqueAccounts: [fees.toBase58()] }
    })
    await accepted(() => [given(fees, plainAccount(900n * SOL), false)])
    await accepted(() => [given(fees, plainAccount(0n))])
  })
})
