import ts from 'typescript'

export type Kind = 'comment' | 'message' | 'title' | 'prose'

/** A piece of a file that a person reads. `text` is the source of the piece, in which everything else (substitutions,
 *  comment marks, code, links) is blanked. An offset in `text` plus `start` is therefore an offset in the file. */
export interface Text {
  kind: Kind
  start: number
  text: string
}

/** The readable texts of a file, in order; none if the file is neither Markdown, YAML nor TypeScript. */
export function textsOf(path: string, source: string): Text[] {
  if (path.endsWith('.md')) return paragraphs(source)
  if (path.endsWith('.yaml')) return yamlComments(source)
  if (path.endsWith('.ts')) return typescriptTexts(path, source)
  return []
}

/** Masks a part of a text that the checks must skip, such as a code span. Length and line breaks stay, so that offsets
 *  remain valid. The mask is not a letter, so that the checks do not take it for a word. */
const blank = (text: string): string => text.replace(/[^\n]/g, '·')
const spaces = (text: string): string => text.replace(/[^\n]/g, ' ')

function paragraphs(source: string): Text[] {
  const prose = source
    .replace(/^( *)(```|~~~)[\s\S]*?^\1\2.*$/gm, spaces)
    .replace(/<!--|-->/g, spaces)
    .replace(/`[^`\n]*(\n[^`\n]+)?`/g, blank)
    .replace(/\]\([^)]*\)/g, blank)
    .replace(/\bhttps?:\S+/g, blank)
  return [...prose.matchAll(/[^\n]*\S[^\n]*(?:\n(?! *(?:[-*|#]|\d+\.) ?)[^\n]*\S[^\n]*)*/g)].map(
    ({ 0: text, index }) => ({
      kind: 'prose',
      start: index,
      text,
    }),
  )
}

function yamlComments(source: string): Text[] {
  return [...source.matchAll(/(?<=^|\s)#.*$/gm)].map(({ 0: text, index }) => ({
    kind: 'comment',
    start: index,
    text: text.replace(/`[^`]*`/g, blank),
  }))
}

function typescriptTexts(path: string, source: string): Text[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const found: Text[] = []
  let code = source
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node) || ts.isLiteralExpression(node)) {
      const start = node.getStart(file)
      const text = node.getText(file)
      code = code.slice(0, start) + blank(text) + code.slice(start + text.length)
      const kind = isTitle(node) ? 'title' : 'message'
      // Messages in a test are quotations of messages in the sources, where they are checked.
      if (isProse(node) && (kind === 'title' || !path.startsWith('test/')))
        found.push({ kind, start, text: literalText(node, file) })
    }
    if (!ts.isImportDeclaration(node)) ts.forEachChild(node, visit)
  }
  visit(file)
  return [...found, ...comments(code)].sort((one, other) => one.start - other.start)
}

/** Returns the comments of a file. Comments on consecutive lines are one text. `code`: the source with its literals
 *  blanked. */
function comments(code: string): Text[] {
  const found: Text[] = []
  for (const { 0: comment, index } of code.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g)) {
    const text = comment.replace(/^\/\*\*?|\*\/$|^\s*\*(?!\/)|^\s*\/\//gm, spaces).replace(/`[^`]*`/g, blank)
    const last = found.at(-1)
    const between = last && code.slice(last.start + last.text.length, index)
    if (last && between !== undefined && /^[ \t]*\n[ \t]*$/.test(between)) last.text += between + text
    else found.push({ kind: 'comment', start: index, text })
  }
  return found
}

/** Whether a string literal is a text for people: it has at least two words, and is not an SQL statement. */
function isProse(node: ts.Node): boolean {
  const text = node.getText()
  if (ts.isRegularExpressionLiteral(node)) return false
  return (
    /[A-Za-z]\S* +\S*[a-z]/.test(text) &&
    !/^.\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WITH|BEGIN)\b/.test(text)
  )
}

function isTitle(node: ts.Node): boolean {
  const call = node.parent
  return (
    ts.isCallExpression(call) && call.arguments[0] === node && /^(test|it|describe)\b/.test(call.expression.getText())
  )
}

function literalText(node: ts.Node, file: ts.SourceFile): string {
  const start = node.getStart(file)
  let text = node.getText(file)
  if (ts.isTemplateExpression(node))
    for (const { expression } of node.templateSpans) {
      const from = expression.getStart(file) - start
      const to = expression.getEnd() - start
      text = text.slice(0, from) + blank(text.slice(from, to)) + text.slice(to)
    }
  return text.replace(/^.|.$/g, ' ').replace(/\\`[^`]*\\`/g, blank)
}
