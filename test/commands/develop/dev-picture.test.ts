import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { devPicture } from '../../../src/commands/develop/dev-picture.ts'

const file = 'strategies/dips.ts'
const place = `${file}:12:5`
const message = `the strategy /home/ann/trading/bots/${file} cannot be used: ${place}: SyntaxError: Expression expected`
const frame = ['> 12 | const sum = ', '     |     ^']
const failed = { number: 2, message, frame }
const state = {
  ...{ title: 'sandbox, seed 1', head: 1_780_000_000_000, stretchFrom: 1_779_999_400_000 },
  ...{ version: undefined, comparison: undefined, failed },
}

test.each([60, 80, 140])(
  'at %i columns, `dev` wraps the error message of a strategy that failed, and shows the whole message',
  (columns) => {
    const lines = devPicture(state, file, columns, 40).map((line) => stripVTControlCharacters(line))
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns)
    const first = lines.indexOf('version 2 failed; no version runs')
    const last = lines.indexOf('> 12 | const sum = ')
    expect(lines.slice(first + 1, last).join(' ')).toBe(message)
  },
)
