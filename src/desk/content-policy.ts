import { createHash } from 'node:crypto'

/**
 * The `content-security-policy` of an answer. It allows files of the desk only, and no inline code. `style`: the
 * content of the page's `<style>` element, which is allowed by its hash.
 */
export function contentPolicy(style?: string): string {
  const styles = style === undefined ? "'none'" : `'sha256-${createHash('sha256').update(style).digest('base64')}'`
  return `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`
}

/** The policy of a page with one `<style>` element. */
export function pagePolicy(html: string): string {
  return contentPolicy(/<style>(.*?)<\/style>/s.exec(html)?.[1])
}
