import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Project } from './project.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const project = new Project(folder.path)
const PLACE = 'strategies/lib/score.ts:6:17'

folder.write(
  'strategies/lib/score.ts',
  `interface Scores {
  readonly [mint: string]: number
}

export function scoreOf(scores: Scores | null, mint: string): number {
  return scores![mint] as number
}
`,
)
folder.write(
  'strategies/wild.ts',
  `import { defineStrategy, z } from 'sluice'
import { scoreOf } from './lib/score.ts'

export default defineStrategy({
  name: 'wild',
  about: 'Throws an error in the place that its params name.',
  params: z.object({ at: z.string().default('trade'), count: z.number().default(1) }),
  keys: ['trades'],
  token: () => ({}),
  start: (params, bot) => {
    if (params.at === 'start') scoreOf(null, bot.name)
    return {
      onTrade(_trade, token) {
        if (params.at === 'trade') scoreOf(null, token.mint)
        if (params.at === 'hostile') throw new Error('a\\u001b[2J\\n    at evil (/etc/evil.ts:1:1)')
      },
    }
  },
})
`,
)

const config = (at: string): string =>
  folder.write(
    `${at}.yaml`,
    JSON.stringify({
      service: 'sandbox',
      bots: [{ name: 'wild', strategy: 'wild', params: { at }, exits: { stopLossPercent: 20 } }],
    }),
  )

test('the error messages of a backtest and of a sweep name the place at which the strategy threw', async () => {
  await writeTape(join(folder.path, 'tape.db'), [{ time: T0, items: noisyMarket(200, 3, T0) }])
  const backtest = async (at: string) => {
    const { code, stderr } = await project.sluice('backtest', config(at), '--journal', 'tape.db')
    return { code, said: stderr.replace(/^.*so it has no result: /, '') }
  }
  const thrown = 'TypeError: Cannot read properties of null'
  expect(await backtest('trade')).toEqual({ code: 1, said: expect.stringMatching(`^${PLACE}: ${thrown}`) })
  expect(await backtest('start')).toEqual({ code: 1, said: expect.stringMatching(`^${PLACE}: ${thrown}`) })
  expect(await backtest('hostile')).toEqual({
    code: 1,
    said: 'strategies/wild.ts:15:44: Error: a\\u001b[2J at evil (/etc/evil.ts:1:1)\n',
  })
  const sweep = project.process('sweep', 'trade.yaml', '--journal', 'tape.db', '--range', 'count=1:2:1', '--json')
  expect(JSON.parse(sweep.stdout).results).toMatchObject(
    [1, 2].map(() => ({ threw: expect.stringMatching(`^${PLACE}: `) })),
  )
})

test.each([
  ['a run without --isolate', []],
  ['a run with --isolate', ['--isolate']],
])(
  '%s logs the place of an error of a strategy, and its replay from another folder makes the same decisions',
  async (_where, more) => {
    const journal = `data/run${more.length}.db`
    const file = config('start')
    folder.write('start.yaml', readFileSync(file, 'utf8').replace('{', `{"journal":{"path":"${journal}"},`))
    const { stderr } = project.process('run', 'start.yaml', '--seconds', '1', ...more)
    const alarm = stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .find(({ msg }) => msg === 'alarm')
    expect(alarm).toMatchObject({
      ...{ bot: 'wild', code: 'STRATEGY_THREW', place: PLACE },
      reason: expect.stringMatching(/^TypeError: Cannot read properties of null/),
      stack: [`scoreOf (${PLACE})`, expect.stringMatching(/^Object\.start \(strategies\/wild\.ts:11:32\)$/)],
    })
    const other = new Project(temporaryFolder().path)
    cpSync(join(project.folder, 'strategies'), join(other.folder, 'strategies'), { recursive: true })
    const replay = await other.sluice('replay', '--verify', '--json', '--journal', join(project.folder, journal))
    expect(JSON.parse(replay.stdout)).toMatchObject({ segments: 1, equal: true, divergence: null })
  },
)

// Node caches the error of a module by the module's path. Each case therefore uses another path.
test.each([
  ['const = 1\n', 'nameless', 'strategies/nameless.ts:2:7: SyntaxError: '],
  ['const sum = \n', 'endless', 'strategies/endless.ts:2: SyntaxError: '], // Node marks no column at the end of a file
])('`check` names the place of the syntax error in a strategy: %j', async (code, strategy, said) => {
  folder.write(`strategies/${strategy}.ts`, `export {}\n${code}`)
  folder.write('broken.yaml', JSON.stringify({ service: 'sandbox', bots: [{ name: 'a', strategy }] }))
  const { stdout, stderr } = await project.sluice('check', 'broken.yaml')
  expect(stdout + stderr).toContain(`cannot be used: ${said}`)
})
