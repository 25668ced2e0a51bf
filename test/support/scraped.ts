/**
 * Returns the series in Prometheus's text format: the value of each series, by its name with its labels in alphabetical
 * order.
 */
export function seriesIn(text: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, name = '', labels = '', value = ''] = /^([a-zA-Z_:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    const sorted = [...labels.matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g)].map(([all]) => all).sort()
    found.set(sorted.length === 0 ? name : `${name}{${sorted.join(',')}}`, Number(value))
  }
  return found
}
