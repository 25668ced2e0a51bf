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

/** A strategy of this name and its test, where they belong: beside each other in a project, in test/ in the repository
 *  of Sluice. `taken`: names that mean something else already. Throws SluiceError where the name or the folder does not
 *  fit. */
export function strategyFiles(name: string, folder: string, taken: readonly string[]): NewFiles {
  if (!NAME.test(name) || name.length > LONGEST_NAME)
    throw refused(`${name} is no name for a strategy: small letters, digits and dashes, such as fast-dips`)
  if (taken.includes(name)) throw refused(`there is a strategy ${name} already; choose another name`)
  const manifest = manifestOf(folder)
  const ownRepository = manifest.name === 'sluice'
  const test = ownRepository ? `test/strategies/${name}.test.ts` : `strategies/${name}.test.ts`
  const imported = ownRepository ? `../../strategies/${name}.ts` : `./${name}.ts`
  const files = {
    [`strategies/${name}.ts`]: strategyText(name),
    [test]: strategyTestText(imported, hasVitest(manifest) ? 'vitest' : 'node:test'),
  }
  const there = Object.keys(files).find((file) => existsSync(join(folder, file)))
  if (there !== undefined) throw refused(`${there} is there already, and nothing is overwritten; choose another name`)
  return files
}

function manifestOf(folder: string): Manifest {
  const path = join(folder, 'package.json')
  if (!existsSync(path))
    throw refused('there is no package.json here: go to your project, or make one with `sluice init`')
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) ?? {}) as Manifest
  } catch {
    throw refused('the package.json here is not JSON')
  }
}

function hasVitest({ dependencies, devDependencies }: Manifest): boolean {
  return dependencies?.vitest !== undefined || devDependencies?.vitest !== undefined
}

function refused(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}

/** A small strategy that works: something to change, with a word about each part of the contract. */
export function strategyText(name: string): string {
  return `import { defineStrategy, z } from 'sluice'

export default defineStrategy({
  name: '${name}',
  about: 'Buys a token that rose from its low, and lets the exits sell it.',
  // One schema gives the types, the defaults, the check of the YAML, and what \`sluice sweep\` may vary.
  params: z.object({
    risePercent: z.number().min(1).max(500).default(20),
    sizeSol: z.number().min(0.001).max(10).default(0.05),
  }),
  keys: ['trades'],
  // Used where neither the order nor the bot's YAML names any.
  exits: { stopLossPercent: 20, trailingPercent: 25, maxHoldSeconds: 900 },
  // What is kept for each token; freed with it.
  token: () => ({ low: Number.POSITIVE_INFINITY }),
  start: (params, bot) => ({
    onTrade(_trade, token) {
      const { price, state } = token
      if (price === undefined) return // the robust price; none before enough prints
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

/** Its test, for node:test or vitest. `file`: what the test imports it from. */
export function strategyTestText(file: string, runner: 'node:test' | 'vitest'): string {
  const imports = [
    "import assert from 'node:assert/strict'",
    runner === 'node:test' && "import { test } from 'node:test'",
    "import { testStrategy } from 'sluice/testing'",
    runner === 'vitest' && "import { test } from 'vitest'",
    `import strategy from '${file}'`,
  ]
  return `${imports.filter(Boolean).join('\n')}

const params = { risePercent: 25, sizeSol: 0.1 }

test('a rise from the low is bought once, and the stop-loss sells it', () => {
  const rig = testStrategy(strategy, { params })
  rig.settle(1e-7) // prints until the robust price is this, SOL a token
  rig.settle(1.3e-7)
  assert.deepEqual(
    rig.orders.map(({ side, sol, reason }) => ({ side, sol, reason })),
    [{ side: 'buy', sol: 0.1, reason: 'rose 30.0 %' }],
  )
  rig.advance(2) // it lands
  assert.equal(rig.position()?.state, 'open')
  rig.settle(0.9e-7)
  assert.equal(rig.orders[1]?.side, 'sell')
  rig.advance(2)
  assert.equal(rig.position()?.state, 'closed')
})

test('a smaller rise is not', () => {
  const rig = testStrategy(strategy, { params })
  rig.settle(1e-7)
  rig.settle(1.2e-7)
  assert.deepEqual(rig.orders, [])
})

test('one print far off is no price', () => {
  const rig = testStrategy(strategy, { params })
  rig.settle(1e-7)
  rig.trade({ price: 9e-7 })
  rig.trade({ price: 1e-7 })
  assert.deepEqual(rig.orders, [])
})
`
}
