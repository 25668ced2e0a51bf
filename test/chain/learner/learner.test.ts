import { describe, expect, test } from 'vitest'
import { type Findings, findingsOf } from '../../../src/chain/learner/findings.ts'
import { readSample, type Sample } from '../../../src/chain/learner/sample.ts'
import { readUpgraders } from '../../../src/chain/learner/upgrades.ts'
import { findingsText } from '../../../src/commands/builder/findings-text.ts'
import { loadPolicy, policyText } from '../../../src/config/builder-policy-file.ts'
import { proposalOf } from '../../../src/live/learn-builder/proposal.ts'
import type { BuilderPolicy } from '../../../src/orders/builder-policy.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { decodeTransaction } from '../../../src/solana/transaction.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { settled } from '../scripted-chain.ts'
import { address, compile, type Draft, keypair, verifyDraft } from '../verifier/draft.ts'
import { CO_SIGNER, type Drawn, draw, FEES, honest, RENT, SHAPES } from '../verifier/honest.ts'
import * as parts from '../verifier/parts.ts'
import { type NodeScript, nodeScript, plainAccount, scriptedNode, tokenAccount } from '../verifier/scripted-node.ts'

const folder = temporaryFolder()

/** Returns a sample of a transaction, without data of a node unless `simulated` is given. */
function sampleOf(draft: Draft, simulated?: Sample['simulated']): Sample {
  const { bytes, accounts } = compile(draft)
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) throw new Error(decoded.reason)
  const { transaction } = decoded
  const steps = transaction.message.instructions.map(({ program, accounts: places, data }, index) => ({
    ...{ place: index + 1, program: accounts[program] as string, data },
    accounts: places.map((place) => accounts[place] as string),
  }))
  return { asked: draft.asked, transaction, steps, simulated: simulated ?? { inner: [], changes: [] }, problem: '' }
}

/** Returns the learned policy, read back from the file that a user accepts. */
function policyFrom(findings: Findings): BuilderPolicy {
  const loaded = loadPolicy(folder.write('learned.yaml', policyText(proposalOf(findings).policy)))
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.policy
}

const codes = (draft: Draft, policy: BuilderPolicy): string[] =>
  verifyDraft({ ...draft, policy: { ...policy, sellNumber: 'baseUnits' } }).refusals.map(({ code }) => code)

describe.each(Object.keys(SHAPES))('%s', (shape) => {
  const drafts = [1, 2, 3, 4, 5].map((seed) => honest(shape, seed))
  const learned = policyFrom(findingsOf(drafts.map((draft) => sampleOf(draft))))

  test('a policy that was learned from honest transactions accepts them', () => {
    expect(drafts.flatMap((draft) => codes(draft, learned))).toEqual([])
  })

  test('a policy that was learned from honest transactions refuses them if they have an additional instruction', () => {
    const [draft] = drafts as [Draft & { drawn: Drawn }]
    const more = (instruction: Draft['instructions'][number]): Draft => ({
      ...draft,
      instructions: [...draft.instructions.slice(-3), instruction], // leaves room for the addition
    })
    const { user } = draft.drawn
    expect(codes(more(parts.transfer(user, address('stranger'), 5_000)), learned)).toContain('SOL_TRANSFER')
    const stranger = parts.instruction(address('program'), [1], [parts.signer(user)])
    expect(codes(more(stranger), learned)).toContain('PROGRAM_UNKNOWN')
    const signs = keypair('another co-signer')
    const gives = parts.transfer(signs.publicKey, user, 5_000)
    expect(codes({ ...more(gives), coSigners: [...draft.coSigners, signs] }, learned)).toContain('CO_SIGNER')
  })
})

test('the learner distinguishes percentage fees, fixed fees and other amounts, and recognizes tip accounts', () => {
  const of = (fee: (amount: bigint) => bigint) => {
    const drafts = [1, 2, 3].map((seed) => {
      const drawn = draw(seed)
      const { user, mint, tokens: one, most: two, asked, amount } = drawn
      const buy = parts.pumpBuy({ user, mint, one, two })
      return { ...honest('pump buy', seed), asked, instructions: [buy, parts.transfer(user, FEES, fee(amount))] }
    })
    return findingsOf(drafts.map((draft) => sampleOf(draft))).payments[0]
  }
  expect(of((amount) => amount / 200n)).toMatchObject({ percent: 0.5, isFixed: false, isTip: false })
  expect(of((amount) => (amount * 125n + 9_999n) / 10_000n)).toMatchObject({ percent: 1.25 })
  expect(of(() => 77_000n)).toMatchObject({
    percent: undefined,
    isFixed: true,
    lamports: { least: 77_000n, most: 77_000n },
  })
  expect(of((amount) => amount % 99_991n)).toMatchObject({ percent: undefined, isFixed: false })
  expect(findingsOf([sampleOf(honest('tip', 1))]).payments.map(({ isTip }) => isTip)).toContain(true)
})

