import { rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { sendCommand } from '../../src/live/control/client.ts'
import type { View } from '../../src/runtime/view/view.ts'
import { Browsers } from '../support/desk-browsers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { sumsOf } from '../support/three-sums.ts'
import { called } from './called.ts'
import { launch } from './process.ts'
import { until } from './until.ts'

const { path } = temporaryFolder()
const journal = join(path, 'desk.db')

interface Answer {
  readonly status: number
  readonly body: string
  readonly cookie: string
}

function ask(url: URL, method: string, headers: Record<string, string>, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const own = { origin: url.origin, ...headers }
    const sent = request(url, { method, headers: own }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      const [cookie = ''] = answer.headers['set-cookie']?.[0]?.split(';') ?? []
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text, cookie }))
    })
    sent.on('error', reject).end(body)
  })
}

test('the decisions of a run with 100 browsers and commands from the desk can be replayed, and its journal names the sender of each command', async ({
  onTestFinished,
}) => {
  const demo = launch(['demo', '--desk', '--journal', journal], { SLUICE_API_KEY: 'never-seen-by-the-desk' })
  onTestFinished(async () => {
    demo.child.kill('SIGKILL')
    await demo.ended
    rmSync(journal, { force: true })
  })
  await until('the desk', () => /"desk":"http/.test(demo.stderr))
  expect(demo.stdout + demo.stderr).not.toContain('login?link=')
  const made = await called(['desk', 'link', '--name', 'phone', '--journal', journal])
  const link = new URL(made.stdout.trim())
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const { cookie } = await ask(new URL('/login', link), 'POST', form, `link=${link.searchParams.get('link')}`)

  const seqs: number[] = []
  const browsers = new Browsers({
    ...{ origin: link.origin, cookie, reading: 10, stalled: 90 },
    saw: (browser, seq) => (seqs[browser] = seq),
  })
  onTestFinished(() => browsers.close())
  await browsers.connect()

  const act = async (fields: object): Promise<string> => {
    const json = { 'content-type': 'application/json', cookie }
    const shown = await ask(new URL('/api/actions/preview', link), 'POST', json, JSON.stringify(fields))
    const { nonce, error } = JSON.parse(shown.body)
    if (error !== undefined) return `refused: ${error}`
    const done = await ask(new URL('/api/actions/confirm', link), 'POST', json, JSON.stringify({ nonce }))
    return JSON.parse(done.body).text ?? `refused: ${JSON.parse(done.body).error}`
  }
  const view = async () => (await sendCommand(journal, { command: 'status' })) as View
  const held = await until('a position', async () => (await view()).positions.find(({ tokens }) => tokens > 0))
  expect(await act({ action: 'buy', mint: held.mint, bot: held.bot, sol: 0.01 })).toMatch(
    /^refused: the buy is refused: [A-Z_]+, bought by hand/,
  )
  expect(await act({ action: 'sell', mint: held.mint })).toMatch(/^selling /)
  expect(await act({ action: 'halt' })).toMatch(/^entries are halted/)
  expect(await act({ action: 'buy', mint: held.mint, bot: held.bot, sol: 0.01 })).toMatch(/^refused: .*HALTED/)
  expect(await act({ action: 'resume' })).toMatch(/entries/)
  expect(await act({ action: 'cancel', order: 'o999999' })).toMatch(/^refused: o999999 is not open/)
  const { seq, bots } = await view()
  const known = bots.map(({ name }) => name)
  await until('the reading browsers', () => seqs.length === 10 && seqs.every((seen) => seen >= seq))
  expect(browsers.open).toBe(100)
  browsers.close()
  demo.child.kill('SIGINT')
  await demo.ended

  const db = new Database(journal, { readonly: true })
  const results = db.prepare('SELECT DISTINCT bot FROM net_results ORDER BY bot').pluck().all()
  expect(results).toEqual(known.toSorted())
  const given = db.prepare("SELECT json FROM input WHERE kind = 'command' ORDER BY seq").all() as { json: string }[]
  db.close()
  const commands = given.map(({ json }) => JSON.parse(json)).map(({ command, by }) => [command.name, by])
  expect(commands).toEqual([
    ...[
      ['buy', 'phone'],
      ['sell', 'phone'],
      ['halt', 'phone'],
      ['buy', 'phone'],
      ['resume', 'phone'],
    ],
    ['stop', undefined],
  ])
  const sums = sumsOf(journal)
  expect(sums.map(({ header, money }) => [header, money])).toEqual(sums.map(({ report }) => [report, report]))
  expect(sums.some(({ report }) => report !== 0)).toBe(true)
  const replayed = await called(['replay', '--verify', '--json', '--journal', journal])
  expect(JSON.parse(replayed.stdout.trim().split('\n').at(-1) as string)).toMatchObject({
    segments: 1,
    divergence: null,
  })
  expect(replayed.code).toBe(0)
})
