import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { clearFailpoint, type Failpoint, setFailpoint } from '../../src/base/failpoint.ts'
import { anOrder, GatewayWorld } from '../support/gateway-world.ts'
import { FILL } from '../support/outcomes.ts'

afterEach(clearFailpoint)

class Died extends Error {}

/**
 * Runs an order until the process dies: when execution reaches the failpoint for the first or the second time, as the
 * table states. Then continues in a new process.
 */
test.each<[Failpoint, number, string[], number]>([
  ['accepted', 1, [], 0], // the order is not durable yet, so it is lost
  ['armed', 1, [], 0],
  ['before-execute', 1, ['working', 'not_executed ABSENT'], 0],
  ['after-execute', 1, ['working', 'filled'], 1],
  ['before-report', 1, ['working', 'filled'], 1],
  ['after-report', 1, ['working', 'filled', 'filled'], 1],
  ['before-report', 2, ['working', 'filled', 'filled'], 1],
  ['after-report', 2, ['working', 'filled', 'filled'], 1],
])(
  'after a crash at failpoint %s, which was reached %i times, a new process continues and executes the order at most once',
  (at, times, told, executed) => {
    const world = new GatewayWorld()
    world.script = () => FILL
    const order = anOrder()
    setFailpoint(at, times, () => {
      throw new Died()
    })
    expect(() => {
      world.submit(order)
      world.settle()
    }).toThrow(Died)
    clearFailpoint()
    world.crash(0)
    world.settle()
    expect(world.statesOf(order)).toEqual(told)
    expect(world.executed).toHaveLength(executed)
  },
)

test('the process is killed when it reaches a failpoint for the n-th time; its environment names the failpoint and n', () => {
  const source = (name: string): string => JSON.stringify(fileURLToPath(new URL(`../../src/${name}`, import.meta.url)))
  const script = `import(${source('runtime/failpoint.ts')}).then(async () => {
    const { failpoint } = await import(${source('base/failpoint.ts')})
    for (let pass = 1; pass < 4; pass++) { console.log(pass); failpoint('armed'); failpoint('accepted') }
  })`
  const run = (setting: string) =>
    spawnSync(process.execPath, ['-e', script], {
      env: { ...process.env, SLUICE_FAILPOINT: setting },
      encoding: 'utf8',
    })
  expect(run('armed:2')).toMatchObject({ signal: 'SIGKILL', stdout: '1\n2\n' })
  expect(run('')).toMatchObject({ status: 0, stdout: '1\n2\n3\n' })
})
