import type { PublicKey } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../../src/base/machine.ts'
import { lamports } from '../../../src/base/units.ts'
import { type Examination, examine } from '../../../src/chain/verifier/checks-before-signing.ts'
import { decodeTransaction } from '../../../src/solana/transaction.ts'
import { address, compile, type Draft } from './draft.ts'
import { type Drawn, honest } from './honest.ts'
import { ata, TOKEN, transfer, WSOL } from './parts.ts'
import {
  type Account,
  mintAccount,
  type NodeScript,
  nodeScript,
  plainAccount,
  scriptedNode,
  tableAccount,
  tokenAccount,
} from './scripted-node.ts'

type Case = Draft & { drawn: Drawn }

/** A clock on which every wait ends at once. `passed` receives the length of each wait. */
const clockOf = (passed: (ms: number) => void): Clock => ({
  now: () => 0,
  after: (ms, run) => {
    passed(ms)
    run()
    return () => {}
  },
})

async function look(draft: Draft, script: NodeScript, passed: (ms: number) => void = () => {}): Promise<Examination> {
  const decoded = decodeTransaction(compile(draft).bytes)
  if (!decoded.ok) throw new Error(decoded.reason)
  const { asked, policy } = draft
  const chain = { rpc: scriptedNode(script), clock: clockOf(passed) }
  return examine({ transaction: decoded.transaction, asked, policy, chain })
}

const SOL = 1_000_000_000n
const thief = address('thief')

/** Returns a node on which the honest buy costs slightly less than the permitted maximum. */
function buying(draft: Case): NodeScript {
  const { user, mint, amount, tokens } = draft.drawn
  const script = nodeScript()
  script.before.set(user.toBase58(), plainAccount(10n * SOL))
  script.before.set(mint.toBase58(), mintAccount())
  script.after.set(user.toBase58(), plainAccount(10n * SOL - amount - 2_500_000n))
  script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens }))
  for (const { key, state } of draft.tables) script.before.set(key.toBase58(), tableAccount(state.addresses))
  return script
}

/** Returns a node on which the honest sale brings slightly more than its minimum output. */
function selling(draft: Case): NodeScript {
  const { user, mint, most, tokens } = draft.drawn
  const script = nodeScript()
  script.before.set(user.toBase58(), plainAccount(SOL))
  script.before.set(mint.toBase58(), mintAccount())
  script.after.set(user.toBase58(), plainAccount(SOL + most))
  script.before.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens: tokens * 2n }))
  script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens }))
  return script
}

const codesOf = ({ refusals }: Examination) => refusals.map(({ code }) => code)

