import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { NewFiles } from './new-files.ts'

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const LONGEST_NAME = 40

interface Manifest {
  readonly name?: unknown
  readonly dependencies?: Readonly<Record<string, unknown>>
  readonly devDependencies?: Readonly<Record<string, unknown>>
}

/** Returns the files of a new strategy and its test. In a project both are in strategies/; in Sluice's own repository
 *  the test is in test/. `taken`: names of existing strategies. Throws SluiceError for an invalid name or folder. */
export function strategyFiles(name: string, folder: string, taken: readonly string[]): NewFiles {
  if (!NAME.test(name) || name.length > LONGEST_NAME)
    throw refused(`${name} is not a valid name of a strategy: use small letters, digits and dashes, such as fast-dips`)
  if (taken.includes(name)) throw refused(`a strategy ${name} already exists; choose another name`)
  const manifest = manifestOf(folder)
  const ownRepository = manifest.name === 'sluice'
  const test = ownRepository ? `test/strategies/${name}.test.ts` : `strategies/${name}.test.ts`
  const imported = ownRepository ? `../../strategies/${name}.ts` : `./${name}.ts`
  const files = {
    [`strategies/${name}.ts`]: strategyText(name),
    [test]: strategyTestText(imported, hasVitest(manifest) ? 'vitest' : 'node:test'),
  }
  const existing = Object.keys(files).find((file) => existsSync(join(folder, file)))
  if (existing !== undefined) throw refused(`${existing} already exists; choose another name`)
  return files
}

function manifestOf(folder: string): Manifest {
  const path = join(folder, 'package.json')
  if (!existsSync(path))
    throw refused('this folder has no package.json: change to your project, or create one with `sluice init`')
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) ?? {}) as Manifest
  } catch {
    throw refused('package.json of this folder is not valid JSON')
  }
}

function hasVitest({ dependencies, devDependencies }: Manifest): boolean {
  return dependencies?.vitest !== undefined || devDependencies?.vitest !== undefined
}

function refused(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}

/** Returns the source code of a small working strategy, with a comment on each part of the strategy API. */
export function strategyText(name: string): string {
  return `import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: '${name}',
  about: 'Buys a token that rose from its low; the exits sell it.',
  // This schema defines types and defaults, checks the YAML, and limits the values that \`sluice sweep\` tests.
  params: z.object({
    risePercent: z.number().min(1).max(500).default(20),
    sizeSol: z.number().min(0.001).max(10).default(0.05),
  }),
  keys: ['trades'],
  // Exits of each position, unless the order or the bot's YAML sets others.
  exits: { stopLossPercent: 20, trailingPercent: 25, maxHoldSeconds: 900 },
  // State of each token; freed together with the token.
  token: () => ({ low: Number.POSITIVE_INFINITY }),
  start: (params, bot) => ({
    onTrade(_trade, token) {
      const { price, state } = token
      if (price === undefined) return // no robust price before enough prints
      state.low = Math.min(state.low, price)
      const rise = (price / state.low - 1) * 100
      if (rise < params.risePercent || token.position) return
      state.low = price // the next rise counts from here, whether this buy is accepted or refused
      bot.buy(token, { sol: params.sizeSol, reason: \`rose \${rise.toFixed(1)} %\` })
    },
  }),
})
`
}

/** Source of the strategy's test for node:test or vitest. `file`: import path of the strategy. */
export function strategyTestText(file: string, runner: 'node:test' | 'vitest'): string {
  const imports = [
    "import assert from 'node:assert/strict'",
    runner === 'node:test' && "import { test } from 'node:test'",
    "import { holdsAtMost, inRandomMarkets, isOutWithin, testStrategy } from 'sluice/testing'",
    runner === 'vitest' && "import { test } from 'vitest'",
    `import strategy from '${file}'`,
  ]
  return `${imports.filter(Boolean).join('\n')}

const params = { risePercent: 25, sizeSol: 0.1 }

test('a rise from the low is bought once, and the stop-loss sells the position', () => {
  const rig = testStrategy(strategy, { params })
  rig.settle(1e-7) // trades until this is the robust price, SOL per token
  rig.settle(1.3e-7)
  assert.deepEqual(
    rig.orders.map(({ side, sol, reason }) => ({ side, sol, reason })),
    [{ side: 'buy', sol: 0.1, reason: 'rose 30.0 %' }],
  )
  rig.advance(2) // the buy lands
  assert.equal(rig.position()?.state, 'open')
  rig.settle(0.9e-7)
  assert.equal(rig.orders[1]?.side, 'sell')
  rig.advance(2)
  assert.equal(rig.position()?.state, 'closed')
})

test('a smaller rise causes no buy', () => {
  const rig = testStrategy(strategy, { params })
  rig.settle(1e-7)
  rig.settle(1.2e-7)
  assert.deepEqual(rig.orders, [])
})

test('a single outlier does not change the robust price', () => {
  const rig = testStrategy(strategy, { params })
  rig.settle(1e-7)
  rig.trade({ price: 9e-7 })
  rig.trade({ price: 1e-7 })
  assert.deepEqual(rig.orders, [])
})

// A strategy that declares \`bars\` is also tested with \`rig.bar('1m', { close: 1.3e-7, volumeSol: 20 })\`.

test('in random markets the bot stays within its limits', () => {
  const options = { seeds: 5, seconds: 60, params, limits: { maxOpenPositions: 2 }, exits: { maxHoldSeconds: 30 } }
  inRandomMarkets(strategy, options, (rig) => {
    rig.always(holdsAtMost({ tokens: 2, sol: 0.25 }))
    rig.always(isOutWithin(60))
  })
})
`
}
