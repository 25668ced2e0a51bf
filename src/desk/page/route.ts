/** The pages of the desk, in the order of their tabs and keys. */
export const PAGES = [
  { key: 'overview', name: 'Overview' },
  { key: 'bots', name: 'Bots' },
  { key: 'positions', name: 'Positions' },
  { key: 'orders', name: 'Orders' },
  { key: 'token', name: 'Token' },
  { key: 'money', name: 'Money' },
  { key: 'log', name: 'Log' },
  { key: 'results', name: 'Results' },
  { key: 'about', name: 'Access' },
] as const

export type Page = (typeof PAGES)[number]
export type PageKey = Page['key']

/** The pages of a desk that shows a folder of results and has no journal. */
export const RESULT_PAGES = PAGES.filter(({ key }) => key === 'results' || key === 'about')

/** A place on the desk: a page, and the name, mint or order that it shows. */
export interface Route {
  readonly page: PageKey
  readonly subject: string
}

/**
 * Reads the part of the address after `#`. For an unknown page, returns the overview. The part may contain any text,
 * because a link can come from anywhere.
 */
export function routeOf(hash: string): Route {
  const [, page = '', subject = ''] = hash.replace(/^#/, '').split('/')
  const known = PAGES.find(({ key }) => key === page)
  return known === undefined ? { page: 'overview', subject: '' } : { page: known.key, subject: decoded(subject) }
}

/**
 * Returns the route to show if the desk has backtest results and no journal. A route to a page that needs a journal is
 * replaced by the page of results.
 */
export function routeOfResults(route: Route): Route {
  return RESULT_PAGES.some(({ key }) => key === route.page) ? route : { page: 'results', subject: '' }
}

export function addressOf(page: PageKey, subject = ''): string {
  return subject === '' ? `#/${page}` : `#/${page}/${encodeURIComponent(subject)}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