describe('with a simulation', () => {
  test.each(['pump buy', 'pump buy for an amount of SOL, with a lookup table', 'tip'])(
    'an honest %s is accepted',
    async (shape) => {
      const draft = honest(shape, 4)
      const examined = await look(draft, buying(draft))
      expect(examined.refusals).toEqual([])
      expect(examined.simulated).toEqual({ lamports: -draft.drawn.amount - 2_500_000n, tokens: draft.drawn.tokens })
      expect(examined.notUnderstood).toEqual([])
    },
  )

  test('an honest sale of a share is accepted, and a sale of more than the share is refused', async () => {
    const draft = honest('pump sale of a share of the balance', 4)
    expect(codesOf(await look(draft, selling(draft)))).toEqual([])
    const script = selling(draft)
    const { user, mint, tokens } = draft.drawn
    script.before.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens: tokens * 2n - 4n }))
    expect(codesOf(await look(draft, script))).toEqual(['AMOUNT_OVER'])
  })

  test('a transaction is accepted if its node is a few slots behind and knows the blockhash a moment later', async () => {
    const draft = honest('pump buy', 4)
    expect(codesOf(await look(draft, { ...buying(draft), blockhashValid: 'later' }))).toEqual([])
  })

  describe("a sale on a node that does not show the wallet's tokens yet", () => {
    const draft = honest('pump sale of a share of the balance', 4)
    const account = ata(draft.drawn.user, draft.drawn.mint).toBase58()
    const behind = (more: Partial<NodeScript> = {}) => {
      const script = { ...selling(draft), ...more }
      const held = script.before.get(account) as Account
      script.before.delete(account)
      return { script, catchUp: () => script.before.set(account, held) }
    }

    test('a sale is accepted if its node is a few slots behind and shows the bought tokens within 0.8 s', async () => {
      const { script, catchUp } = behind()
      let waits = 0
      const examined = await look(draft, script, () => {
        if (++waits === 4) catchUp()
      })
      expect(codesOf(examined)).toEqual([])
      expect(examined.simulated?.tokens).toBe(-draft.drawn.tokens)
    })

    test('a sale is refused if five readings of the node within 0.8 s do not show the bought tokens', async () => {
      const { script } = behind()
      const waits: number[] = []
      expect(codesOf(await look(draft, script, (ms) => waits.push(ms)))).toEqual(['AMOUNT_OVER'])
      expect(waits).toEqual([200, 200, 200, 200])
      expect(script.asked.filter((method) => method === 'getMultipleAccounts')).toHaveLength(5)
    })

    test("a node that does not know the blockhash either is behind, and the sale's transaction is built again", async () => {
      const { script } = behind({ blockhashValid: false })
      expect(codesOf(await look(draft, script))).toEqual(['BLOCKHASH_UNKNOWN'])
    })

    test('once the node shows the bought tokens, a sale with another defect is refused only for that defect', async () => {
      const { script, catchUp } = behind()
      const stolen = { ...draft, instructions: [...draft.instructions, transfer(draft.drawn.user, thief, SOL)] }
      expect(codesOf(await look(stolen, script, catchUp))).toEqual(['SOL_TRANSFER'])
    })
  })

  const spoils: [what: string, code: string, spoil: (script: NodeScript, drawn: Drawn) => void][] = [
    ['its simulation fails', 'SIMULATION_FAILED', (script) => (script.err = { InstructionError: [3, { Custom: 1 }] })],
    [
      'the price has moved by more than the slippage',
      'SLIPPAGE_EXCEEDED',
      (script) => (script.err = { InstructionError: [3, { Custom: 6002 }] }),
    ],
    ['the blockhash is unknown', 'BLOCKHASH_UNKNOWN', (script) => (script.blockhashValid = false)],
    ['an inner instruction calls an unknown program', 'INNER_PROGRAM', (script) => (script.inner = [thief.toBase58()])],
    [
      'more SOL leaves the wallet than the order may cost',
      'SIMULATION_LOSS',
      (script, { user }) => script.after.set(user.toBase58(), plainAccount(SOL)),
    ],
    [
      'fewer tokens than the minimum output arrive',
      'SIMULATION_LOSS',
      (script, { user, mint, tokens }) =>
        script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens: tokens - 2n })),
    ],
    [
      "the wallet's account belongs to a program afterwards",
      'ACCOUNT_CHANGED',
      (script, { user, amount }) =>
        script.after.set(user.toBase58(), plainAccount(10n * SOL - amount, thief.toBase58())),
    ],
    [
      "the wallet's token account has another owner afterwards",
      'ACCOUNT_CHANGED',
      (script, { user, mint, tokens }) =>
        script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: thief, tokens })),
    ],
    [
      'another key is delegate of the tokens afterwards',
      'ACCOUNT_CHANGED',
      (script, { user, mint, tokens }) =>
        script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens, delegate: thief })),
    ],
    [
      'another key is close authority of the token account afterwards',
      'ACCOUNT_CHANGED',
      (script, { user, mint, tokens }) =>
        script.after.set(
          ata(user, mint).toBase58(),
          tokenAccount({ mint, owner: user, tokens, closeAuthority: thief }),
        ),
    ],
    [
      'the token account is frozen afterwards',
      'ACCOUNT_CHANGED',
      (script, { user, mint, tokens }) =>
        script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens, frozen: true })),
    ],
    [
      'the wallet has less of another token afterwards',
      'ACCOUNT_CHANGED',
      (script, { user }) => {
        const mint = address('other mint')
        // Any writable account of the message can belong to the wallet.
        const where = address('venue fee').toBase58()
        script.before.set(where, tokenAccount({ mint, owner: user, tokens: 9n }))
        script.after.set(where, tokenAccount({ mint, owner: user, tokens: 8n }))
      },
    ],
    [
      'the minimum output is far below the output of the simulated trade',
      'MIN_OUT',
      (script, { user }) => script.after.set(user.toBase58(), plainAccount(10n * SOL - 1_000n)),
    ],
    ['the node cannot simulate', 'CHAIN_SILENT', (script) => script.refuses.push('simulateTransaction')],
    ['the node does not answer', 'CHAIN_SILENT', (script) => script.refuses.push('getMultipleAccounts')],
  ]
  test.each(spoils)('if %s, the transaction is refused with %s', async (_what, code, spoil) => {
    const draft = honest('pump buy', 4)
    const script = buying(draft)
    spoil(script, draft.drawn)
    expect(codesOf(await look(draft, script))).toEqual([code])
  })

  test('a buy is refused if it brings far more than its minimum output', async () => {
    const draft = honest('pump buy for an amount of SOL, with a lookup table', 4)
    const { user, mint, tokens } = draft.drawn
    const script = buying(draft)
    script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens: tokens * 20n }))
    expect(codesOf(await look(draft, script))).toEqual(['MIN_OUT'])
  })

  test('a sale is refused if more tokens leave the wallet than ordered', async () => {
    const draft = honest('pump sale of a share of the balance', 4)
    const { user, mint, tokens } = draft.drawn
    const script = selling(draft)
    script.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens: tokens - 2n }))
    expect(codesOf(await look(draft, script))).toEqual(['SIMULATION_LOSS'])
  })

  test('a sale is refused if it brings far more than its minimum output, because a third party could take the difference', async () => {
    const draft = honest('pump sale of a share of the balance', 4)
    const script = selling(draft)
    const { user, most } = draft.drawn
    script.after.set(user.toBase58(), plainAccount(SOL + most * 20n))
    expect(codesOf(await look(draft, script))).toEqual(['MIN_OUT'])
  })

  test('a refused transaction is not simulated, and a node that reports no inner instructions causes a warning', async () => {
    const draft = honest('pump buy', 4)
    const script = buying(draft)
    await look({ ...draft, asked: { ...draft.asked, mint: thief.toBase58() } }, script)
    expect(script.asked).not.toContain('simulateTransaction')
    const silent = await look(draft, { ...script, inner: null })
    expect(silent.notUnderstood).toEqual(['the node does not report inner instructions'])
  })
})

