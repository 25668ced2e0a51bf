import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadPolicy } from '../../src/config/builder-policy-file.ts'
import { MINT } from '../sandbox/still-market.ts'
import { called } from './called.ts'
import { openStage, orderIn, tell } from './stage.ts'

test('learn-builder learns a builder policy from unsigned samples, shows it, and stores it when it is accepted', async ({
  onTestFinished,
}) => {
  // A blockhash is valid for 150 slots. With slots of 150 ms this is 22 s, so that even a busy machine simulates a
  // sample in time.
  const stage = await openStage({ slotMs: 150 }, onTestFinished)
  const { configFile, folder, requests, sandbox } = stage
  const running = await stage.go()
  await tell(running.handle, stage, 'buy')
  await orderIn(stage, 'o1', ({ state }) => state === 'filled')
  await stage.settled()
  await running.stop()
  requests.length = 0

  const policy = join(folder, 'policy.yaml')
  const learn = (...args: string[]) => called(['learn-builder', configFile, '--policy', policy, ...args])
  const { code, stdout, stderr } = await learn('--mint', MINT)
  expect(code, `${stdout}${stderr}`).toBe(0)
  expect(requests).toEqual(['POST /api/transaction/buy', 'POST /api/transaction/buy', 'POST /api/transaction/sell'])
  expect(stdout).toMatch(/1\. buy \S+ for 0\.001 SOL: .*simulated/)
  expect(stdout).toMatch(/0\.5 % of what is spent|to \S+: /)
  expect(stdout.match(/\d\. accepted/g)).toHaveLength(3)
  expect(`${stdout}${stderr}`).not.toContain(sandbox.apiKeys.standard)
  const hash = /--accept ([0-9a-f]+)/.exec(stdout)?.[1] as string

  expect(await learn('--accept', '0'.repeat(24))).toMatchObject({ code: 4 })
  expect(existsSync(policy)).toBe(false)
  expect(await learn('--accept', hash)).toMatchObject({ code: 0 })
  expect(statSync(policy).mode & 0o777).toBe(0o600)
  expect(stdout).toContain(readFileSync(policy, 'utf8'))
  expect(loadPolicy(policy)).toMatchObject({ ok: true, policy: { guard: 'required', coSigners: [] } })
  expect(await learn('--accept', hash)).toMatchObject({ code: 2 }) // a policy is accepted once

  // With --json, a sample that cannot be read is reported as well.
  sandbox.faults.set({ kind: 'builtGarbage', count: 1 })
  const again = await learn('--mint', MINT, '--json')
  const said = JSON.parse(again.stdout.trim().split('\n').at(-1) as string)
  expect([again.code, said]).toMatchObject([1, { accepted: false, file: `${policy}.proposed` }])
  expect(await stage.complaints()).toEqual([])
})
