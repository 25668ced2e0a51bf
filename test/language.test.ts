import { expect, test } from 'vitest'
import { findingsOf } from '../scripts/language/findings.ts'

const messages = (path: string, source: string): string[] =>
  findingsOf(path, source).map(({ line, column, message }) => `${line}:${column} ${message}`)

test('the check finds phrases of its word list in comments, messages, titles and prose, and reports their places', () => {
  const source = `// Asked by nobody.
export const reason = (n: number) => \`\${n} orders, whatever they are\`
test('the price is none', () => {})
`
  expect(messages('src/a.ts', source).map((text) => text.split(':').slice(0, 2).join(':'))).toEqual([
    '1:13 "nobody"',
    '2:52 "whatever"',
    '3:17 "is none"',
  ])
  expect(messages('docs/a.md', 'The list\nis in what\nis held.')).toEqual([expect.stringMatching(/^2:7 "what is"/)])
  expect(messages('config/a.yaml', 'a: 1 # beside it')).toEqual([expect.stringMatching(/^1:8 "beside"/)])
})

test('the check skips names, code in comments and prose, SQL, links and substitutions', () => {
  const code = `const nobody = whatever(\`\${nobody} orders\`, 'SELECT nobody FROM orders') // \`nobody\` is a name
import './nobody is here.ts'
`
  expect(messages('src/a.ts', code)).toEqual([])
  expect(messages('docs/a.md', 'See `nobody` in [the page](nobody.md).\n\n```\nnobody asks\n```\n')).toEqual([])
})

test('the characters // and /* inside a string or a regular expression do not begin a comment', () => {
  expect(messages('src/a.ts', "const a = ['//nobody', /[/]/, `//nobody`]")).toEqual([])
})

test('the check passes sentences to write-good, but without its rule about the passive voice', () => {
  expect(messages('docs/a.md', 'The order was refused the the second time.')).toEqual([
    '1:27 write-good: "the" is repeated',
  ])
  expect(messages('docs/a.md', 'A very large order.')).toEqual(['1:3 write-good: "very" is a weasel word'])
  expect(messages('test/a.ts', "test('a very large order', () => {})")).toEqual([])
})

test('comments and prose have at most 120 columns, and tables, links and code may have more', () => {
  const long = 'an order '.repeat(14)
  expect(messages('docs/a.md', long)).toEqual(['1:121 126 columns: 120 at most'])
  expect(messages('src/a.ts', `// ${long}`)).toEqual(['1:121 129 columns: 120 at most'])
  expect(messages('docs/a.md', `| ${long} |`)).toEqual([])
  expect(messages('docs/a.md', `${long} [page](page.md)`)).toEqual([])
  expect(messages('docs/a.md', `\`\`\`\n${long}\n\`\`\``)).toEqual([])
  expect(messages('src/a.ts', `const a = '${long}'`)).toEqual([])
})