describe('an unknown program', () => {
  const opaque = (seed: number, place = 1): Draft => {
    const { user, mint } = draw(seed)
    const accounts = [address(`other ${seed}`), address(`more ${seed}`)]
    accounts.splice(place, 0, mint)
    const call = parts.instruction(address('router'), [9, 8, 7, 6, 5, 4, 3, 2, seed], [...accounts, parts.signer(user)])
    const facts = { rentLamports: RENT, guardLamports: 100_000_000n, walletLamports: 10n ** 10n }
    return { ...honest('pump buy', seed), instructions: [call], facts }
  }

  test('the policy describes an unknown program by the positions of mint and wallet, and requires guards', () => {
    const findings = findingsOf([1, 2, 3].map((seed) => sampleOf(opaque(seed))))
    const router = address('router').toBase58()
    const found = { id: router, decode: 'opaque', buy: ['0908070605040302'], sell: [], mint: 1, wallet: 3 }
    expect(findings.programs).toMatchObject([{ ...found, unreadBytes: { least: 1n, most: 1n } }])
    const policy = policyFrom(findings)
    expect(policy).toMatchObject({ guard: 'required', programs: [{ id: router, mintIndex: 1, userIndex: 3 }] })
    expect(codes(opaque(4), policy)).toEqual([])
    expect(codes(opaque(4, 0), policy)).toContain('WRONG_MINT')
  })

  test('the report lists all accounts at risk; the policy lists only those with SOL whose data do not contain the key of the wallet', () => {
    const draft = opaque(1)
    const [fees, record, gone] = ['venue fees', 'record', 'gone'].map((name) => address(name).toBase58()) as string[]
    const named = { ...plainAccount(5n, address('venue').toBase58()), data: draft.payer.toBytes() }
    const change = (at: string, before: ReturnType<typeof plainAccount> | null) => ({
      address: at,
      before,
      after: before,
    })
    const changes = [change(fees!, plainAccount(9n)), change(record!, named), change(gone!, null)]
    const findings = findingsOf([sampleOf(draft, { inner: [], changes })])
    const { policy, unsaid } = proposalOf(findings)
    expect(policy.opaqueAccounts).toEqual([fees])
    expect(policyFrom(findings).opaqueAccounts).toEqual([fees])
    expect(unsaid).toEqual([
      expect.stringContaining('check that none of them was derived from the wallet by a seed'),
      expect.stringContaining(`${record} names the wallet`),
      expect.stringMatching(/^no sample sells through/),
    ])
    expect(findingsText(findings).join('\n')).toContain(`${fees} holds SOL, in all`)
  })

  test('a program without fixed positions of mint and wallet cannot be described by a policy', () => {
    const findings = findingsOf([sampleOf(opaque(1)), sampleOf(opaque(2, 0))])
    const { policy, unsaid } = proposalOf(findings)
    expect(policy.programs).toBe(undefined)
    expect(unsaid).toEqual([expect.stringContaining('which a policy cannot describe')])
  })

  test('a program with a co-signer cannot be guarded, and the proposal warns about it', () => {
    const draft = opaque(1)
    const gives = parts.transfer(CO_SIGNER.publicKey, draft.payer, 5_000)
    const signed = { ...draft, coSigners: [CO_SIGNER], instructions: [...draft.instructions, gives] }
    expect(proposalOf(findingsOf([sampleOf(signed)])).unsaid).toEqual([
      expect.stringMatching(/^no sample sells through /),
      expect.stringContaining('maxWalletSol'),
    ])
  })
})

