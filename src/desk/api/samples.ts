/**
 * Selects at most `most` points of a series, and returns their indices, ascending. `times` must ascend. The range of
 * time is divided into equal parts. The selection contains the first and the last point, and the lowest and the highest
 * point of each part, so that no spike is lost. A series with at most `most` points is returned whole.
 */
export function sampled(times: ArrayLike<number>, values: ArrayLike<number>, most: number): number[] {
  const count = times.length
  if (count <= most) return Array.from({ length: count }, (_, index) => index)
  const [first, last] = [times[0] as number, times[count - 1] as number]
  const parts = Math.max(1, Math.floor((most - 2) / 2))
  const width = (last - first) / parts || 1
  const kept = [0]
  const keep = (index: number): void => {
    if (index > (kept.at(-1) as number)) kept.push(index)
  }
  let [low, high, part] = [0, 0, 0]
  for (let index = 0; index < count; index++) {
    const at = Math.min(parts - 1, Math.floor(((times[index] as number) - first) / width))
    if (at !== part) {
      keep(Math.min(low, high))
      keep(Math.max(low, high))
      low = high = index
      part = at
    } else if ((values[index] as number) < (values[low] as number)) low = index
    else if ((values[index] as number) > (values[high] as number)) high = index
  }
  keep(Math.min(low, high))
  keep(Math.max(low, high))
  keep(count - 1)
  return kept
}