describe('lookup tables', () => {
  const shape = 'pump buy for an amount of SOL, with a lookup table'
  const first = (draft: Case) => draft.tables[0]!
  const spoils: [what: string, spoil: (script: NodeScript, draft: Case) => void][] = [
    ['a lookup table that does not exist', (script, draft) => script.before.delete(first(draft).key.toBase58())],
    [
      'a lookup table that belongs to another program',
      (script, draft) => set(script, draft, { owner: thief.toBase58() }),
    ],
    ['a lookup table that is being closed', (script, draft) => replace(script, draft, { closing: true })],
    ['a lookup table that is too short', (script, draft) => replace(script, draft, {}, 3)],
    [
      'a lookup table that was extended in the present Solana slot',
      (script, draft) => replace(script, draft, { grewAt: 100n, from: 2 }),
    ],
    [
      'a lookup table that the policy does not list',
      (_script, draft) => (draft.policy = { ...draft.policy, lookupTables: [thief.toBase58()] }),
    ],
    [
      'a lookup table that contains an address twice',
      (script, draft) => set(script, draft, twice(first(draft).state.addresses)),
    ],
  ]
  const replace = (script: NodeScript, draft: Case, how: Parameters<typeof tableAccount>[1], most = 99) => {
    set(script, draft, tableAccount(first(draft).state.addresses.slice(0, most), how))
  }
  const set = (script: NodeScript, draft: Case, change: object) => {
    const key = first(draft).key.toBase58()
    script.before.set(key, { ...script.before.get(key)!, ...change })
  }
  const twice = (addresses: PublicKey[]) => tableAccount(addresses.map(() => addresses[0] as PublicKey))

  test.each(spoils)('a transaction is refused if it uses %s', async (_what, spoil) => {
    const draft = honest(shape, 4)
    const script = buying(draft)
    spoil(script, draft)
    expect(codesOf(await look(draft, script))).toContain('LOOKUP_TABLE')
  })

  test('the verifier reads the addresses of the lookup table on the chain, so it finds an account of a thief in it', async () => {
    const draft = honest(shape, 4)
    const script = buying(draft)
    const { user, mint } = draft.drawn
    const changed = first(draft).state.addresses.map((one) => (one.equals(ata(user, mint)) ? ata(thief, mint) : one))
    set(script, draft, tableAccount(changed))
    expect(codesOf(await look(draft, script))).toContain('ACCOUNT_FOREIGN')
  })

  test('without an RPC, a transaction with a lookup table is refused', async () => {
    const draft = honest(shape, 4)
    const decoded = decodeTransaction(compile(draft).bytes)
    if (!decoded.ok) throw new Error(decoded.reason)
    const { asked, policy } = draft
    expect(codesOf(await examine({ transaction: decoded.transaction, asked, policy }))).toEqual(['LOOKUP_TABLE'])
  })
})

