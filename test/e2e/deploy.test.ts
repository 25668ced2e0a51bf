import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { controlPath } from '../../src/live/control/command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { called } from './called.ts'
import { ROOT, sentToBuild, stagesOf } from './dockerfile.ts'
import { pageOf } from './documents.ts'
import { until } from './until.ts'

const folder = temporaryFolder()
const project = join(folder.path, 'bots')
const config = join(folder.path, 'config')
const LINES = [...pageOf('deploy.md').matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
)
const docker = LINES.filter((line) => line.startsWith('docker '))

/** Acts as systemd: starts and stops the commands of the installed unit. */
class Service {
  readonly log = join(folder.path, 'bots.log')
  process: ChildProcess | undefined

  async start(): Promise<void> {
    const unit = readFileSync(join(config, 'systemd/user/sluice.service'), 'utf8')
    const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''
    const [program = '', ...args] = setting('ExecStart').split(' ')
    const cwd = setting('WorkingDirectory')
    expect(readFileSync(setting('EnvironmentFile'), 'utf8')).toMatch(/^# Secrets/)
    const env = { ...process.env, NODE_OPTIONS: '', VITEST: '' }
    const stdio = ['ignore', 'ignore', openSync(this.log, 'a')] as const
    this.process = spawn(program, [...args, '--no-desk'], { cwd, env, stdio: [...stdio] })
    const socket = controlPath(join(cwd, 'data/sluice.db'))
    await until('the service to answer', () => {
      expect(this.process?.exitCode, readFileSync(this.log, 'utf8')).toBe(null)
      return existsSync(socket)
    })
  }

  async stop(): Promise<void> {
    const ended = this.process && once(this.process, 'exit')
    this.process?.kill('SIGTERM')
    expect((await ended)?.[0], readFileSync(this.log, 'utf8')).toBe(0)
    this.process = undefined
  }
}

const service = new Service()
afterAll(() => {
  service.process?.kill('SIGKILL')
  vi.unstubAllEnvs()
})

/** Commands that cannot run on a test machine, because they need npm's registry, or a running systemd or Docker. */
const NOT_RUN = /^(npm install|systemctl --user daemon-reload|loginctl enable-linger|docker .*)$/

test('the commands of docs/deploy.md install, update, roll back and move a service', async () => {
  vi.stubEnv('XDG_CONFIG_HOME', config)
  vi.stubEnv('XDG_STATE_HOME', join(folder.path, 'state'))
  folder.write(
    'bots/bots.yaml',
    'service: sandbox\nbots: [{ name: dips, strategy: dip-buyer, exits: { stopLossPercent: 20 } }]\n',
  )
  let cwd = project
  let starts = 0
  for (const line of LINES) {
    const words = line.split(/\s+/)
    if (line.startsWith('npx sluice ')) {
      const ended = await called(words.slice(2), cwd)
      expect(ended, `${line}\n${ended.stdout}${ended.stderr}`).toMatchObject({ code: 0 })
    } else if (/^systemctl --user (enable --now|start) sluice$/.test(line)) {
      await service.start()
      // Truncates the log, as logrotate does with `copytruncate`. The process must append to the file, so that it
      // continues at the new end.
      if (starts++ === 0) truncateSync(service.log)
    } else if (/^systemctl --user (disable --now|stop) sluice$/.test(line)) await service.stop()
    else if (words[0] === 'mv' || words[0] === 'mkdir') execFileSync(words[0], words.slice(1), { cwd })
    else if (words[0] === 'scp') {
      cwd = join(folder.path, 'NEW/bots')
      mkdirSync(cwd, { recursive: true })
      for (const name of ['bots.yaml', 'move.db']) copyFileSync(join(project, name), join(cwd, name))
    } else expect(line).toMatch(NOT_RUN)
  }
  await service.stop()
  expect(starts).toBe(4)
  expect(readFileSync(service.log, 'utf8')).toMatch(/^\{"level":/)
  const replayed = await called(['replay', '--journal', join(cwd, 'data/sluice.db')])
  expect(replayed, replayed.stdout + replayed.stderr).toMatchObject({ code: 0 })
})

test('the Docker image uses the Node version of package.json, runs without root, and has one writable volume and a health check', () => {
  const stages = stagesOf()
  const { devDependencies, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(new Set(stages.map(({ base }) => base))).toEqual(new Set([`node:${devDependencies.node}-bookworm-slim`]))
  const last = stages.at(-1)?.steps ?? []
  const textOf = (name: string) => last.find((step) => step.name === name)?.text
  expect(textOf('USER')).toBe('1000:1000')
  expect(textOf('HEALTHCHECK')).toBe(
    'CMD ["node", "/opt/sluice/node_modules/sluice/bin/sluice.js", "status", "--json"]',
  )
  expect(JSON.parse(textOf('CMD') ?? '')).toEqual(['run', 'bots.yaml', '--json'])
  // `npm run container` runs the RUN lines of the Dockerfile on the machine itself.
  for (const { name, text } of stages.flatMap(({ steps }) => steps))
    if (name === 'RUN') expect(text).not.toMatch(/(^|\s)\//)
  expect(scripts.container).toBe('node test/e2e/container.main.ts')
  expect(readFileSync(join(ROOT, '.ci/run'), 'utf8')).toContain('npm run container\n')
})

test('the Docker build receives only files that .dockerignore names, and all of them exist', () => {
  expect(sentToBuild().filter((name) => !existsSync(join(ROOT, name)))).toEqual([])
  expect(sentToBuild()).not.toEqual(expect.arrayContaining(['data', '.git', 'node_modules', '.env']))
})

const hasDocker = spawnSync('docker', ['--version']).status === 0
const withDocker = hasDocker ? test : test.skip

withDocker(
  `docker accepts every option in docs/deploy.md${hasDocker ? '' : ' (skipped: docker is not installed)'}`,
  () => {
    for (const line of docker) {
      const [, name = '', ...words] = line.split(' ')
      const help = spawnSync('docker', [name, '--help'], { encoding: 'utf8' }).stdout
      for (const word of words.filter((one) => one.startsWith('--')))
        expect(help, line).toMatch(new RegExp(`${word}\\b`))
    }
    expect(docker).toHaveLength(4)
  },
)
