import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
const root = join(import.meta.dirname, '../../..')
folder.write(
  'wrong.yaml',
  `service: sandbox
bots:
  - { name: dips, strategy: dip-buyr, mode: live }
  - { name: "\\e]0;owned\\a", strategy: dip-buyer }
walets: {}
`,
)
folder.write(
  'right.yaml',
  `service: { baseUrl: https://x.io/api, wsUrl: wss://x.io/api/data, apiKey: env:SLUICE_TEST_NONE }
chain: { rpc: [{ url: env:SLUICE_TEST_NONE }] }
bots:
  - { name: dips, strategy: dip-buyer, exits: { takeProfitPercent: 10, whenStale: { policy: poll, afterSeconds: 5 } }, limits: { maxSolPerOrder: 0.05, minSolPerOrder: 0.05, maxSlippagePercent: 20, maxSolPerMint: 0.05, maxOpenPositions: 2 } }
  - { name: free, strategy: dip-buyer, params: { sizeSol: 1 } }
`,
)

function check(args: string[], env: NodeJS.ProcessEnv = {}, cwd = folder.path) {
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...rest } = process.env
  const command = [join(root, 'bin/sluice.js'), 'check', ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd,
    encoding: 'utf8',
    env: { ...rest, ...env },
  })
  return { status, stdout, stderr }
}

test('check prints all errors of an invalid file on stderr and exits with 2', () => {
  const { status, stdout, stderr } = check(['wrong.yaml'])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toContain(
    'wrong.yaml:3:29 bots[0].strategy: no strategy of this name in strategies/; did you mean dip-buyer?\n',
  )
  expect(stderr).toContain('wrong.yaml:5:1 walets: unknown key; did you mean wallets?\n')
  expect(stderr).not.toContain('\u001b')
  expect(stderr).toMatch(/\n3 errors\n$/)
})

test('check --json prints the errors of an invalid file in one line and exits with 2', () => {
  const { status, stdout, stderr } = check(['wrong.yaml', '--json'])
  expect({ status, stderr, lines: stdout.split('\n').length }).toEqual({ status: 2, stderr: '', lines: 2 })
  const { ok, errors, bots } = JSON.parse(stdout)
  expect({ ok, bots }).toEqual({ ok: false, bots: [] })
  expect(errors.at(-1)).toEqual({
    file: 'wrong.yaml',
    line: 5,
    column: 1,
    path: 'walets',
    message: 'unknown key; did you mean wallets?',
  })
})

test('check without a file, or with a missing file, exits with 2', () => {
  expect(check([]).status).toBe(2)
  expect(check(['none.yaml'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('none.yaml:1:1 no such file'),
  })
})

test('check of a valid file shows the effective values, the worst case and warnings, and reads no secret', () => {
  const { status, stdout, stderr } = check(['right.yaml'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(`No errors in right.yaml

  service  https://x.io/api
  key      env:SLUICE_TEST_NONE
  plan     auto
  rpc      env:SLUICE_TEST_NONE
  journal  ${folder.path}/data/sluice.db, keeps the tape for 14 days

dips  dip-buyer, paper, 10 SOL
  params   dropPercent 15, sizeSol 0.05
  exits    take-profit 10 %, without a price for 5 s: its pool is read over RPC every 5 s
  buys     slippage 5 %, priority fee auto, sent within 2 s, on events up to 3 s old, at most 5 % above the price of the decision
  sales    slippage 5, 15, 30, 50 %, retry after 3 s
  limits   at most 0.05 SOL per buy, at least 0.05 SOL per buy, slippage at most 20 %, at most 2 positions, 0.05 SOL per mint
  mints    checked before the first buy

free  dip-buyer, paper, 10 SOL
  params   dropPercent 15, sizeSol 1
  exits    none
  buys     slippage 5 %, priority fee auto, sent within 2 s, on events up to 3 s old, at most 5 % above the price of the decision
  sales    slippage 5, 15, 30, 50 %, retry after 3 s
  limits   none
  mints    checked before the first buy

Worst case, SOL
            one buy  per hour   per day  held at once  total loss  break-even
  dips       0.0726  no limit  no limit           0.1      0.1453       8.8 %
  free      151.512  no limit  no limit      no limit    no limit       2.8 %
  together           no limit  no limit      no limit    no limit
Upper bounds of the SOL that leaves the wallet, with maximum slippage, fees and rent. They assume buys of the smallest
size, because then the fees are largest; limits.minSolPerOrder and limits.maxSlippagePercent lower the bounds. Fees of
sales are not included. Break-even is the price rise at which a sale returns the fees and the rent of a typical buy,
before slippage and price impact.

Plan, Standard until the service reports the plan
  requests 100 per minute, 20 of them reserved for exits
  feed     1 of 5 connections; 1 subscription, plus one per position
  flatten  no upper bound, because limits.maxOpenPositions is not set

Warnings
right.yaml:4:68 bots[0].exits.takeProfitPercent: 10 % is less than twice the 8.8 % that fees and rent cost: raise the target, or buy larger amounts
`)
})

test('check --json of a valid file shows the bots in the units of the YAML', () => {
  const { status, stdout } = check(['right.yaml', '--json'])
  expect(status).toBe(0)
  const { ok, errors, bots, plan, worstTogether } = JSON.parse(stdout)
  expect({ ok, errors }).toEqual({ ok: true, errors: [] })
  expect(plan).toMatchObject({
    requestsPerMinute: 100,
    keptForExits: 20,
    connections: 5,
    keys: 1,
    flattenSeconds: null,
  })
  expect(worstTogether).toMatchObject({ solPerOrder: 151.512044287, lossSol: null })
  expect(bots[0]).toMatchObject({
    name: 'dips',
    mode: 'paper',
    orders: { slippagePercent: 5, priorityFeeSol: 'auto', ttlSeconds: 2, maxEventAgeSeconds: 3, maxChasePercent: 5 },
    limits: { maxSolPerOrder: 0.05, maxSolPerHour: null, maxOpenPositions: 2 },
    tokenChecks: { when: 'before', freezeAuthority: 'refuse', transferFee: 'refuse' },
    worstCase: { solPerOrder: 0.072644287, solPerHour: null, solPerDay: null, exposureSol: 0.1, lossSol: 0.145288574 },
    breakEvenPercent: 8.78,
  })
})

test('check uses colour only with FORCE_COLOR, and never with NO_COLOR', () => {
  const sequence = '\u001b['
  expect(check(['right.yaml']).stdout).not.toContain(sequence)
  expect(check(['right.yaml'], { FORCE_COLOR: '1' }).stdout).toContain(sequence)
  expect(check(['right.yaml'], { NO_COLOR: '1' }).stdout).not.toContain(sequence)
})

test('the configuration of `npm start` is valid', () => {
  expect(check(['config/demo.yaml'], {}, root)).toMatchObject({ status: 0, stderr: '' })
})
