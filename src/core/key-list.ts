/** The entries of a list: one base58 key of 32 bytes a line, `#` begins a comment. The line that is none, counted from 1. */
export function readList(
  text: string,
  isKey: (text: string) => boolean,
): readonly string[] | { readonly line: number } {
  const entries: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const entry = (line.split('#')[0] as string).trim()
    if (entry === '') continue
    if (!isKey(entry)) return { line: index + 1 }
    entries.push(entry)
  }
  return entries
}
