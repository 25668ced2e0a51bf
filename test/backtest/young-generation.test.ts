import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const FILE = new URL('../../src/backtest/young-generation.ts', import.meta.url).href

/** Returns the size of V8's young generation, MB, after `growYoungGeneration` in a new process. V8 itself does not
 *  change the size in this process. */
function sizeWith(bots: number): string {
  const code = `import { getHeapSpaceStatistics } from 'node:v8'
    import { growYoungGeneration } from '${FILE}'
    growYoungGeneration(${bots})
    for (let kept = [], number = 0; number < 20_000; number++) kept = [number, kept.length]
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20)`
  const args = ['--semi-space-growth-factor=1', '--input-type=module', '--eval', code]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return `${stdout}${stderr}`.trim()
}

test.each([1, 4])('a backtest of %i bots has a young generation of 8 MB', (bots) => {
  expect(sizeWith(bots)).toBe('8')
})

test('a backtest of 5 bots has a young generation of at most 2 MB', () => {
  expect(Number(sizeWith(5))).toBeLessThanOrEqual(2)
})
