import { existsSync, renameSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sendCommand } from '../../src/live/control/client.ts'
import { MINT } from '../sandbox/still-market.ts'
import { called } from './called.ts'
import { openStage, orderIn, tell } from './stage.ts'
import { until } from './until.ts'

const isFilled = ({ state }: { state: string }): boolean => state === 'filled'

test('a run continues from a backup that was made while the bots traded, with the position and its exit', async ({
  onTestFinished,
}) => {
  const stage = await openStage({}, onTestFinished)
  const running = await stage.go()
  await tell(running.handle, stage, 'buy')
  await orderIn(stage, 'o1', isFilled)
  await stage.settled()
  const backup = `${stage.journal}.backup`
  expect(await called(['backup', stage.journal, backup])).toMatchObject({ code: 0, stderr: '' })
  await running.stop()
  lose(stage.journal)
  expect(await called(['backup', backup, stage.journal])).toMatchObject({ code: 0, stderr: '' })
  const again = await stage.go()
  expect(stage.books().positions).toMatchObject([{ mint: MINT, state: 'open' }])
  await tell(again.handle, stage, 'sell')
  await orderIn(stage, 'o2', isFilled)
  await stage.settled()
  await again.stop()
  expect(await stage.complaints()).toEqual([])
})

test('after a restore, the audit finds a buy made after the backup; entries stop until it is accepted, and it is not repeated', async ({
  onTestFinished,
}) => {
  const stage = await openStage({}, onTestFinished)
  const running = await stage.go()
  const backup = `${stage.journal}.backup`
  expect(await called(['backup', stage.journal, backup])).toMatchObject({ code: 0 })
  await tell(running.handle, stage, 'buy') // which the backup does not contain
  await orderIn(stage, 'o1', isFilled)
  await stage.settled()
  const bought = stage.sandbox.ledger.transactionCount
  const signature = stage.books().fills[0]?.signature ?? ''
  await running.stop()
  lose(stage.journal)
  expect(await called(['backup', backup, stage.journal])).toMatchObject({ code: 0 })

  const again = await stage.go()
  await until('the audit to find the buy', () => stage.books().inputs.some(({ kind }) => kind === 'foreign'))
  const { stops } = (await sendCommand(stage.journal, { command: 'status' })) as {
    stops: { code: string; text: string }[]
  }
  expect(stops).toContainEqual(
    expect.objectContaining({ code: 'FOREIGN_TX', text: expect.stringContaining(signature) }),
  )
  expect((await tell(again.handle, stage, 'buy')).answer).toBe('FOREIGN_TX')
  expect(stage.sandbox.ledger.transactionCount).toBe(bought)
  // As docs/operate.md describes, `adopt` gives the tokens to a bot, and `resume --accept` allows entries again.
  expect(await called(['adopt', MINT, '--bot', 'puppet', '--journal', stage.journal])).toMatchObject({ code: 0 })
  expect(await called(['resume', '--accept', signature, '--journal', stage.journal])).toMatchObject({ code: 0 })
  await until('the position', () => stage.books().positions[0]?.state === 'open')
  await tell(again.handle, stage, 'sell')
  await orderIn(stage, 'o1', isFilled)
  await again.stop()
})

test('after a restore, a position that was sold after the backup is listed as open, and the chain refuses to sell it again', async ({
  onTestFinished,
}) => {
  const stage = await openStage({}, onTestFinished)
  const running = await stage.go()
  await tell(running.handle, stage, 'buy')
  await orderIn(stage, 'o1', isFilled)
  await stage.settled()
  const backup = `${stage.journal}.backup`
  expect(await called(['backup', stage.journal, backup])).toMatchObject({ code: 0 })
  await tell(running.handle, stage, 'sell')
  await orderIn(stage, 'o2', isFilled)
  await stage.settled()
  await running.stop()
  const moved = stage.sandbox.ledger.transactionCount
  lose(stage.journal)
  expect(await called(['backup', backup, stage.journal])).toMatchObject({ code: 0 })
  const again = await stage.go()
  await until('the audit to find the sale', () => stage.books().inputs.some(({ kind }) => kind === 'foreign'))
  await tell(again.handle, stage, 'sell')
  await orderIn(stage, 'o2', ({ state, code }) => state === 'failed' && code === 'INSUFFICIENT_BALANCE')
  expect(stage.sandbox.ledger.transactionCount).toBe(moved)
  await again.stop()
})

/** Removes a journal and its log files, as if their disk was lost. */
function lose(journal: string): void {
  renameSync(journal, `${journal}.lost`)
  for (const end of ['-wal', '-shm']) {
    if (existsSync(`${journal}${end}`)) rmSync(`${journal}${end}`)
  }
}
