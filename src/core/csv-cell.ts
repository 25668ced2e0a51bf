/** What a table program takes for a formula, and a stranger may have named a token: a quote before it keeps it text. */
const FORMULA = /^[=+\-@\t\r']/

/** A value as a cell of CSV: nothing where there is none, `""` for an empty text. */
export function csvCell(value: unknown): string {
  if (value === undefined || value === null || (typeof value === 'number' && !Number.isFinite(value))) return ''
  if (typeof value === 'number') return `${value}`
  const text = Array.isArray(value) ? value.join(' ') : `${value}`
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]|^$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The text of a cell, without what kept it from being a formula. */
export function withoutGuard(cell: string): string {
  return cell[0] === "'" && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell
}
