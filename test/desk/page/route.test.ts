import { expect, test } from 'vitest'
import { SHORTCUTS, shortcutOf } from '../../../src/desk/page/keys.ts'
import { addressOf, PAGES, routeOf } from '../../../src/desk/page/route.ts'

test.each([
  ['', 'overview', ''],
  ['#/money', 'money', ''],
  ['#/bots/a%20b%2Fc', 'bots', 'a b/c'],
  ['#/nothing/x', 'overview', ''],
  ['#/token/%E0%A4%A', 'token', ''],
  ['#/__proto__/x', 'overview', ''],
])('the address %j opens the page %s', (hash, page, subject) => {
  expect(routeOf(hash)).toEqual({ page, subject })
})

test('every page has an address that opens this page again', () => {
  for (const { key } of PAGES) expect(routeOf(addressOf(key, '<b>/ ?#'))).toEqual({ page: key, subject: '<b>/ ?#' })
})

test('a keyboard shortcut of the page works only without other keys, and outside of text fields', () => {
  const key = { key: 'h', ctrlKey: false, metaKey: false, altKey: false }
  expect(shortcutOf(key, false)).toBe('h')
  expect(shortcutOf(key, true)).toBeUndefined()
  expect(shortcutOf({ ...key, ctrlKey: true }, false)).toBeUndefined()
  expect(shortcutOf({ ...key, key: 'q' }, false)).toBeUndefined()
  expect(new Set(SHORTCUTS.map((shortcut) => shortcut.key)).size).toBe(SHORTCUTS.length)
})
