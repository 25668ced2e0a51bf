// Connects 10 browsers that read and 90 that do not read to the desk of a demo. Checks that 99 of 100 changes reach a
// browser at most 250 ms after the journal's commit, and that a replay makes the same decisions. `npm run desk-browsers
// -- --seconds 20`
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { sendCommand } from '../../src/live/control/client.ts'
import { launch, sluice } from '../e2e/process.ts'
import { until } from '../e2e/until.ts'
import { Browsers, loginOf } from '../support/desk-browsers.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    reading: { type: 'string', default: '10' },
    stalled: { type: 'string', default: '90' },
  },
})
const [seconds, reading, stalled] = [Number(values.seconds), Number(values.reading), Number(values.stalled)]
const MOST_BEHIND_MS = 250
const POLL_MS = 5

interface Reached {
  readonly seq: number
  readonly at: number
}

/**
 * Polls a journal until `isOver`, and returns the time of each commit. The time is that of the last poll that did not
 * show the commit, so it is never later than the commit itself.
 */
async function commitsOf(path: string, isOver: () => boolean): Promise<Reached[]> {
  const db = new Database(path, { readonly: true })
  const last = db.prepare('SELECT max((SELECT max(seq) FROM output), (SELECT max(last_seq) FROM block))').pluck()
  const commits: Reached[] = []
  let [seen, before] = [last.get() as number, performance.now()]
  while (!isOver()) {
    await sleep(POLL_MS)
    const at = performance.now()
    const seq = last.get() as number
    if (seq > seen) commits.push({ seq, at: before })
    ;[seen, before] = [seq, at]
  }
  db.close()
  return commits
}

/**
 * Returns for each commit the time, ms, until one browser had received its sequence number; 0 if the browser had
 * received it before.
 */
function behind(commits: readonly Reached[], seen: readonly Reached[]): number[] {
  let next = 0
  return commits.flatMap(({ seq, at }) => {
    while (next < seen.length && (seen[next] as Reached).seq < seq) next++
    const shown = seen[next]
    return shown === undefined ? [] : [Math.max(0, shown.at - at)]
  })
}

const folder = mkdtempSync(join(tmpdir(), 'desk-browsers-'))
const journal = join(folder, 'run.db')
const demo = launch(['demo', '--desk', '--journal', journal])
try {
  await until('the start', () => /"desk":"http/.test(demo.stderr))
  const { url } = (await sendCommand(journal, { command: 'desk-link', readOnly: true, name: '' })) as { url: string }
  const seen: Reached[][] = Array.from({ length: reading }, () => [])
  const browsers = new Browsers({
    ...{ origin: new URL(url).origin, cookie: await loginOf(url), reading, stalled },
    saw: (browser, seq) => seen[browser]?.push({ seq, at: performance.now() }),
  })
  await browsers.connect()
  await sleep(1_000)
  const end = performance.now() + seconds * 1_000
  const commits = await commitsOf(journal, () => performance.now() > end)
  await sleep(1_000)
  const { open, ended } = browsers
  browsers.close()
  demo.child.kill('SIGINT')
  await demo.ended
  const replayed = await sluice(['replay', '--verify', '--json', '--journal', journal])
  const { segments, divergence } = JSON.parse(replayed.stdout.trim().split('\n').at(-1) as string)
  const late = seen.flatMap((one) => behind(commits, one)).sort((one, other) => one - other)
  const at = (share: number): number => late[Math.min(late.length - 1, Math.floor(late.length * share))] ?? Number.NaN
  const [p50, p99, most] = [at(0.5), at(0.99), at(1)]
  console.log(
    [
      `${reading} reading and ${stalled} stalled browsers, ${open} streams open at the end, ${ended} ended before`,
      `${commits.length} commits; a browser saw them after ${p50.toFixed(0)} ms (p50), ${p99.toFixed(0)} ms (p99), ${most.toFixed(0)} ms (most)`,
      `replay: ${segments} segment, ${divergence === null ? 'equal' : JSON.stringify(divergence)}`,
    ].join('\n'),
  )
  const isGood = replayed.code === 0 && divergence === null && open === reading + stalled && p99 <= MOST_BEHIND_MS
  process.exitCode = isGood && commits.length > seconds ? 0 : 1
} finally {
  demo.child.kill('SIGKILL')
  await demo.ended
  rmSync(folder, { recursive: true })
}
