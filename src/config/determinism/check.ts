import type { AnyNode, Comment, Program } from 'acorn'
import { shownPath } from '../strategy-trace.ts'
import { localFiles } from './local-files.ts'
import { childrenOf, usesOf } from './names.ts'
import type { CheckedModule } from './passed.ts'
import { type Breach, breachOfForm, breachOfImport, breachOfUse } from './rules.ts'
import { syntaxOf } from './syntax.ts'

/** A place in the code of a strategy that uses something other than the stream of events, so a replay could not repeat
 *  it. */
export interface Finding extends Breach {
  readonly file: string
  readonly line: number
  readonly column: number
}

export interface Findings {
  readonly found: readonly Finding[]
  /** Files that could not be parsed, each with the reason. */
  readonly unread: readonly string[]
  readonly checked: readonly CheckedModule[]
}

/** A comment that allows one name on its own line and on the next one, for example
 *  `// sluice: allow Date.now, because it only measures`. */
const ALLOWED = /sluice: allow ([^,]+), because \S/

/** Finds everything in a strategy's file, and in the local modules that it imports, that a replay could not repeat. */
export function nondeterminism(file: string): Findings {
  const found: Finding[] = []
  const unread: string[] = []
  const checked: CheckedModule[] = []
  const queue = [file]
  for (const one of queue) {
    try {
      const { text, tree, comments } = syntaxOf(one)
      found.push(...findingsIn(one, tree, comments))
      const imports = (tree.body as AnyNode[]).flatMap((node) => sourceOf(node) ?? [])
      checked.push({ file: one, text, imports })
      for (const next of localFiles(one, imports)) if (!queue.includes(next)) queue.push(next)
    } catch (error) {
      unread.push(`${one}: ${(error as Error).message}`)
    }
  }
  return { found, unread, checked }
}

const MOST_FINDINGS = 10

/** Returns one line for each finding. */
export function findingsText(found: readonly Finding[], cwd: string): string {
  const lines = found
    .slice(0, MOST_FINDINGS)
    .map(({ file, line, column, name, why }) => `${shownPath(file, cwd)}:${line}:${column}: ${name} ${why}`)
  const more = found.length - lines.length
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

function findingsIn(file: string, tree: Program, comments: readonly Comment[]): Finding[] {
  const found: Finding[] = []
  const note = (breach: Breach | undefined, { loc }: AnyNode): void => {
    if (breach === undefined || !loc || isAllowed(breach, loc.start.line, comments)) return
    found.push({ ...breach, file, line: loc.start.line, column: loc.start.column + 1 })
  }
  for (const use of usesOf(tree)) note(breachOfUse(use), use.parent?.type === 'NewExpression' ? use.parent : use.node)
  const visit = (node: AnyNode, isAsync: boolean, parent: AnyNode): void => {
    const breach = breachOfForm(node)
    // An `await` inside an async function is not reported, because this function has already been reported.
    if (!isAsync || breach?.name !== 'await') note(breach, isMethod(parent) ? parent : node)
    const source = sourceOf(node)
    if (source !== undefined) note(breachOfImport(source), node)
    const within = node.type.includes('Function') ? breach?.name === 'async' : isAsync
    for (const child of childrenOf(node)) visit(child, within, node)
  }
  visit(tree, false, tree)
  return found.sort((a, b) => a.line - b.line || a.column - b.column)
}

/** Whether the node is a method. In the syntax tree, the name and `async` of a method belong to this node, and not to
 *  the function inside it. */
function isMethod(node: AnyNode): boolean {
  return node.type === 'MethodDefinition' || (node.type === 'Property' && node.method)
}

function isAllowed({ name }: Breach, line: number, comments: readonly Comment[]): boolean {
  return comments.some(({ value, loc }) => {
    const at = loc?.end.line ?? 0
    const allowed = ALLOWED.exec(value)?.[1]
    return (at === line || at === line - 1) && (name === allowed || name.startsWith(`${allowed}.`))
  })
}

/** Returns the specifier of the module that a declaration imports. */
function sourceOf(node: AnyNode): string | undefined {
  const isImport =
    node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration' || node.type === 'ExportNamedDeclaration'
  return isImport && node.source ? String(node.source.value) : undefined
}
