import { PAGES } from './route.ts'

/** A shortcut: a key, and its effect. */
export interface Shortcut {
  readonly key: string
  readonly does: string
}

export const SHORTCUTS: readonly Shortcut[] = [
  ...PAGES.map(({ name }, index) => ({ key: String(index + 1), does: `open ${name}` })),
  { key: 'h', does: 'halt: stop entries (asks first)' },
  { key: 'r', does: 'resume (asks first)' },
  { key: 'f', does: 'flatten: sell everything (asks first)' },
  { key: 't', does: 'open the token page and enter a mint' },
  { key: 'd', does: 'light, dark, or as the system' },
  { key: '?', does: 'show these keys' },
  { key: 'Esc', does: 'close a dialog' },
]

interface Pressed {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}

/**
 * Returns the shortcut of a pressed key. Returns undefined if the key has no shortcut, if a modifier key is pressed
 * too, or if the user is entering text.
 */
export function shortcutOf({ key, ctrlKey, metaKey, altKey }: Pressed, isInText: boolean): string | undefined {
  if (ctrlKey || metaKey || altKey || isInText) return undefined
  return SHORTCUTS.find((shortcut) => shortcut.key === key && key !== 'Esc')?.key
}
