import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const FILE = new URL('../../src/backtest/new-objects.ts', import.meta.url).href

/** Returns the size of V8's space for new objects, MB, after `growSpaceOfNewObjects` in a new process. V8 itself does
 *  not change the size in this process. */
function sizeWith(bots: number): string {
  const code = `import { getHeapSpaceStatistics } from 'node:v8'
    import { growSpaceOfNewObjects } from '${FILE}'
    growSpaceOfNewObjects(${bots})
    for (let kept = [], number = 0; number < 20_000; number++) kept = [number, kept.length]
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20)`
  const args = ['--semi-space-growth-factor=1', '--input-type=module', '--eval', code]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return `${stdout}${stderr}`.trim()
}

test.each([1, 4])('a backtest of %i bots has 8 MB for new objects', (bots) => {
  expect(sizeWith(bots)).toBe('8')
})

test('a backtest of 5 bots has at most 2 MB for new objects', () => {
  expect(Number(sizeWith(5))).toBeLessThanOrEqual(2)
})