describe('samples read from a node', () => {
  const draft = honest('pump buy for an amount of SOL, with a lookup table', 3)
  const { user, mint } = draft.drawn
  const decoded = decodeTransaction(compile(draft).bytes)
  const rent = (lamports: bigint, owner: string) => ({ ...plainAccount(lamports), owner })

  function scriptFor(): NodeScript {
    const script = nodeScript()
    for (const table of draft.tables) {
      const head = Buffer.alloc(56)
      head.writeUInt32LE(1, 0)
      head.fill(255, 4, 12)
      const data = Buffer.concat([head, ...table.state.addresses.map((one) => one.toBytes())])
      script.before.set(table.key.toBase58(), { lamports: 1n, owner: PROGRAMS.lookupTable, executable: false, data })
    }
    script.before.set(user.toBase58(), plainAccount(10n ** 10n))
    return script
  }

  async function read(script: NodeScript): Promise<Sample | string> {
    if (!decoded.ok) throw new Error(decoded.reason)
    const clock = new SimulatedClock()
    const sample = readSample({ rpc: scriptedNode(script), clock }, decoded.transaction, draft.asked)
    for (let step = 0; step < 10; step++) {
      await settled()
      clock.advanceTo(clock.now() + 500)
    }
    return sample
  }

  test('a sample contains the lookup tables, inner calls, opened accounts and records of its transaction', async () => {
    const script = scriptFor()
    script.inner = [PROGRAMS.pumpFees, address('inner').toBase58()]
    script.after.set(parts.ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens: 5n }))
    const record = draft.instructions.at(-2)?.keys.at(-1)?.pubkey.toBase58() as string
    script.after.set(record, rent(1_400_000n, PROGRAMS.bondingCurve))
    const sample = (await read(script)) as Sample
    expect(sample.problem).toBe('')
    const findings = findingsOf([sample])
    expect(findings).toMatchObject({
      ...{
        tables: draft.tables.map(({ key }) => ({ address: key.toBase58(), samples: 1 })),
        notSimulated: 0,
        records: 1,
      },
      inner: expect.arrayContaining([{ id: address('inner').toBase58(), samples: 1 }]),
      opened: expect.arrayContaining([expect.objectContaining({ what: "the wallet's account of the token" })]),
    })
    expect(policyFrom(findings)).toMatchObject({ innerPrograms: [address('inner').toBase58()], rentAccounts: 1 })
    expect(findingsText(findings).join('\n')).toContain("the wallet's account of the token: 0.00203928 SOL, in all")
  })

  test('if a sample failed or cannot be simulated, its inner calls are unknown and the proposal warns about it', async () => {
    const script = scriptFor()
    script.err = { InstructionError: [2, { Custom: 6002 }] }
    const sample = (await read(script)) as Sample
    expect(sample).toMatchObject({
      simulated: undefined,
      problem: 'the simulation failed: {"InstructionError":[2,{"Custom":6002}]}',
    })
    expect(proposalOf(findingsOf([sample])).unsaid).toEqual([
      '1 of 1 samples could not be simulated: their inner calls and new accounts are unknown',
    ])
    const silent = scriptFor()
    silent.refuses = ['simulateTransaction']
    expect(await read(silent)).toMatch(/simulateTransaction/)
  })

  test('a node that reports no inner instructions causes a warning about innerPrograms', async () => {
    const script = scriptFor()
    script.inner = null
    const { unsaid } = proposalOf(findingsOf([(await read(script)) as Sample]))
    expect(unsaid).toEqual([expect.stringContaining('innerPrograms may be incomplete')])
  })
})

test('the learner reads the upgrade authority of each program', async () => {
  const script = nodeScript()
  const [fixed, changeable, given, gone] = ['fixed', 'changeable', 'given up', 'gone'].map((name) => address(name))
  const loader = 'BPFLoaderUpgradeab1e11111111111111111111111'
  const holders = new Map([
    [changeable, Buffer.from([1, ...address('boss').toBytes()])],
    [given, Buffer.from([0])],
  ])
  script.before.set(String(fixed), {
    lamports: 1n,
    owner: 'BPFLoader2111111111111111111111111111111111',
    executable: true,
    data: Buffer.alloc(8),
  })
  for (const [program, authority] of holders) {
    const holder = address(`code of ${program}`)
    script.before.set(String(program), {
      lamports: 1n,
      owner: loader,
      executable: true,
      data: Buffer.from([2, 0, 0, 0, ...holder.toBytes()]),
    })
    const data = Buffer.concat([Buffer.from([3, 0, 0, 0]), Buffer.alloc(8), authority, Buffer.alloc(50)])
    script.before.set(String(holder), { lamports: 1n, owner: loader, executable: false, data })
  }
  const asked = [fixed, changeable, given, gone].map(String)
  const found = await readUpgraders(scriptedNode(script), asked)
  expect(asked.map((id) => found.get(id))).toEqual(['', address('boss').toBase58(), '', undefined])
  script.refuses = ['getMultipleAccounts']
  expect(await readUpgraders(scriptedNode(script), asked)).toEqual(new Map())
})

test('the fee of a sale by an opaque program is capped in SOL, because the proceeds of the sale cannot be read', () => {
  const { user, mint, sale } = draw(1)
  const call = parts.instruction(address('router'), [1, 2, 3, 4, 5, 6, 7, 8], [mint, parts.signer(user)])
  const facts = { rentLamports: RENT, guardLamports: 100_000_000n, walletLamports: 10n ** 10n }
  const base = { ...honest('pump buy', 1), asked: sale, facts }
  const selling = (fee: number): Draft => ({ ...base, instructions: [call, parts.transfer(user, FEES, fee)] })
  const policy = policyFrom(findingsOf([sampleOf(selling(50_000))]))
  const both = { ...policy, feeAccounts: policy.feeAccounts.map((one) => ({ ...one, maxPercent: 1 })) }
  for (const learned of [policy, both]) {
    expect(codes(selling(50_000), learned)).toEqual([])
    expect(codes(selling(50_001), learned)).toEqual(['FEE_OVER'])
  }
  const onlyShare = both.feeAccounts.map((one) => ({ ...one, maxLamports: null }))
  expect(codes(selling(1), { ...both, feeAccounts: onlyShare })).toEqual(['FEE_OVER'])
})
