import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path/posix'

/** Returns the paths of a strategy's file and of its relative imports. They are found by a search in the text, so an
 *  import in a comment may add a file, which is harmless. */
export function sourcesOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file) || !existsSync(file)) return []
  seen.add(file)
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g,
  )) {
    sourcesOf(resolve(dirname(file), specifier), seen)
  }
  return [...seen]
}

/** Matches the definition of a property whose key is `state`, in the forms that JavaScript has. */
const STATE_ACCESSOR =
  /\b(?:defineProperty|__define[GS]etter__)\s*\([^;]{0,200}?(['"`])state\1|\bdefineProperties\s*\([^;]{0,2000}?\bstate\b['"`]?\s*:/

/** Returns the problem of a strategy whose sources define an accessor for the state of a token; undefined if none
 *  does. */
export function stateAccessor(file: string): string | undefined {
  for (const source of sourcesOf(file)) {
    const text = readFileSync(source, 'utf8')
    const at = text.search(STATE_ACCESSOR)
    if (at < 0) continue
    const line = text.slice(0, at).split('\n').length
    return `${source}:${line}: defines \`state\` of a token as a property of its own; return the state from token(), or assign token.state`
  }
  return undefined
}
