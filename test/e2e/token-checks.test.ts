import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MINT } from '../sandbox/still-market.ts'
import { openRpcProxy } from './rpc-proxy.ts'
import { openStage, orderIn, type Stage, tell } from './stage.ts'

const FREEZE_AUTHORITY_AT = 46

/** Opens a stage whose RPC reports that the token has a freeze authority. */
async function freezable(tokenChecks: object, atEnd: Parameters<typeof openStage>[1]): Promise<Stage> {
  const stage = await openStage({ config: { defaults: { tokenChecks } } }, atEnd)
  const proxy = await openRpcProxy(stage.sandbox.rpcUrl, {
    answer: ({ method, params, answer }) => {
      if (method === 'getAccountInfo' && params[0] === MINT) {
        const { value } = answer.result as { value: { data: [string, string] } }
        const data = Buffer.from(value.data[0], 'base64')
        data.writeUInt32LE(1, FREEZE_AUTHORITY_AT)
        value.data[0] = data.toString('base64')
      }
      return answer
    },
  })
  atEnd(() => proxy.close())
  writeFileSync(join(stage.folder, 'rpc'), proxy.url, { mode: 0o600 })
  return stage
}

const mintsTold = (stage: Stage): string[] =>
  stage.books().inputs.flatMap(({ kind, json }) => (kind === 'mint' ? [json] : []))

test.concurrent('a token with a freeze authority is not bought, and the next buy is refused at once', async ({
  onTestFinished,
}) => {
  const stage = await freezable({ when: 'before' }, onTestFinished)
  const running = await stage.go()
  expect((await tell(running.handle, stage, 'buy')).answer).toBe('o1')
  expect(await orderIn(stage, 'o1', ({ state }) => state === 'failed')).toMatchObject({ code: 'FREEZE_AUTHORITY' })
  expect((await tell(running.handle, stage, 'buy')).answer).toBe('FREEZE_AUTHORITY')
  await running.stop()
  expect(stage.requests).not.toContain('POST /api/trade/buy')
  expect(mintsTold(stage)).toEqual([expect.stringContaining('"traits":["freezeAuthority"]')])
  expect(await stage.complaints()).toEqual([])
})

test.concurrent('if tokens are checked after the buy, a token with a freeze authority is bought at once, and sold completely as soon as its mint is read', async ({
  onTestFinished,
}) => {
  const stage = await freezable({ when: 'after' }, onTestFinished)
  const running = await stage.go()
  expect((await tell(running.handle, stage, 'buy')).answer).toBe('o1')
  // An order that was not sent yet is cancelled. The tokens of an order that was sent are sold.
  const { state } = await orderIn(stage, 'o1', (one) => one.state === 'filled' || one.state === 'cancelled')
  if (state === 'filled') await orderIn(stage, 'o2', (one) => one.side === 'sell' && one.state === 'filled')
  await stage.settled()
  await running.stop()
  expect(stage.books().positions.map((one) => one.state)).toEqual(['closed'])
  expect(stage.books().outputs).toContainEqual(expect.objectContaining({ kind: 'alarm', code: 'FREEZE_AUTHORITY' }))
  expect(await stage.complaints()).toEqual([])
})
