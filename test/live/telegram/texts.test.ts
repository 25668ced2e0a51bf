import { expect, test } from 'vitest'
import { textOf } from '../../../src/live/telegram/texts.ts'

test.each([498, 499, 500])('a line is never cut within a character: Telegram refuses such a text (%i)', (length) => {
  const text = textOf([`${'a'.repeat(length)}${'\u{1f4a9}'.repeat(300)}`])
  expect(text.isWellFormed()).toBe(true)
  expect(text.length).toBeGreaterThan(490)
})
