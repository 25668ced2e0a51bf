import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { type Comment, type Program, parse } from 'acorn'

export interface Syntax {
  readonly tree: Program
  readonly comments: readonly Comment[]
}

/** Parses a module. TypeScript's types are replaced by spaces first, so places in the tree are places in the file.
 *  Throws SyntaxError. */
export function syntaxOf(file: string): Syntax {
  const text = readFileSync(file, 'utf8')
  const comments: Comment[] = []
  const tree = parse(/\.m?ts$/.test(file) ? withoutTypes(text) : text, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
    onComment: comments,
  })
  return { tree, comments }
}

/** Node removes the types of every strategy that it imports with the same function, but warns that a direct call is
 *  experimental. A user can do nothing about that, so the warning is suppressed. */
function withoutTypes(text: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(text)
  } finally {
    process.emitWarning = emitWarning
  }
}
