import writeGood from 'write-good'
import { type Kind, type Text, textsOf } from './texts.ts'
import { PHRASES } from './words.ts'

export interface Finding {
  line: number
  column: number
  /** The words that were found, and what to do about them. */
  message: string
}

const COLUMNS = 120

/** Checks of write-good that are switched off: `passive`, because "the order was refused" needs no author; `adverb`,
 *  because "only" and "exactly" are facts here; `so`; `thereIs`, because "there is no journal at ..." is a good
 *  message. */
const WRITE_GOOD = { passive: false, adverb: false, so: false, thereIs: false }

/** Suggestions of write-good that are wrong in a technical text. */
const ALLOWED = new Set(
  [
    'a number of',
    'all of',
    'are a number',
    'few',
    'however',
    'in between',
    'is a number',
    'in addition',
    'it is',
    'it was',
    'many',
  ]
    .concat([
      'allocate',
      'magnitude',
      'maximum',
      'minimum',
      'monitor',
      'multiple',
      'outside of',
      'purchase',
      'remainder',
    ])
    .concat(['several', 'therefore']),
)

/** Titles are not checked by write-good: they are no sentences. */
const SENTENCES: readonly Kind[] = ['comment', 'message', 'prose']

/** Everything in a file that is hard to read, in the order of the file. */
export function findingsOf(path: string, source: string): Finding[] {
  const texts = textsOf(path, source)
  const starts = lineStarts(source)
  const at = (offset: number, message: string): Finding => {
    const line = starts.findLastIndex((start) => start <= offset)
    return { line: line + 1, column: offset - (starts[line] as number) + 1, message }
  }
  const found = texts.flatMap((text) => [...phrasesIn(text), ...suggestionsFor(text)])
  return [...found.map(({ offset, message }) => at(offset, message)), ...longLines(source, texts, starts)].sort(
    (one, other) => one.line - other.line || one.column - other.column,
  )
}

interface Place {
  offset: number
  message: string
}

function phrasesIn({ start, text }: Text): Place[] {
  return PHRASES.flatMap(({ pattern, hint }) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      offset: start + index,
      message: `"${found.replace(/\s+/g, ' ')}": ${hint}`,
    })),
  )
}

function suggestionsFor({ kind, start, text }: Text): Place[] {
  if (!SENTENCES.includes(kind)) return []
  // The text is checked as one line, because write-good takes the beginning of each line for the beginning of a
  // sentence.
  return writeGood(text.replaceAll('\n', ' '), WRITE_GOOD).flatMap(({ index, offset, reason }) => {
    const found = text
      .slice(index, index + offset)
      .trim()
      .replace(/\s+/g, ' ')
      .toLowerCase()
    // A finding without letters is ignored, because it is a repeated number, or the white space before a sentence.
    if (!/[a-z]{2}/.test(found) || ALLOWED.has(found)) return []
    return { offset: start + index, message: `write-good: ${reason.replace(/\s+/g, ' ')}` }
  })
}

/** Finds lines of comments and of prose that are too long. Lines with a link and rows of a table are allowed. */
function longLines(source: string, texts: Text[], starts: number[]): Finding[] {
  const isRead = (from: number, to: number): boolean =>
    texts.some(
      ({ kind, start, text }) => (kind === 'comment' || kind === 'prose') && start <= to && from < start + text.length,
    )
  return source.split('\n').flatMap((line, i) => {
    const start = starts[i] as number
    if (line.length <= COLUMNS || /\]\(|:\/\/|^\s*\|/.test(line) || !isRead(start, start + line.length)) return []
    return { line: i + 1, column: COLUMNS + 1, message: `${line.length} columns: ${COLUMNS} at most` }
  })
}

function lineStarts(source: string): number[] {
  return [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)]
}
