import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readSources } from '../support/architecture.ts'
import { until } from './until.ts'
import { openVenue, type Venue } from './venue.ts'

const HOOK = new URL('./loaded-packages.mjs', import.meta.url).href
const SIGNER_READY = 'the signer is ready'

async function venueWith(executor: 'cloud' | 'local'): Promise<Venue> {
  const bot = { name: 'trips', strategy: 'round-trips', params: { rounds: 1 }, exits: { maxHoldSeconds: 3 } } as const
  const venue = await openVenue({ bots: [{ ...bot, executor }] }, (close) => onTestFinished(close))
  if (executor === 'cloud') return venue
  const { keypair, policy, wallet } = venue.sandbox
  venue.configure({
    service: { builderPolicy: policy },
    wallet: { publicKey: wallet, keypair: `file:${keypair}` },
  })
  return venue
}

test('only src/chain/web3.ts imports @solana/web3.js', () => {
  const importers = readSources('src', 'strategies').filter(({ imports }) =>
    imports.some(({ specifier }) => specifier.startsWith('@solana/')),
  )
  expect(importers.map(({ path }) => path)).toEqual(['src/chain/web3.ts'])
})

test.each([
  ['a live run with the cloud executor does not load', 'cloud', /POST \/api\/trade\/buy/, false],
  ['a live run with the local executor loads', 'local', /POST \/api\/transaction/, true],
] as const)('%s @solana/web3.js', async (_title, executor, request, isLoaded) => {
  const venue = await venueWith(executor)
  const loaded = join(venue.folder, 'loaded-packages')
  const run = venue.run({ NODE_OPTIONS: `--import=${HOOK}`, SLUICE_LOADED: loaded })
  await until(`${request}`, () => venue.requests.some((one) => request.test(one)) || run.child.exitCode !== null)
  run.child.kill('SIGTERM')
  await run.ended
  expect(venue.requests.join('\n'), run.stderr).toMatch(request)
  expect(run.stderr.includes(SIGNER_READY)).toBe(isLoaded)
  expect(readFileSync(loaded, 'utf8').split('\n').includes('@solana/web3.js')).toBe(isLoaded)
})
