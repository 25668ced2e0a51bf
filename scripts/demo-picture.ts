// Draws docs/demo.svg, the picture of the README: runs the demo in a terminal of a fixed size, and draws its last frame
// with a live feed. `npm run demo-picture -- [--seconds 90]`
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, stripVTControlCharacters } from 'node:util'

const COLUMNS = 136
const ROWS = 38
const PICTURE = fileURLToPath(new URL('../docs/demo.svg', import.meta.url))
const TITLE = 'sluice demo: the bots with their results, the open positions, the last fills, and the log'

/** The alternate screen of the live table: each frame begins at its first cell. */
const FRAME = '\u001b[H'

/** Runs the demo for this many seconds, and returns the lines of its last frame with a live feed. */
async function lastFrame(seconds: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-picture-'))
  const before = process.cwd()
  const { write } = process.stdout
  let frame = ''
  process.env.FORCE_COLOR = '1'
  Object.assign(process.stdout, {
    ...{ isTTY: true, columns: COLUMNS, rows: ROWS },
    write: (text: string | Uint8Array) => {
      const shown = String(text)
      if (shown.startsWith(FRAME) && stripVTControlCharacters(shown).includes('feed live')) frame = shown
      return true
    },
  })
  process.chdir(folder)
  try {
    const { parse } = await import('../src/commands/parse.ts')
    await parse(['demo', '--seconds', seconds])
  } finally {
    process.stdout.write = write
    process.chdir(before)
    rmSync(folder, { recursive: true })
  }
  const lines = frame.slice(FRAME.length).replaceAll('\u001b[K', '').replaceAll('\u001b[J', '').split('\n')
  while (stripVTControlCharacters(lines.at(-1) ?? 'end') === '') lines.pop()
  return lines
}

interface Style {
  readonly colour: string
  readonly isBold: boolean
}

const PLAIN: Style = { colour: '#adbac7', isBold: false }
/** Colours of the codes that the live table uses. */
const COLOURS: Readonly<Record<string, string>> = {
  ...{ '2': '#768390', '31': '#f47067', '32': '#8ddb8c', '33': '#e0b45a', '36': '#76e3ea' },
  ...{ '22': PLAIN.colour, '39': PLAIN.colour, '0': PLAIN.colour },
}

/** Splits a line into texts of one style. */
function* spansOf(line: string): Generator<readonly [text: string, style: Style], void, undefined> {
  let style = PLAIN
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours
  for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours
    const [, codes] = /^\u001b\[([\d;]*)m$/.exec(part) ?? []
    if (codes === undefined) {
      if (part !== '') yield [part, style]
      continue
    }
    for (const code of codes.split(';'))
      style = {
        colour: COLOURS[code] ?? style.colour,
        isBold: code === '1' || (style.isBold && code !== '22' && code !== '0'),
      }
  }
}

const CHARACTER = 7.8
const LINE = 18
const MARGIN = 16
const TOP = 51.5

function lineOf(line: string, index: number): string {
  let column = 0
  const spans: string[] = []
  for (const [text, { colour, isBold }] of spansOf(line)) {
    const at = (MARGIN + column * CHARACTER).toFixed(1)
    const width = (text.length * CHARACTER).toFixed(1)
    const weight = isBold ? ' font-weight="bold"' : ''
    spans.push(
      `<tspan x="${at}" fill="${colour}"${weight} xml:space="preserve" textLength="${width}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</tspan>`,
    )
    column += text.length
  }
  return spans.length === 0 ? '' : `<text y="${TOP + index * LINE}">${spans.join('')}</text>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function pictureOf(lines: readonly string[]): string {
  const width = Math.ceil(2 * MARGIN + COLUMNS * CHARACTER)
  const height = Math.ceil(TOP + lines.length * LINE)
  const font = 'ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${font}" font-size="13" role="img" aria-labelledby="title">`,
    `<title id="title">${TITLE}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#1c2128"/>`,
    ...[20, 38, 56].map((x) => `<circle cx="${x}" cy="16" r="5.5" fill="#545d68"/>`),
    ...lines.map(lineOf).filter((line) => line !== ''),
    '</svg>',
    '',
  ].join('\n')
}

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '90' } } })
const lines = await lastFrame(values.seconds)
if (lines.length < 10) throw new Error('the demo showed no frame with a live feed')
writeFileSync(PICTURE, pictureOf(lines))
console.log(lines.map(stripVTControlCharacters).join('\n'))
