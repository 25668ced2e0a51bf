import { posix } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { readSources } from '../../support/architecture.ts'

const sources = new Map(readSources('src').map((one) => [one.path, one]))

/** Returns the modules that a module loads at run time. Imports of types do not count. */
function loads(tree: ts.SourceFile): string[] {
  return tree.statements.flatMap((statement) => {
    if (ts.isImportDeclaration(statement) && statement.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword)
      return [(statement.moduleSpecifier as ts.StringLiteral).text]
    if (ts.isExportDeclaration(statement) && statement.moduleSpecifier && !statement.isTypeOnly)
      return [(statement.moduleSpecifier as ts.StringLiteral).text]
    return []
  })
}

test('the process that holds the key loads only Node and a few files of ours, and no package', () => {
  const strangers: string[] = []
  const seen = new Set<string>()
  const walk = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    const found = sources.get(path)
    if (!found) return void strangers.push(path)
    expect(found.text, path).not.toMatch(/\bimport\(|\brequire\(/)
    for (const specifier of loads(found.tree)) {
      if (specifier.startsWith('.')) walk(posix.join(posix.dirname(path), specifier))
      else if (!specifier.startsWith('node:')) strangers.push(`${path} loads ${specifier}`)
    }
  }
  walk('src/chain/signer/process.ts')
  expect(strangers).toEqual([])
  const folders = new Set([...seen].map((path) => posix.dirname(path)))
  expect([...folders].sort()).toEqual(['src/base', 'src/chain', 'src/chain/signer', 'src/chain/verifier', 'src/solana'])
  expect(seen.size).toBeLessThan(30)
})
