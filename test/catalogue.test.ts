import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

/** Number of rows of each kind of failure in the catalogue of failures. The rows of kind N are N1 to N15, and so on. */
const ROWS = { N: 15, F: 16, S: 18, C: 21, D: 8, P: 13, G: 13 }

interface Row {
  readonly id: string
  readonly wrong: string
  readonly must: string
  readonly shown: string
}

interface Link {
  readonly file: string
  readonly title: string
}

const page = readFileSync(new URL('../docs/failures.md', import.meta.url), 'utf8')

describe('the catalogue of failures', () => {
  test('the catalogue has every row once, in order', () => {
    const ids = Object.entries(ROWS).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, index) => `${kind}${index + 1}`),
    )
    expect(rowsIn(page).map(({ id }) => id)).toEqual(ids)
  })
  test('each row names the failure, the required outcome and the test', () => {
    expect(rowsIn(page).flatMap((row) => complaintsOf(row))).toEqual([])
  })
  test.each<[what: string, row: string, complaint: string]>([
    ['a row without a test', '| N1 | x | y |  |', 'N1 is not linked to a test'],
    ['a row with the word "later" in place of a test', '| N1 | x | y | *later* |', 'N1 is not linked to a test'],
    [
      'a row that does not name the failure',
      '| N1 |  | y | `chain/wallet/wallet.test.ts` a test of the wallet |',
      'N1 does not say',
    ],
    [
      'a row with a test file that does not exist',
      '| N1 | x | y | `chain/none.test.ts` a test |',
      'N1: there is no test/chain/none.test.ts',
    ],
    [
      'a row with a test that does not exist',
      '| N1 | x | y | `chain/wallet/wallet.test.ts` flies |',
      'N1: test/chain/wallet/wallet.test.ts has no test "flies"',
    ],
    [
      'a row with a text that is in the test file but is not a title',
      '| N1 | x | y | `chain/wallet/wallet.test.ts` getBalance |',
      'has no test "getBalance"',
    ],
  ])('the check detects %s', (_what, row, complaint) => {
    expect(
      rowsIn(row)
        .flatMap((one) => complaintsOf(one))
        .join(),
    ).toContain(complaint)
  })
  test('a title and the name of a case in a table are tests', () => {
    const source = `const table = [['a case', 1]]
      test.each(table)('of %s', () => {})
      describe('a group', () => test('alone', () => expect('text').toBe('text')))`
    expect(titlesIn(source)).toEqual(new Set(['a case', 'of %s', 'a group', 'alone']))
  })
})

function rowsIn(text: string): Row[] {
  return text.split('\n').flatMap((line) => {
    const [, id = '', wrong = '', must = '', shown = ''] = line.split('|').map((cell) => cell.trim())
    return /^[A-Z]\d+$/.test(id) ? [{ id, wrong, must, shown }] : []
  })
}

function complaintsOf({ id, wrong, must, shown }: Row): string[] {
  if (wrong === '' || must === '') return [`${id} does not say what goes wrong, or what the required outcome is`]
  const links = linksIn(shown)
  if (links.length === 0) return [`${id} is not linked to a test`]
  return links.flatMap(({ file, title }) => {
    const path = fileURLToPath(new URL(file, import.meta.url))
    if (!existsSync(path)) return [`${id}: there is no test/${file}`]
    return titlesIn(readFileSync(path, 'utf8')).has(title) ? [] : [`${id}: test/${file} has no test "${title}"`]
  })
}

function linksIn(shown: string): Link[] {
  return shown.split('<br>').flatMap((link) => {
    const [, file, title] = /^`([\w./-]+\.test\.ts)` (.+)$/.exec(link.trim()) ?? []
    return file === undefined || title === undefined ? [] : [{ file, title }]
  })
}

/**
 * Returns the titles of tests and groups, and the names of cases. The name of a case is the first text in a row of its
 * table.
 */
function titlesIn(source: string): Set<string> {
  const titles = new Set<string>()
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [title] = node.arguments
      const isTest = /^(test|it|describe)\b/.test(node.expression.getText())
      if (isTest && title !== undefined && ts.isStringLiteralLike(title)) titles.add(title.text)
    }
    if (ts.isArrayLiteralExpression(node) && isTable(node.parent)) {
      const [name] = node.elements
      if (name !== undefined && ts.isStringLiteralLike(name)) titles.add(name.text)
    }
    ts.forEachChild(node, look)
  }
  look(ts.createSourceFile('test.ts', source, ts.ScriptTarget.Latest, true))
  return titles
}

/** Returns whether the array is a table of cases: an argument of `each` or `for`, directly or by its name. */
function isTable(node: ts.Node): boolean {
  if (!ts.isArrayLiteralExpression(node)) return false
  const { parent } = node
  return (
    ts.isVariableDeclaration(parent) ||
    (ts.isCallExpression(parent) && /\.(each|for)$/.test(parent.expression.getText()))
  )
}