// While an account is empty, a program can make a thief its delegate or its close authority. The thief could then take
// the proceeds of a later sale.
test.each(['delegate', 'closeAuthority'] as const)(
  'a sale is refused if its wrapped SOL would remain in an account that has a %s',
  async (right) => {
    const draft = honest('pump-swap sell', 4)
    const { user } = draft.drawn
    draft.instructions = draft.instructions.filter(({ data }) => !(data.length === 1 && data[0] === 9))
    const account = ata(user, WSOL).toBase58()
    const state = { mint: WSOL, owner: user }
    for (const [others, codes] of [
      [{}, []],
      [{ [right]: thief }, ['ACCOUNT_CHANGED']],
    ] as const) {
      const script = selling(draft)
      script.after.set(user.toBase58(), plainAccount(SOL - 2_500_000n))
      script.before.set(account, tokenAccount({ ...state, ...others, tokens: 0n }))
      const left = tokenAccount({ ...state, ...others, tokens: draft.drawn.most })
      script.after.set(account, { ...left, lamports: left.lamports + draft.drawn.most + 2_500_000n })
      expect(codesOf(await look(draft, script))).toEqual(codes)
    }
  },
)

describe('an opaque program, whose instructions Sluice cannot read', () => {
  const opaque = (most: bigint): Case => {
    const draft = honest('pump buy', 4)
    const program = {
      id: thief.toBase58(),
      decode: 'opaque',
      buy: ['66063d12'],
      sell: [],
      mintIndex: 2,
      userIndex: 6,
    } as const
    const maxWalletLamports = lamports(Number(most))
    const trade = draft.instructions.find(({ keys }) => keys.length === 18)!
    trade.programId = thief
    return { ...draft, policy: { ...draft.policy, programs: [program], maxWalletLamports } }
  }

  test('the transaction is accepted if the wallet holds at most maxWalletSol, and may cost the whole balance', async () => {
    const draft = opaque(10n * SOL)
    const examined = await look(draft, buying(draft))
    expect(codesOf(examined)).toEqual([])
    expect(examined.bound).toBe(10n * SOL)
    expect(examined.notUnderstood).toEqual([expect.stringContaining(thief.toBase58())])
  })

  test('the transaction is refused if the wallet holds more than maxWalletSol, if the trade brings no tokens, or if it is not the ordered trade', async () => {
    const rich = opaque(10n * SOL - 1n)
    expect(codesOf(await look(rich, buying(rich)))).toEqual(['OPAQUE_UNBOUNDED'])
    const draft = opaque(10n * SOL)
    const script = buying(draft)
    script.after.delete(ata(draft.drawn.user, draft.drawn.mint).toBase58())
    expect(codesOf(await look(draft, script))).toEqual(['SIMULATION_LOSS'])
    const other = opaque(10n * SOL)
    const trade = other.instructions.find(({ programId }) => programId.equals(thief))!
    trade.keys[2] = { pubkey: WSOL, isSigner: false, isWritable: false }
    trade.keys[6] = { pubkey: TOKEN, isSigner: false, isWritable: false }
    trade.data[0] = 0
    expect(codesOf(await look(other, buying(other)))).toEqual(['INSTRUCTION_UNKNOWN', 'WRONG_MINT', 'ACCOUNT_FOREIGN'])
  })

  test('the transaction is refused if the simulation pays more than ordered', async () => {
    const draft = opaque(10n * SOL)
    if (draft.asked.side !== 'buy') throw new Error('expected a draft of a buy')
    // The most that the order may cost with its slippage. Tip, fees and rent add less than 0.05 SOL.
    const most = (BigInt(draft.asked.lamports) * BigInt(100 + draft.asked.slippagePercent)) / 100n
    for (const [spent, codes] of [
      [most, []],
      [most + SOL / 20n, ['AMOUNT_OVER']],
      [5n * SOL, ['AMOUNT_OVER']],
    ] as const) {
      const script = buying(draft)
      script.after.set(draft.asked.wallet, plainAccount(10n * SOL - spent))
      expect(codesOf(await look(draft, script))).toEqual(codes)
    }
  })

  test("may use the wallet's account of wrapped SOL while the account is empty", async () => {
    for (const [tokens, codes] of [
      [0n, []],
      [1n, ['ACCOUNT_FOREIGN']],
    ] as const) {
      const draft = opaque(10n * SOL)
      const { user } = draft.drawn
      const trade = draft.instructions.find(({ programId }) => programId.equals(thief))!
      trade.keys.push({ pubkey: ata(user, WSOL), isSigner: false, isWritable: true })
      const script = buying(draft)
      script.before.set(ata(user, WSOL).toBase58(), tokenAccount({ mint: WSOL, owner: user, tokens }))
      expect(codesOf(await look(draft, script))).toEqual(codes)
    }
  })

  test('the transaction is refused if the simulation sells more than ordered', async () => {
    const draft = honest('pump sale of a share of the balance', 4)
    const { user, mint, tokens } = draft.drawn
    const program = {
      id: thief.toBase58(),
      decode: 'opaque',
      buy: [],
      sell: ['33e685a4'],
      mintIndex: 2,
      userIndex: 6,
    } as const
    draft.instructions.find(({ keys }) => keys.length === 16)!.programId = thief
    draft.policy = { ...draft.policy, programs: [program], maxWalletLamports: lamports(Number(SOL)) }
    expect(codesOf(await look(draft, selling(draft)))).toEqual([])
    const more = selling(draft)
    more.after.set(ata(user, mint).toBase58(), tokenAccount({ mint, owner: user, tokens: tokens - 2n }))
    expect(codesOf(await look(draft, more))).toEqual(['AMOUNT_OVER'])
    const number = { kind: 'number', decimal: '5' } as const
    const asked = { ...draft.asked, side: 'sell' as const, amount: number }
    expect(codesOf(await look({ ...draft, asked }, selling(draft)))).toEqual(['SELL_UNBOUNDED'])
  })

  // A program can leave the accounts of a transaction unchanged in the simulation, and change them on the chain. So the
  // simulation does not show whether such an account is at risk.
  const handed = address('venue fee').toBase58()
  test.each<[what: string, code: string | undefined, state: (drawn: Drawn) => ReturnType<typeof plainAccount>]>([
    [
      'tokens of another mint that the wallet holds',
      'ACCOUNT_FOREIGN',
      ({ user }) => tokenAccount({ mint: thief, owner: user, tokens: 1n }),
    ],
    ['wrapped SOL', 'ACCOUNT_FOREIGN', ({ user }) => tokenAccount({ mint: WSOL, owner: user, tokens: 1n })],
    [
      'tokens of the ordered mint in another account of the wallet',
      'ACCOUNT_FOREIGN',
      ({ user, mint }) => tokenAccount({ mint, owner: user, tokens: 1n }),
    ],
    ['a program that the policy does not name', 'INNER_PROGRAM', () => ({ ...plainAccount(1n), executable: true })],
    [
      'an empty account of the wallet for another mint',
      'ACCOUNT_FOREIGN',
      ({ user }) => tokenAccount({ mint: thief, owner: user, tokens: 0n }),
    ],
    ['tokens that belong to another owner', undefined, ({ mint }) => tokenAccount({ mint, owner: thief, tokens: 1n })],
  ])('a transaction whose program receives %s is accepted, or refused with a code: %s', async (_what, code, state) => {
    const draft = opaque(10n * SOL)
    const script = buying(draft)
    script.before.set(handed, state(draft.drawn))
    expect(codesOf(await look(draft, script))).toEqual(code === undefined ? [] : [code])
    expect(script.asked.includes('simulateTransaction')).toBe(code === undefined)
    const known = honest('pump buy', 4)
    const same = buying(known)
    same.before.set(handed, state(known.drawn))
    expect(codesOf(await look(known, same))).toEqual([])
  })
})
