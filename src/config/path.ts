/** The way to a value: keys and places in lists. */
export type Path = readonly (string | number)[]

/** As in `bots[0].params.dropPercent`. */
export function formatPath(path: Path): string {
  let text = ''
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`
    else if (/^[\w$-]{1,60}$/.test(segment)) text += text ? `.${segment}` : segment
    else text += `[${JSON.stringify(segment.slice(0, 40))}]`
  }
  return text
}
