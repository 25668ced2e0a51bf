import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { addressOf, PAGES } from '../../src/desk/page/route.ts'
import { packedName, pageFiles } from '../../src/desk/page-files.ts'

const MOST_BYTES = 150_000
const files = await pageFiles()
const textOf = (path: string): string => files.get(path)?.body.toString() ?? ''
const scripts = [...files.keys()].filter((path) => path.endsWith('.js'))
const SOURCES = new URL('../../src/desk/page/', import.meta.url)
/** The text of each module of the page, by file name. */
const own = readdirSync(SOURCES)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => [name, readFileSync(new URL(name, SOURCES), 'utf8')] as const)

test('all files of the page together have at most 150 kB, compressed', () => {
  const bytes = [...files.values()].reduce((sum, { gzip }) => sum + gzip.length, 0)
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES)
})

test('every import and every link in a file of the page leads to another file of the page', () => {
  for (const path of scripts)
    for (const [, name = ''] of textOf(path).matchAll(/\b(?:from|import)\s*\(?\s*['"`]([^'"`\n]+)['"`]/g))
      expect([...files.keys()], `${path} imports ${name}`).toContain(posix.resolve(posix.dirname(path), name))
  for (const [, href = ''] of textOf('/').matchAll(/(?:href|src)="(\/[^"]*)"/g))
    expect([...files.keys()]).toContain(href)
})

test('the first view of the page loads one script, without the chart library', () => {
  const [main = '', ...more] = [...textOf('/').matchAll(/<script[^>]*src="([^"]*)"/g)].map(([, path]) => path)
  expect(more).toEqual([])
  expect(files.get(main)?.gzip.length).toBeLessThan(40_000)
  expect(
    scripts
      .filter((path) => path !== main)
      .map((path) => path.replace(/-[\w-]{20}\.js$/, ''))
      .sort(),
  ).toEqual(['/app/price-chart', '/app/uPlot.esm'])
})

test('a browser caches every script, because the names of scripts change with their content', () => {
  expect([...files].filter(([, { isFixed }]) => !isFixed).map(([path]) => path)).toEqual(['/', '/app/licences.txt'])
})

test('the page has no inline code, and its content policy allows its only style element by the hash of the content', () => {
  const [style = '', ...more] = [...textOf('/').matchAll(/<style>(.*?)<\/style>/gs)].map(([, content = '']) => content)
  expect(more).toEqual([])
  expect(style).toMatch(/\.desk .*\.uplot/s)
  const hash = createHash('sha256').update(style).digest('base64')
  expect(files.get('/')?.contentPolicy).toContain(`; style-src 'sha256-${hash}'; `)
  expect(textOf('/').replace(style, '')).not.toMatch(/<style[^>]|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/)
})

test('the HTML contains the frame of the page with its tabs', () => {
  const tabs = [...textOf('/').matchAll(/<a href="([^"]*)">([^<]*)</g)].map(([, href, name]) => [href, name])
  expect(tabs).toEqual(PAGES.map(({ key, name }) => [addressOf(key), name]))
})

test('no module of the page turns text into HTML or into code', () => {
  const ways =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\(|new Function/
  for (const [name, text] of own) expect(text, name).not.toMatch(ways)
})

test('the only address of another host in the page is in the licence notice of the chart library', () => {
  const texts = own.flatMap(([, text]) => [...text.matchAll(/https?:\/\/[^\s'"`]*/g)].map(([address]) => address))
  expect([...new Set(texts)]).toEqual(['https://www.tradingview.com/'])
})

test('the licences of the libraries are served together with them', () => {
  for (const name of ['Jason Miller', 'Leon Sorokin', 'Apache License'])
    expect(textOf('/app/licences.txt')).toContain(name)
})

test('in the package, a file of the page has the same path as in its URL', () => {
  expect(packedName('/')).toBe('index.html')
  expect(packedName('/app/licences.txt')).toBe('app/licences.txt')
})

test('after a failed read, the files of the page are read again', async () => {
  // Because of the query, Node loads a second copy of the module. This copy has not read any file yet.
  const another = '../../src/desk/page-files.ts?another'
  const { pageFiles: read } = (await import(another)) as { pageFiles: typeof pageFiles }
  const node = process.execPath
  try {
    process.execPath = '/nothing/here'
    await expect(read()).rejects.toThrow('ENOENT')
  } finally {
    process.execPath = node
  }
  expect([...(await read()).keys()]).toEqual([...files.keys()])
})
