import { expect, test } from 'vitest'
import { createLog } from '../../src/runtime/log.ts'
import { Notices } from '../../src/runtime/notices.ts'
import { redactor } from '../../src/runtime/redactor.ts'

test('the view shows the warnings and errors of the process, newest first and without secrets, but not the lines of bots', () => {
  const notices = new Notices()
  let written = 0
  const log = createLog({
    ...{ level: 'debug', format: 'json', redact: redactor(['my-secret-token']), noticed: notices.addLine },
    write: () => written++,
  })
  const before = Date.now()
  log.info('the desk is served')
  log.warn({ from: '127.0.0.1' }, 'desk: login refused')
  log.warn({ bot: 'dips', seq: 5 }, 'a warning of a strategy')
  log.error({ bot: 'dips', code: 'STRATEGY_THREW' }, 'alarm')
  log.error({ err: new Error('my-secret-token was refused') }, 'telegram does not answer')
  notices.add({ time: before, level: 'alert', kind: 'disk', bot: '', text: 'the disk is almost full' })
  expect(written).toBe(5)
  const [alert, error, warning, ...others] = notices.list
  expect(others).toEqual([])
  expect(alert).toMatchObject({ level: 'alert', kind: 'disk' })
  expect(error).toMatchObject({ level: 'error', kind: '', bot: '' })
  expect(error?.text).toMatch(/^telegram does not answer .*\[redacted\] was refused/)
  expect(warning).toMatchObject({ level: 'warn', text: 'desk: login refused from=127.0.0.1' })
  expect(warning?.time).toBeGreaterThanOrEqual(before)
})

test('the last 50 notices are kept, and a list that was read does not change', () => {
  const notices = new Notices()
  for (let count = 0; count < 60; count++) notices.addLine(count, 'warn', `line ${count}`, {})
  const { list } = notices
  notices.addLine(60, 'warn', 'line 60', {})
  expect(list.map(({ text }) => text)).toEqual(Array.from({ length: 50 }, (_none, index) => `line ${59 - index}`))
  expect(notices.list[0]?.text).toBe('line 60')
  expect(notices.list).toHaveLength(50)
})
