/** Colours of the style sheet, for code that draws on a canvas. */
export interface Colors {
  readonly text: string
  readonly quiet: string
  readonly line: string
  readonly price: string
  readonly print: string
  readonly gain: string
  readonly loss: string
  readonly warn: string
  readonly gap: string
  readonly series: readonly string[]
}

export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element)
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  return {
    ...{ text: color('text'), quiet: color('quiet'), line: color('line'), price: color('accent') },
    ...{ print: color('print'), gain: color('gain'), loss: color('loss'), warn: color('warn'), gap: color('gap') },
    series: [1, 2, 3, 4, 5, 6].map((number) => color(`series-${number}`)),
  }
}

export type Theme = 'auto' | 'light' | 'dark'
const KEY = 'sluice-theme'

export function readTheme(): Theme {
  const kept = quietly(() => localStorage.getItem(KEY))
  return kept === 'light' || kept === 'dark' ? kept : 'auto'
}

/** `auto` follows the system. */
export function setTheme(theme: Theme): void {
  quietly(() => localStorage.setItem(KEY, theme))
  document.documentElement.dataset.theme = theme
}

/** Ignores an error, because a browser may forbid storage. The chosen theme then lasts until the page is closed. */
function quietly<Value>(run: () => Value): Value | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}

export function wantsLittleMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
