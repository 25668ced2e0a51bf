import { homedir } from 'node:os'
import { resolve } from 'node:path'

/** `~` is the home directory; relative paths start at the working directory. */
export function expandPath(path: string, cwd: string): string {
  const expanded = path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path
  return resolve(cwd, expanded)
}
