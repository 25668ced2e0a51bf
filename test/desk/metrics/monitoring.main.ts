// `npm run monitoring`: tests the alert rules with promtool, and evaluates them and the dashboard on a real Prometheus
// that scrapes running bots. Needs Debian's package `prometheus`; without it the command prints a hint and ends.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { CATALOGUE } from '../../../src/desk/metrics/catalogue.ts'
import type { View } from '../../../src/runtime/view/view.ts'
import { launch, sluice } from '../../e2e/process.ts'
import { until } from '../../e2e/until.ts'
import { expressionsOf, type Rules } from './expressions.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const MONITORING = join(ROOT, 'docs/monitoring')
/** Metrics that may have no series in a run without failures. */
const MAY_BE_ABSENT = ['sluice_alerts_total']

function promtool(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input })
  if (status !== 0) throw new Error(`promtool ${args.join(' ')} failed:\n${stdout}${stderr}`)
  return `${stdout}${stderr}`.trim()
}

async function freePort(): Promise<number> {
  const server = createNetServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

interface Answer {
  readonly status: string
  readonly error?: string
  readonly data: { readonly result: readonly { readonly value: [number, string] }[] } & Rules
}

async function ask(port: number, path: string): Promise<Answer> {
  return (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as Answer
}

/** Returns the number of series that an expression has now. Throws if Prometheus refuses the expression. */
async function seriesOf(port: number, expression: string): Promise<number> {
  const { status, error, data } = await ask(port, `query?query=${encodeURIComponent(expression)}`)
  assert.equal(status, 'success', `${expression}: ${error}`)
  return data.result.length
}

async function main(): Promise<void> {
  console.log(promtool(['check', 'rules', join(MONITORING, 'alerts.yml')]))
  console.log(promtool(['test', 'rules', fileURLToPath(new URL('alerts.promtool.yml', import.meta.url))]))

  const folder = mkdtempSync(join(tmpdir(), 'sluice-monitoring-'))
  const receiver = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const [deskPort, port, token] = [await freePort(), await freePort(), randomBytes(32).toString('hex')]
  const [config, journal] = [join(folder, 'bots.yaml'), join(folder, 'bots.db')]
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 })
  const beats = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const sections = [
    `metrics: { token: 'file:${join(folder, 'token')}' }`,
    `heartbeat: { url: 'env:HEARTBEAT', everySeconds: 10 }`,
    `journal: { path: ${journal} }`,
    `desk: { port: ${deskPort} }`,
  ]
  writeFileSync(config, `${readFileSync(join(ROOT, 'config/demo.yaml'), 'utf8')}\n${sections.join('\n')}\n`)

  // Copies the files that docs/monitoring.md says to copy, with other ports and a shorter interval.
  cpSync(MONITORING, folder, { recursive: true })
  writeFileSync(join(folder, 'sluice-token'), token)
  const settings = readFileSync(join(MONITORING, 'prometheus.yml'), 'utf8')
  writeFileSync(
    join(folder, 'prometheus.yml'),
    settings.replace('127.0.0.1:7420', `127.0.0.1:${deskPort}`).replaceAll(': 15s', ': 1s'),
  )
  promtool(['check', 'config', join(folder, 'prometheus.yml')])

  const bots = launch(['run', config, '--desk'], { HEARTBEAT: beats })
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  try {
    await until('the first scrape', async () => {
      if (bots.child.exitCode !== null) throw new Error(`the bots ended:\n${bots.stderr}`)
      return (await seriesOf(port, 'up{job="sluice"} == 1').catch(() => 0)) > 0
    })
    // The first sale may close only a part of a position. The win ratio exists only from the first closed position on.
    await until('a fill of each side, a closed position and a heartbeat', async () => {
      const sides = await seriesOf(port, 'sum by (side) (sluice_fills_total) > 0')
      if (sides < 2 || (await seriesOf(port, 'sluice_win_ratio')) === 0) return false
      return (await seriesOf(port, 'sluice_heartbeat_accepted_time_seconds > 0')) > 0
    })
    const scraped = await fetch(`http://127.0.0.1:${deskPort}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
    })
    console.log(`promtool check metrics: ${promtool(['check', 'metrics'], await scraped.text()) || 'no finding'}`)

    for (const { name } of Object.values(CATALOGUE).flat()) {
      const all = `{__name__=~"${name}(_bucket)?"}`
      assert.ok(MAY_BE_ABSENT.includes(name) || (await seriesOf(port, all)) > 0, `${name} has no series`)
    }
    const expressions = expressionsOf(MONITORING)
    let empty = 0
    for (const { from, text } of expressions) {
      const series = await seriesOf(port, text)
      if (series === 0) empty++
      // The query of an alert returns no series while its condition is false. The query of a dashboard must return one.
      if (from === 'dashboard' && !text.includes('refusals') && !text.includes('state!="filled"'))
        assert.ok(series > 0, `the dashboard shows nothing for ${text}`)
    }
    console.log(`${expressions.length} expressions were evaluated; ${empty} of them have no series`)

    // This manual buy exceeds the limit of 0.1 SOL and is refused. The strategy of the bot never requests such a buy.
    // Another check may refuse it first, for example because an order for the token is open; another token is then
    // tried.
    const refused = 'sluice_refusals_total{bot="trend",code="ORDER_LIMIT"} == 1'
    assert.equal(await seriesOf(port, refused), 0)
    let tries = 0
    let answer = ''
    await until(
      () => `a buy that exceeds the limit; the last answer was: ${answer}`,
      async () => {
        const { lastFills } = JSON.parse((await sluice(['status', '--json', '--journal', journal])).stdout) as View
        const mint = lastFills[tries++ % lastFills.length]?.mint as string
        const { code, stderr } = await sluice(['buy', mint, '--bot', 'trend', '--sol', '0.2', '--journal', journal])
        assert.equal(code, 1)
        answer = stderr
        return answer.includes('ORDER_LIMIT')
      },
    )
    await until('the refused buy', async () => (await seriesOf(port, refused)) === 1)
    assert.equal(await seriesOf(port, 'sluice_entry_stops{code="HALTED"} == 1'), 0)
    assert.equal((await sluice(['halt', '--journal', journal])).code, 0)
    await until(
      'the halt of all bots',
      async () => (await seriesOf(port, 'sluice_entry_stops{code="HALTED"} == 1')) === 4,
    )
    const { data } = await ask(port, 'rules')
    const rules = data.groups.flatMap((group) => group.rules) as unknown as { name: string; health: string }[]
    assert.deepEqual(
      rules.filter(({ health }) => health !== 'ok').map(({ name }) => name),
      [],
    )
    assert.equal(
      rules.length,
      (parse(readFileSync(join(MONITORING, 'alerts.yml'), 'utf8')) as Rules).groups.flatMap((group) => group.rules)
        .length,
    )
    console.log(`${rules.length} rules are evaluated without an error; they show a refused buy and a halt`)
  } finally {
    prometheus.kill('SIGTERM')
    bots.child.kill('SIGINT')
    receiver.close()
    await Promise.all([once(prometheus, 'close'), bots.ended])
    rmSync(folder, { recursive: true })
  }
}

if (spawnSync('promtool', ['--version']).status === 0) await main()
else
  console.error(
    'the alert rules and the dashboard are not tested, because there is no promtool: apt-get install prometheus',
  )
