import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { deskLine } from '../../../src/commands/desk/desk-of-run.ts'

const ORIGIN = 'http://127.0.0.1:7420'
const LINK = `${ORIGIN}/login?link=${'a'.repeat(32)}`

test.each([
  ['at 140 columns', 140, `desk  ${LINK}  logs in once, within 5 minutes`],
  ['at 80 columns', 80, `desk  ${LINK}  logs i…`],
  ['at 60 columns, too few for the link,', 60, `desk  ${ORIGIN}  \`sluice desk link\` makes a log…`],
])("the line with the desk's address fits %s, and never shows only a part of a login link", (_name, columns, line) => {
  const shown = stripVTControlCharacters(deskLine(ORIGIN, LINK, columns))
  expect(shown).toBe(line)
  expect(shown.length).toBeLessThanOrEqual(columns)
})
