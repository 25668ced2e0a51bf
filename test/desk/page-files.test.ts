import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { addressOf, PAGES } from '../../src/desk/page/route.ts'
import { packedName, pageFiles } from '../../src/desk/page-files.ts'

const MOST_BYTES = 150_000
const files = pageFiles()
const textOf = (path: string): string => files.get(path)?.body.toString() ?? ''
const own = [...files.keys()].filter((path) => path.startsWith('/app/') && path.endsWith('.js'))

test('all files of the page together are at most 150 kB, compressed', () => {
  const bytes = [...files.values()].reduce((sum, { gzip }) => sum + gzip.length, 0)
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES)
})

test('every import and every link of a file leads to a file of the page', () => {
  for (const path of [...own, '/vendor/preact-hooks.js'])
    for (const [, name = ''] of textOf(path).matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"\n]+)['"]/g))
      expect([...files.keys()], `${path} imports ${name}`).toContain(posix.resolve(posix.dirname(path), name))
  for (const [, href = ''] of textOf('/').matchAll(/(?:href|src)="(\/[^"]*)"/g))
    expect([...files.keys()]).toContain(href)
})

test('the first picture loads no library of charts', () => {
  expect(textOf('/')).toContain('<link rel="modulepreload" href="/app/desk/page/app.js">')
  expect(textOf('/')).not.toMatch(/modulepreload" href="[^"]*(lightweight-charts|uplot|price-chart)/)
})

test('the page has no inline code or style, which its policy would refuse', () => {
  expect(textOf('/')).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/)
})

test('the shell is in the HTML, with the tabs of the page', () => {
  const tabs = [...textOf('/').matchAll(/<a href="([^"]*)">([^<]*)</g)].map(([, href, name]) => [href, name])
  expect(tabs).toEqual(PAGES.map(({ key, name }) => [addressOf(key), name]))
})

test('no module turns text into HTML or code', () => {
  const ways =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\(|new Function/
  for (const path of own) expect(textOf(path), path).not.toMatch(ways)
})

test('the only address of another host is the notice of the chart library', () => {
  const texts = own.flatMap((path) => [...textOf(path).matchAll(/https?:\/\/[^\s'"`]*/g)].map(([address]) => address))
  expect([...new Set(texts)]).toEqual(['https://www.tradingview.com/'])
})

test('the licences of the libraries are served with them', () => {
  for (const name of ['Jason Miller', 'Leon Sorokin', 'Apache License'])
    expect(textOf('/vendor/licences.txt')).toContain(name)
})

test('a packed file has the path of its URL', () => {
  expect(packedName('/')).toBe('index.html')
  expect(packedName('/app/desk/page/main.js')).toBe('app/desk/page/main.js')
})
