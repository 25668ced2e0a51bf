import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadPolicy } from '../../src/config/builder-policy-file.ts'
import { BUILT_IN_POLICY, JITO_TIPS, PRESETS } from '../../src/orders/builder-policy.ts'
import { isPublicKey } from '../../src/solana/base58.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const key = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'

function load(yaml: string) {
  return loadPolicy(folder.write('builder-policy.yaml', yaml))
}

test('every key of a builder policy file is read', () => {
  const result = load(`
programs: [pump, { id: ${key}, decode: pump-swap }, { id: ${key}, decode: opaque, buy: [66063d12], mintIndex: 2, userIndex: 6 }]
innerPrograms: [${key}]
feeAccounts: [{ address: ${key}, maxPercent: 1 }, { address: ${key}, maxSol: 0.01 }]
tips: { accounts: jito, maxSol: 0.001 }
coSigners: [${key}]
lookupTables: [${key}]
pools: [${key}]
opaqueAccounts: [${key}]
maxPriorityFeeSol: 0.003
rentAccounts: 2
maxWalletSol: 0.5
guard: required
sellNumber: tokens
`)
  expect(result).toEqual({
    ok: true,
    policy: {
      name: expect.stringContaining('builder-policy.yaml'),
      programs: [
        PRESETS.pump,
        { id: key, decode: 'pump-swap' },
        { id: key, decode: 'opaque', buy: ['66063d12'], sell: [], mintIndex: 2, userIndex: 6 },
      ],
      innerPrograms: [key],
      feeAccounts: [
        { address: key, maxPercent: 1, maxLamports: null },
        { address: key, maxPercent: null, maxLamports: 10_000_000 },
      ],
      tips: { accounts: JITO_TIPS, maxLamports: 1_000_000 },
      coSigners: [key],
      lookupTables: [key],
      pools: [key],
      opaqueAccounts: [key],
      maxPriorityFeeLamports: 3_000_000,
      rentAccounts: 2,
      maxWalletLamports: 500_000_000,
      guard: 'required',
      sellNumber: 'tokens',
    },
  })
})

test('a key that a builder policy leaves out has the strict default', () => {
  const result = load('programs: [pump, pump-swap]\n')
  expect(result.ok && { ...result.policy, name: 'built in' }).toEqual(BUILT_IN_POLICY)
  expect(BUILT_IN_POLICY).toMatchObject({ feeAccounts: [], coSigners: [], maxWalletLamports: null, sellNumber: null })
  expect(JITO_TIPS.every(isPublicKey)).toBe(true)
})

/** Wrong builder policy files with their errors, in the form `line:column path: message`. */
const table: [what: string, yaml: string, ...errors: (string | RegExp)[]][] = [
  ['a list in place of a map', '- pump\n', '1:1 : expected a map that begins with `programs:`, found a list'],
  ['a misspelt key', 'programs: [pump]\nfeeAcounts: []\n', '2:1 feeAcounts: unknown key; did you mean feeAccounts?'],
  [
    'an unknown preset',
    'programs: [pumpp]\n',
    /^1:12 programs\[0\]: expected pump.*found "pumpp"; did you mean pump\?$/,
  ],
  ['an empty list of programs', 'programs: []\n', '1:11 programs: expected at least 1 entry, found an empty list'],
  ['an invalid address', 'coSigners: [abc]\n', '1:13 coSigners[0]: expected an address: base58 of 32 bytes'],
  [
    'a fee without a cap',
    `feeAccounts:\n  - address: ${key}\n`,
    '2:5 feeAccounts[0]: expected a cap: maxPercent, maxSol or both',
  ],
  ['an unknown instruction layout', `programs: [{ id: ${key}, decode: raydium }]\n`, /^1:\d+ programs\[0\]/],
  [
    'an opaque program without its account indexes',
    `programs:\n  - { id: ${key}, decode: opaque, buy: [zz] }\n`,
    '2:79 programs[0].buy[0]: expected bytes in hexadecimal form, as in 66063d1201daebea',
    '2:5 programs[0].mintIndex: missing; expected a number',
    '2:5 programs[0].userIndex: missing; expected a number',
  ],
  ['a tip without a cap', 'tips: { accounts: jito }\n', '1:7 tips.maxSol: missing; expected a number'],
  [
    'a negative priority fee',
    'maxPriorityFeeSol: -1\n',
    '1:20 maxPriorityFeeSol: expected at least 0 and at most 10000, found -1',
  ],
]

test.each(table)('in a builder policy file, %s is reported with its line and column', (_what, yaml, ...errors) => {
  const result = load(yaml)
  const said = result.ok
    ? []
    : result.errors.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)
  expect(said).toHaveLength(errors.length)
  for (const [index, error] of errors.entries())
    expect(said[index]).toMatch(error instanceof RegExp ? error : exactly(error))
})

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
}

test('a missing builder policy file is reported', () => {
  expect(loadPolicy('/nowhere/builder-policy.yaml')).toMatchObject({ ok: false, errors: [{ message: 'no such file' }] })
})

test('the example file of a builder policy is valid', () => {
  const example = new URL('../../config/builder-policy.example.yaml', import.meta.url)
  expect(loadPolicy(fileURLToPath(example))).toMatchObject({ ok: true, policy: { rentAccounts: 2, coSigners: [] } })
})
