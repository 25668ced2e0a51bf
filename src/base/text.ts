// Matches characters that are invisible or change the display: control characters and DEL (C0, C1); soft hyphen,
// zero-width and bidirectional marks; line and paragraph separators; the byte order mark; annotation marks; lone
// surrogates; tags and variation selectors, which hide text.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the purpose of this expression
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each character is matched on its own
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu

/** Turns untrusted text into one line that is safe on a terminal: control characters, line ends, invisible characters
 *  and direction marks become JSON escapes. A line of JSON still decodes to the same value. */
export function printable(text: string): string {
  return text.replace(HIDDEN, jsonEscape)
}

function jsonEscape(hidden: string): string {
  let escaped = ''
  for (let index = 0; index < hidden.length; index++) {
    escaped += `\\u${hidden.charCodeAt(index).toString(16).padStart(4, '0')}`
  }
  return escaped
}

/** Returns a count with its noun in singular or plural: `0 orders`, `1 order`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Matches text that a spreadsheet would read as a formula, for example the name of a token. `csvCell` puts a quote in
 *  front of such a text, so that the spreadsheet shows it as text. */
const FORMULA = /^[=+\-@\t\r']/

/** Encodes a value as a cell of CSV. The cell is empty for undefined, null and numbers that are not finite, and `""`
 *  for an empty text. */
export function csvCell(value: unknown): string {
  if (value === undefined || value === null || (typeof value === 'number' && !Number.isFinite(value))) return ''
  if (typeof value === 'number') return `${value}`
  const text = Array.isArray(value) ? value.join(' ') : `${value}`
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]|^$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Returns the text of a cell without the quote that `csvCell` puts in front of a formula. */
export function withoutGuard(cell: string): string {
  return cell[0] === "'" && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell
}
