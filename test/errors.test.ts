import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ERRORS, ExitCode } from '../src/base/errors.ts'
import { ORDER_MOVES } from '../src/engine/order.ts'
import { ATTEMPT_MOVES } from '../src/orders/attempt.ts'

interface Row {
  readonly section: string
  readonly code: string
  readonly means: string
  readonly advice: string
}

const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8')
const rows = rowsOf(page)
const STATES = ['States of an order', 'States of an attempt', 'Exit codes', 'Alarms without an error code']

function rowsOf(text: string): Row[] {
  return text.split(/^## /m).flatMap((part) => {
    const [section = '', ...lines] = part.split('\n')
    return lines.flatMap((line) => {
      const [, code, means = '', advice = ''] = /^\| (\w+) \| (.*) \| (.*) \|$/.exec(line) ?? []
      return code === undefined || code === 'code' || code === 'state' || code === 'alarm'
        ? []
        : [{ section, code, means, advice }]
    })
  })
}

function codesIn(section: string): string[] {
  return rows.filter((row) => row.section === section).map(({ code }) => code)
}

describe('docs/errors.md', () => {
  test('docs/errors.md lists every error code once, in the order of src/base/errors.ts, with its meaning', () => {
    const documented = rows.filter(({ section }) => !STATES.includes(section))
    expect(documented.map(({ code, means }) => `${code}: ${means}`)).toEqual(
      Object.entries(ERRORS).map(([code, means]) => `${code}: ${means}`),
    )
  })
  test('docs/errors.md has every state of orders and attempts, every alarm without a code, and every exit code', () => {
    expect(codesIn('States of an order').toSorted()).toEqual(Object.keys(ORDER_MOVES).toSorted())
    expect(codesIn('States of an attempt').toSorted()).toEqual(Object.keys(ATTEMPT_MOVES).toSorted())
    expect(codesIn('Exit codes')).toEqual(Object.values(ExitCode).map(String))
    const { code: alarms = '' } =
      /type StrategyEnd = (?<code>.*)/.exec(readFileSync(new URL('../src/engine/messages.ts', import.meta.url), 'utf8'))
        ?.groups ?? {}
    expect(codesIn('Alarms without an error code')).toEqual(alarms.split(' | ').map((code) => code.slice(1, -1)))
  })
  test('every code in docs/errors.md has a remedy', () => {
    expect(rows.filter(({ means, advice }) => means.trim() === '' || advice.trim() === '')).toEqual([])
  })
})
