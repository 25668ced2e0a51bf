import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { unitFile } from '../../../src/commands/deploy/unit-file.ts'
import { called } from '../../e2e/called.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
const bots = folder.write(
  'My Bots 100%/bots.yaml',
  `service: { baseUrl: https://s.example/api, wsUrl: wss://s.example/api/data, apiKey: env:SLUICE_API_KEY }
chain: { rpc: [{ url: env:RPC_URL }] }
journal: { path: ${join(folder.path, 'My Bots 100%/data/sluice.db')} }
bots: [{ name: a, strategy: dip-buyer }]
`,
)
const config = join(folder.path, 'config')
const unitPath = join(config, 'systemd/user/sluice.service')
const envPath = join(config, 'sluice/sluice.env')
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
const unlessPresent = hasSystemd ? test : test.skip
const named = hasSystemd ? '' : ' (skipped: systemd-analyze is not installed)'

beforeEach(() => {
  vi.stubEnv('XDG_CONFIG_HOME', config)
  vi.stubEnv('XDG_STATE_HOME', join(folder.path, 'state'))
})
afterEach(() => {
  vi.unstubAllEnvs()
})

const install = (...args: string[]) => called(['service', 'install', bots, ...args], folder.path)

test('`service install` writes a unit and a private file for the secrets, and prints the commands that start the service', async () => {
  const { code, stdout, stderr } = await install()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining([
      `${unitPath} is written; nothing is started. Next:`,
      `  edit ${envPath}: SLUICE_API_KEY, RPC_URL`,
      '  systemctl --user daemon-reload',
      '  systemctl --user enable --now sluice',
    ]),
  )
  const unit = readFileSync(unitPath, 'utf8')
  expect(unit).toContain(`ExecStart=${process.execPath} `)
  expect(unit).toMatch(/ run "\S*\/My Bots 100%%\/bots\.yaml" --json\n/)
  expect(unit).not.toContain('--live')
  expect(unit).toContain('RestartPreventExitStatus=2 3 4\n')
  expect(readFileSync(envPath, 'utf8')).toBe(
    '# Secrets of the service, one NAME=value a line.\nSLUICE_API_KEY=\nRPC_URL=\n',
  )
  expect(statSync(envPath).mode & 0o777).toBe(0o600)
  // The folders to which the unit gives write access have to exist, or systemd does not start the service.
  for (const path of ['My Bots 100%/data', 'state/sluice']) expect(existsSync(join(folder.path, path))).toBe(true)
})

test('a second `service install` keeps the secrets and replaces its own unit, but no unit that the user wrote', async () => {
  await install()
  writeFileSync(envPath, 'RPC_URL=https://rpc.example/key\n')
  expect(await install('--json')).toMatchObject({ code: 0 })
  expect(readFileSync(envPath, 'utf8')).toBe('RPC_URL=https://rpc.example/key\n')
  chmodSync(envPath, 0o644)
  expect(await install()).toMatchObject({ code: 4, stderr: expect.stringContaining(`chmod 600 '${envPath}'`) })
  chmodSync(envPath, 0o600)
  writeFileSync(unitPath, '[Unit]\n')
  expect(await install()).toMatchObject({ code: 2, stderr: expect.stringContaining('was not written by this command') })
  expect(readFileSync(unitPath, 'utf8')).toBe('[Unit]\n')
  writeFileSync(
    unitPath,
    readFileSync(unitPath, 'utf8').replace(
      '[Unit]',
      '# Written by `sluice service install`, which replaces this file.',
    ),
  )
})

