// Sends random requests to the desk of a demo for some seconds, and checks that the requests reach the asked rate, that
// the desk still answers, that the memory of its process stays bounded, and that trading continues. `npm run desk-fuzz
// -- --seconds 600 --rate 1000 --seed 1`
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../../src/base/random.ts'
import { sendCommand } from '../../src/live/control/client.ts'
import type { View } from '../../src/runtime/view/view.ts'
import { launch } from '../e2e/process.ts'
import { until } from '../e2e/until.ts'
import { loginOf } from '../support/desk-browsers.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
})
const seconds = Number(values.seconds)
const rate = Number(values.rate)
const random = seededRandom(Number(values.seed))
const MOST_GROWTH_MB = 150
/** The maximum number of connections of this client at one time. The desk accepts 512. */
const MOST_OPEN = 400
/**
 * A request without an end is abandoned after this time. After a longer time, such requests would occupy the
 * connections of this client, and it would send fewer requests than it should.
 */
const PATIENCE_MS = 500
/** Least share of the asked requests that must be sent. */
const LEAST_SHARE = 0.98
console.log(`seed ${values.seed}`)

const pick = <T>(list: readonly T[]): T => list[random.integer(list.length)] as T
const ALPHABET = [...'aZ09/.%?&=:;\\"\'<>{}[]()\r\n\t\0\u00e9\ud83d ', '..', '%2e', '%00', '__proto__', 'constructor']
const noise = (most: number): string => Array.from({ length: random.integer(most) }, () => pick(ALPHABET)).join('')
const PATHS = ['/', '/login', '/events', '/api/me', '/api/view', '/api/log', '/api/sessions', '/api/actions/confirm']

/** Returns the bytes of one request: sometimes valid, sometimes not, sometimes without an end. */
function randomRequest(port: number, cookie: string): string {
  const line = `${pick(['GET', 'POST', 'DELETE', 'PUT', 'HEAD', noise(6)])} ${pick(PATHS)}${pick(['', `/${noise(20)}`, `?${noise(40)}`])} HTTP/1.${pick(['1', '1', '1', '0', '9'])}`
  const headers = [
    `Host: ${pick([`127.0.0.1:${port}`, `127.0.0.1:${port}`, 'evil.example', noise(20)])}`,
    ...(random.next() < 0.5 ? [`Cookie: ${pick([cookie, noise(60)])}`] : []),
    ...(random.next() < 0.5 ? [`Origin: ${pick([`http://127.0.0.1:${port}`, 'https://evil.example', noise(9)])}`] : []),
    ...(random.next() < 0.2 ? [`Last-Event-ID: ${noise(40)}`] : []),
    ...(random.next() < 0.2 ? [`Content-Type: ${pick(['application/json', noise(10)])}`] : []),
    ...(random.next() < 0.3 ? [`Content-Length: ${pick(['0', '5', '99999', '-1', noise(4)])}`] : []),
    ...(random.next() < 0.1 ? [`Transfer-Encoding: ${pick(['chunked', noise(5)])}`] : []),
    ...(random.next() < 0.05 ? [`X: ${'a'.repeat(random.integer(20_000))}`] : []),
    ...(random.next() < 0.7 ? ['Connection: close'] : []),
  ]
  const end = random.next() < 0.97 ? '\r\n\r\n' : ''
  return `${line}\r\n${headers.join('\r\n')}${end}${random.next() < 0.3 ? noise(200) : ''}`
}

const counts = new Map<string, number>()
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
/** The open connections, oldest first. */
const open = new Set<Socket>()

/** Sends a request. If this client has too many connections, it first abandons the oldest one, so that requests without
 *  an end cannot keep it below the asked rate. */
function shoot(port: number, cookie: string): void {
  if (open.size >= MOST_OPEN) {
    const [oldest] = open
    count('abandoned before an answer')
    oldest?.destroy()
    if (oldest !== undefined) open.delete(oldest)
  }
  const socket = connect(port, '127.0.0.1', () => socket.write(randomRequest(port, cookie)))
  open.add(socket)
  let status = ''
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.on('data', (part) => {
    status ||= part.subarray(0, 12).toString('latin1')
    socket.destroy()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => count(error.code ?? 'error'))
  socket.on('close', () => {
    open.delete(socket)
    count(status === '' ? 'closed' : status)
  })
}

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Returns the processor time of a process, seconds. The fields utime and stime are in hundredths of a second. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

const folder = mkdtempSync(join(tmpdir(), 'desk-fuzz-'))
const journal = join(folder, 'fuzz.db')
const demo = launch(['demo', '--desk', '--journal', journal])
const view = async () => (await sendCommand(journal, { command: 'status' })) as View
const link = async (): Promise<string> =>
  ((await sendCommand(journal, { command: 'desk-link', readOnly: false, name: '' })) as { url: string }).url

try {
  await until('the start', () => /"desk":"http/.test(demo.stderr))
  const url = await link()
  const port = Number(new URL(url).port)
  const cookie = await loginOf(url)
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const [before, memory] = [await view(), residentMb(demo.pid)]
  const processor = processorSeconds(demo.pid)
  let peak = memory
  let requests = 0
  const started = performance.now()
  for (let sent = 0; performance.now() - started < seconds * 1000; ) {
    const due = ((performance.now() - started) / 1000) * rate
    for (; sent < due; sent++) shoot(port, cookie)
    requests = sent
    peak = Math.max(peak, residentMb(demo.pid))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const [took, used] = [(performance.now() - started) / 1_000, processorSeconds(demo.pid) - processor]
  const after = await view()
  await until('the desk answers a login', async () => (await loginOf(await link()).catch(() => '')) !== '', 30_000)
  const rows = (after.rows - before.rows) / ((after.time - before.time) / 1000)
  const lines = demo.stderr.split('\n').filter((line) => line.includes('desk: ')).length
  const errors = demo.stderr.split('\n').filter((line) => /"level":50/.test(line))
  console.log(
    [
      `${(requests / took).toFixed(0)} of ${rate} requests a second, ${seconds} s; the process of the bots used ${(used / took).toFixed(2)} of a core`,
      `answers: ${[...counts]
        .sort((one, other) => other[1] - one[1])
        .map(([what, times]) => `${what} ${times}`)
        .join(', ')}`,
      `memory of the process: ${memory.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most, ${residentMb(demo.pid).toFixed(0)} MB after`,
      `trading: ${rows.toFixed(0)} rows a second, ${after.orders - before.orders} orders, feed ${after.feed}`,
      `log: ${lines} lines of the desk, ${errors.length} errors${errors.slice(0, 3).join('\n')}`,
    ].join('\n'),
  )
  const isBad = peak - memory > MOST_GROWTH_MB || rows < 1 || errors.some((line) => line.includes('desk'))
  const reached = requests / took
  const isSlow = reached < LEAST_SHARE * rate
  if (isSlow) console.error(`missed: ${reached.toFixed(0)} requests a second were sent, ${rate} were asked`)
  const hasFailed = [...counts.keys()].some((status) => status.startsWith('HTTP/1.1 5'))
  process.exitCode = isBad || hasFailed || isSlow ? 1 : 0
} finally {
  demo.child.kill('SIGINT')
  await demo.ended
  rmSync(folder, { recursive: true })
}
