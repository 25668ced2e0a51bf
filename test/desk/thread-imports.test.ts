import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Statements of a module of ours; none for a package. */
function statementsOf(path: string): readonly ts.Statement[] {
  if (!path.startsWith('src/')) return []
  return ts.createSourceFile(path, readFileSync(root + path, 'utf8'), ts.ScriptTarget.Latest).statements
}

test("the desk's thread of a run does not load zod", () => {
  const loaders = new Map<string, string>()
  const waiting = ['src/desk/thread.ts']
  for (const path of waiting)
    for (const statement of statementsOf(path)) {
      const isExport = ts.isExportDeclaration(statement)
      if (!isExport && !ts.isImportDeclaration(statement)) continue
      const isType = isExport ? statement.isTypeOnly : statement.importClause?.isTypeOnly === true
      if (isType || statement.moduleSpecifier === undefined) continue
      const specifier = (statement.moduleSpecifier as ts.StringLiteral).text
      const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier
      if (loaders.has(target)) continue
      loaders.set(target, path)
      waiting.push(target)
    }
  expect(loaders.get('src/desk/server.ts')).toBe('src/desk/thread.ts')
  expect(loaders.get('zod')).toBeUndefined()
})