test('`service install --print` shows the unit and writes nothing', async () => {
  const elsewhere = join(folder.path, 'elsewhere')
  mkdirSync(elsewhere)
  vi.stubEnv('XDG_CONFIG_HOME', elsewhere)
  expect((await install('--print')).stdout).toMatch(/^# Written by `sluice service install`.*\n\[Unit\]\n/)
  expect(JSON.parse((await install('--print', '--json')).stdout).unit).toContain('[Service]')
  expect(readdirSync(elsewhere)).toEqual([])
})

describe('a refused `service` command', () => {
  test.each<[what: string, args: string[], code: number, says: string]>([
    ['a word other than `install`', ['service', 'start', bots], 2, 'expected `service install FILE...`'],
    ['a missing configuration', ['service', 'install', 'no.yaml'], 2, 'no.yaml'],
    ['a service name that is a path', ['service', 'install', bots, '--name', '../x'], 2, 'expected letters'],
    ['--system without an account', ['service', 'install', bots, '--system'], 2, 'needs --as USER'],
    ['the account root', ['service', 'install', bots, '--system', '--as', 'root'], 2, 'has all rights'],
    ['an unknown account', ['service', 'install', bots, '--system', '--as', 'no-one-here'], 2, 'useradd --system'],
    ['an account without --system', ['service', 'install', bots, '--as', 'root'], 2, '--as needs --system'],
    ['--live without a live bot', ['service', 'install', bots, '--live', '--yes'], 2, 'no bot has mode: live'],
  ])('the command `service` refuses %s', async (_what, args, code, says) => {
    expect(await called(args, folder.path)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(says) })
  })

  test('`service install --live` without a confirmation exits with code 4 and writes no unit', async () => {
    const live = folder.write(
      'live.yaml',
      readFileSync(bots, 'utf8')
        .replace(
          'chain: {',
          'wallet: { publicKey: So11111111111111111111111111111111111111112 }\nchain: { cluster: mainnet-beta,',
        )
        .replace('dip-buyer }', 'dip-buyer, mode: live, exits: { stopLossPercent: 20 } }'),
    )
    const refused = await called(['service', 'install', live, '--live', '--name', 'real'], folder.path)
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('--live needs a confirmation') })
    expect(existsSync(join(config, 'systemd/user/real.service'))).toBe(false)
    expect((await called(['service', 'install', live, '--live', '--print'], folder.path)).stdout).toContain(
      '--json --live --yes\n',
    )
  })
})

test.skipIf(process.getuid?.() !== 0)(
  '`service install` refuses a journal folder that belongs to another account (skipped unless root)',
  async () => {
    const account = readFileSync('/etc/passwd', 'utf8').match(/^(daemon|bin):/m)?.[1] ?? ''
    const own = folder.write('own/bots.yaml', 'service: sandbox\nbots: [{ name: a, strategy: dip-buyer }]\n')
    mkdirSync(join(folder.path, 'own/data'))
    const refused = await called(
      ['service', 'install', own, '--system', '--as', account, '--name', 'never'],
      join(own, '..'),
    )
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining(`does not belong to ${account}`) })
    expect(existsSync('/etc/systemd/system/never.service')).toBe(false)
  },
)

describe('systemd', () => {
  const settings = {
    command: [process.execPath, '/opt/a b/sluice.js', 'run', '/opt/50% "$HOME"\\x/bots.yaml'],
    workingFolder: '/opt/a b',
    environmentFile: '/etc/sluice/sluice.env',
    writable: ['/var/lib/a b/100%', '/var/lib/state'],
    about: 'Sluice: 50% bots.yaml',
  }
  const kinds = [
    ['a user service', {}],
    ['a system service', { user: 'daemon' }],
  ] as const

  for (const [kind, more] of kinds) {
    unlessPresent(`systemd-analyze verify reports no error in the unit of ${kind}${named}`, () => {
      const path = folder.write(`${kind}/sluice.service`, unitFile({ ...settings, ...more }), 0o644)
      const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
      const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('sluice.service'))
      expect({ status, ours }).toEqual({ status: 0, ours: [] })
    })
  }

  unlessPresent(`systemd-analyze security rates the exposure of a system service below 2.5 of 10${named}`, () => {
    const path = folder.write('security/sluice.service', unitFile({ ...settings, user: 'daemon' }), 0o644)
    const args = ['security', '--offline=yes', '--threshold=25', '--no-pager', path]
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    expect(status, stdout).toBe(0)
  })

  test.each(['a\nExecStartPre=/bin/evil', ' /leading', '/trailing '])(
    '`service install` refuses the path %j',
    (path) => {
      expect(() => unitFile({ ...settings, workingFolder: path })).toThrow('cannot be written into a unit file')
    },
  )

  test('the systemd unit hides the home folders unless the service needs them', () => {
    const away = { ...settings, command: ['/usr/bin/node', '/opt/sluice.js'] }
    expect(unitFile(away)).toContain('ProtectHome=yes\n')
    expect(unitFile({ ...away, workingFolder: '/home/me' })).toContain('ProtectHome=read-only\n')
  })
})
