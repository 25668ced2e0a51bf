import { copyFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { openForWriting } from '../../src/journal/database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { called } from './called.ts'

const { path: folder, write } = temporaryFolder()
Object.assign(process.env, {
  XDG_STATE_HOME: join(folder, 'state'),
  KEY: 'a-key-of-the-service',
  RPC: 'https://rpc.invalid/a-key',
})
const WALLET = '7EYnhQoR9YM3N7UoaKRoA44Uy8JeaZV3qyouov87awMs'
const EXITS = { maxHoldSeconds: 60 }

/**
 * Runs a command that must be refused. Its message must be short, without a stack trace, and contain the name of the
 * file or setting.
 */
async function refusal(args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const { code, stdout, stderr } = await called(args)
  expect(stdout).toBe('')
  expect(stderr).not.toMatch(/\n\s+at |node:internal|Error:/)
  return {
    code,
    said: stderr
      .split('\n')
      .filter((line) => !line.startsWith('{'))
      .join('\n'),
  }
}

function config(name: string, over: object = {}): string {
  return write(
    name,
    JSON.stringify({
      service: { baseUrl: 'https://service.invalid/api', wsUrl: 'wss://service.invalid/api/data', apiKey: 'env:KEY' },
      chain: { rpc: [{ url: 'env:RPC' }] },
      wallet: { publicKey: WALLET },
      journal: { path: join(folder, `${name}.db`) },
      bots: [{ name: 'dips', strategy: 'dip-buyer', mode: 'live', exits: EXITS }],
      ...over,
    }),
  )
}

describe('a refused run', () => {
  const paper = { bots: [{ name: 'dips', strategy: 'dip-buyer', exits: EXITS }] }
  const tls = (key: string): object => ({
    origin: 'https://desk.example.com',
    tls: { certificate: 'nowhere.pem', key },
  })
  const bare = { bots: [{ name: 'dips', strategy: 'dip-buyer', mode: 'live' }] }
  const local = { bots: [{ name: 'dips', strategy: 'dip-buyer', mode: 'live', executor: 'local', exits: EXITS }] }
  const loopback = {
    service: { baseUrl: 'http://127.0.0.1:9/api', wsUrl: 'ws://127.0.0.1:9/api/data', apiKey: 'env:KEY' },
  }
  const keyless = { service: { ...loopback.service, apiKey: 'env:NOBODY_SET_THIS' } }
  test.for<[what: string, args: () => string[], code: number, said: RegExp]>([
    [
      '--live without a confirmation, after the worst case is shown',
      () => ['run', config('unconfirmed'), '--live'],
      4,
      /Worst case, SOL.*--live needs a confirmation: run it in a terminal, or add --yes/s,
    ],
    [
      'a confirmed --live whose chain cannot be reached',
      () => ['run', config('far'), '--live', '--yes'],
      1,
      /no RPC answers/,
    ],
    ['--live without a live bot', () => ['run', config('paper', paper), '--live', '--yes'], 2, /no bot has mode: live/],
    ['a live bot without an exit', () => ['run', config('bare', bare)], 2, /exits/],
    [
      'executor: local without a builder policy',
      () => [
        'run',
        config('local', { ...loopback, ...local, wallet: { publicKey: WALLET, keypair: 'file:/nowhere' } }),
        '--live',
        '--yes',
      ],
      4,
      /executor: local/,
    ],
    ['a file without a bot', () => ['run', config('none', { bots: [] })], 2, /no bot/],
    [
      'a desk whose certificate is missing',
      () => ['run', config('untls', { ...paper, desk: tls(write('tls.key', '')) })],
      2,
      /desk\.tls\.certificate: .*nowhere\.pem: no such file: correct the path/,
    ],
    [
      '`check` of a desk whose certificate is missing',
      () => ['check', config('untls', { ...paper, desk: tls(write('tls.key', '')) })],
      2,
      /untls:\d+:\d+ desk\.tls\.certificate: .*nowhere\.pem: no such file: correct the path/,
    ],
    [
      'a file that is not YAML',
      () => ['run', write('torn.yaml', 'service: sandbox\nbots: [{ name: dips\n')],
      2,
      /torn\.yaml:\d+:\d+/,
    ],
    [
      'a misspelt key',
      () => ['run', write('typo.yaml', 'service: sandbox\nbots:\n  - { name: dips, stratgy: dip-buyer }\n')],
      2,
      /typo\.yaml:3:\d+.*stratgy.*did you mean strategy/s,
    ],
    [
      'an API key that is written into the file',
      () => ['run', config('naked', { service: { ...loopback.service, apiKey: 'sk-1234567890' } })],
      2,
      /apiKey.*env:NAME or file:PATH/s,
    ],
    ['a file that does not exist', () => ['run', join(folder, 'nowhere.yaml')], 2, /nowhere\.yaml/],
    [
      'an API key in a variable that is not set',
      () => ['run', config('unset', keyless)],
      2,
      /NOBODY_SET_THIS is not set|NOBODY_SET_THIS.*not set/,
    ],
    [
      'a chain that does not answer',
      () => [
        'run',
        config('dead', { ...loopback, chain: { rpc: [{ url: 'http://127.0.0.1:9/' }] } }),
        '--live',
        '--yes',
      ],
      1,
      /no RPC answers/,
    ],
  ])('a command is refused with one short message: %s', async ([, args, code, said]) => {
    const refused = await refusal(args())
    expect(refused).toEqual({ code, said: expect.stringMatching(said) })
    expect(refused.said).not.toMatch(/sk-1234567890|a-key/)
  })
})

describe.concurrent('a file that is not a journal of Sluice', () => {
  const paths = {
    newer: join(folder, 'newer.db'),
    truncated: join(folder, 'truncated.db'),
    text: join(folder, 'text.db'),
    foreign: join(folder, 'foreign.db'),
  }
  beforeAll(() => {
    const good = join(folder, 'good.db')
    openForWriting(good).close()
    for (const path of [paths.newer, paths.truncated]) copyFileSync(good, path)
    const db = new Database(paths.newer)
    db.pragma('user_version = 99')
    db.close()
    truncateSync(paths.truncated, 50_000)
    writeFileSync(paths.text, 'Dear diary,\n'.repeat(1_000))
    new Database(paths.foreign).exec('CREATE TABLE diary (day TEXT)').close()
  })
  const said = {
    newer: /was written by a newer version of Sluice/,
    truncated: /is corrupt/,
    text: /is not a Sluice journal/,
    foreign: /is not a Sluice journal/,
  }
  const commands = [
    ['demo', '--seconds', '1'],
    ['orders', '--json'],
    ['replay', '--verify'],
  ]
  const table = Object.keys(paths).flatMap((kind) =>
    commands.map((command) => [command[0] as string, kind as keyof typeof paths, command] as const),
  )
  test.for(table)('the command %s refuses an invalid journal file (%s)', async ([, kind, command]) => {
    expect(await refusal([...command, '--journal', paths[kind]])).toEqual({
      code: 1,
      said: expect.stringMatching(said[kind]),
    })
  })

  test.for([['halt'], ['resume'], ['flatten'], ['sell', WALLET]])(
    'the command %s is refused if no process runs',
    async (command) => {
      expect(await refusal([...command, '--journal', join(folder, 'idle.db')])).toEqual({
        code: 1,
        said: expect.stringContaining('no process runs on the journal'),
      })
    },
  )
})
