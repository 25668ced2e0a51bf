import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { type Comment, type Program, parse } from 'acorn'

export interface Syntax {
  readonly text: string
  readonly tree: Program
  readonly comments: readonly Comment[]
}

/** Parses a module. TypeScript's types are first replaced by spaces, so positions in the tree are positions in the
 *  file. Throws SyntaxError. */
export function syntaxOf(file: string): Syntax {
  const text = readFileSync(file, 'utf8')
  const comments: Comment[] = []
  const tree = parse(/\.m?ts$/.test(file) ? withoutTypes(text) : text, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
    onComment: comments,
  })
  return { text, tree, comments }
}

/** Uses the function with which Node itself removes the types of a strategy that it imports. A direct call prints a
 *  warning that the function is experimental. Users cannot act on this warning, so it is suppressed. */
function withoutTypes(text: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(text)
  } finally {
    process.emitWarning = emitWarning
  }
}
