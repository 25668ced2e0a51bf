// Measures the memory of `sluice run` over a day of the market: one live bot on the service `sandbox`, which is a
// process of its own and does not count. The market runs at 100 times its speed, so a day takes 864 s. The process has
// the settings of malloc that `service install` writes, or none with `--plain`. `npm run run-memory -- --hours 24`.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { HOUR } from '../src/base/units.ts'
import { unitFile } from '../src/commands/deploy/unit-file.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SPEED = 100

const CONFIG = {
  service: 'sandbox',
  bots: [
    {
      ...{ name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 10, sizeSol: 0.1 }, mode: 'live' },
      exits: { stopLossPercent: 20, takeProfitPercent: 50, maxHoldSeconds: 120 },
      limits: { maxSolPerOrder: 0.1, maxSolPerHour: 10, maxOpenPositions: 3, maxDailyLossSol: 1 },
    },
  ],
}

/** The settings of malloc in the unit that `sluice service install` writes. */
function settingsOfUnit(): Record<string, string> {
  const unit = unitFile({ command: [], workingFolder: '/', environmentFile: '/', writable: [], about: '' })
  const [, settings = ''] = /^Environment=(MALLOC_.*)$/m.exec(unit) ?? []
  if (settings === '') throw new Error('the unit has no settings of malloc')
  return Object.fromEntries(settings.split(' ').map((one) => one.split('=') as [string, string]))
}

/** Memory of a process in MB: resident set, proportional set (a page that two processes map counts half), and the part
 *  of the resident set that maps no file. */
function memoryOf({ pid }: ChildProcess): { rss: number; pss: number; anonymous: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const mb = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1024
  return { rss: mb('Rss'), pss: mb('Pss'), anonymous: mb('Anonymous') }
}

/** Prints the memory after each hour of the market. */
async function measure(folder: string, hours: number, flags: readonly string[], isPlain: boolean): Promise<void> {
  const file = join(folder, 'run.yaml')
  writeFileSync(file, JSON.stringify(CONFIG))
  const settings = isPlain ? {} : settingsOfUnit()
  const args = ['bin/sluice.js', 'run', file, '--json', '--speed', `${SPEED}`, '--journal', join(folder, 'run.db')]
  const run = spawn(process.execPath, [...args, ...flags], {
    ...{ cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] },
    env: { ...process.env, ...settings, XDG_STATE_HOME: join(folder, 'state') },
  })
  let log = ''
  run.stderr?.on('data', (data) => {
    log = `${log}${data}`.slice(-4_000)
  })
  const ended = once(run, 'exit')
  console.log(['hour', 'rss MB', 'pss MB', 'anonymous'].map((head) => head.padStart(10)).join(''))
  for (let hour = 1; hour <= hours; hour++) {
    await Promise.race([sleep(HOUR / SPEED), ended])
    if (run.exitCode !== null) throw new Error(`the run ended with ${run.exitCode}: ${log}`)
    const { rss, pss, anonymous } = memoryOf(run)
    console.log(
      [hour, ...[rss, pss, anonymous].map((mb) => mb.toFixed(1))].map((cell) => `${cell}`.padStart(10)).join(''),
    )
  }
  run.kill('SIGTERM')
  await ended
  const { rows, orders } = countsOf(join(folder, 'run.db'))
  console.log(`${rows} rows of the market, ${orders} orders`)
}

/** A busy machine may play less of the market than its speed demands, so the number of rows belongs to the figures. */
function countsOf(journal: string): { rows: number; orders: number } {
  const db = new Database(journal, { readonly: true })
  try {
    const { rows } = db.prepare('SELECT max(rows_before + rows) AS rows FROM block').get() as { rows: number }
    const { orders } = db.prepare('SELECT count(*) AS orders FROM orders').get() as { orders: number }
    return { rows, orders }
  } finally {
    db.close()
  }
}

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    plain: { type: 'boolean', default: false },
    'no-desk': { type: 'boolean', default: false },
  },
})
const hours = Number(values.hours)
if (!(hours > 0) || process.platform !== 'linux') {
  console.error('--hours must be above 0, and the system must be Linux')
  process.exit(2)
}
const flags = values['no-desk'] ? ['--no-desk'] : []
await inTemporaryFolder((folder) => measure(folder, hours, flags, values.plain))
