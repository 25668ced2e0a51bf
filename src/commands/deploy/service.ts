import { chownSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { MANIFEST } from '../../config/package-paths.ts'
import { controlPath } from '../../live/control/command.ts'
import { stateFolder } from '../../live/service-access.ts'
import { writeGenerated, writeNew } from '../begin/new-files.ts'
import { configOf } from '../configuration.ts'
import { defineCommand, flag, JSON_LINE, text } from '../options.ts'
import { confirmLive } from '../trade/run.ts'
import { MARK, unitFile } from './unit-file.ts'

/** User account of the operating system under which the systemd service runs. */
interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly stateFolder: string
}

/** Writes a systemd unit that runs bots, and the file for its secrets. Does not start the service: the last lines of
 *  the output are the commands that start it. */
export const command = defineCommand({
  options: {
    system: flag('write a system-wide unit (as root) instead of a unit of this user'),
    as: text('<user>', 'with --system: run as this account, which must exist'),
    name: text('<name>', 'name of the unit', 'sluice'),
    live: flag('let bots with `mode: live` trade real money at every start of the service'),
    yes: flag('confirm --live without a prompt'),
    print: flag('print the unit and write nothing'),
    json: JSON_LINE,
  },
  async run([what, ...given], { system, as, name, live, yes, print, json }) {
    if (what !== 'install') throw usageError(`service ${what}: expected \`service install FILE...\``)
    if (!/^[A-Za-z0-9][\w-]{0,60}$/.test(name)) throw usageError(`--name ${name}: expected letters, digits, - and _`)
    const account = accountOf(system, as)
    const files = given.map((file) => resolve(file))
    const config = await configOf(files)
    if (live && !print) await confirmLive(config, yes)
    const folder = system ? '/etc' : (process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'))
    const environmentFile = join(folder, 'sluice', `${name}.env`)
    const unit = unitFile({
      ...(system && { user: account.name }),
      command: [
        process.execPath,
        join(dirname(MANIFEST), 'bin/sluice.js'),
        'run',
        ...files,
        '--json',
        ...wordsFor(live),
      ],
      workingFolder: process.cwd(),
      environmentFile,
      writable: [dirname(config.journal.path), account.stateFolder],
      about: `Sluice: ${files.map((file) => basename(file)).join(', ')}${live ? ', with real money' : ', on paper'}`,
    })
    if (print) {
      console.log(json ? JSON.stringify({ unit }) : unit.trimEnd())
      return ExitCode.done
    }
    const path = join(folder, 'systemd', system ? 'system' : 'user', `${name}.service`)
    prepareFolders(config, account)
    mkdirSync(dirname(path), { recursive: true })
    writeGenerated(path, unit, MARK)
    const secrets = secretsIn(files)
    writeEnvironment(environmentFile, secrets)
    if (json) console.log(JSON.stringify({ unit: path, environmentFile, secrets }))
    else console.log(nextSteps({ path, environmentFile, secrets, name, system }))
    return ExitCode.done
  },
})

function wordsFor(live: boolean): string[] {
  return live ? ['--live', '--yes'] : []
}

function accountOf(system: boolean, as: string | undefined): Account {
  const { username, uid, gid } = userInfo()
  if (!system) {
    if (as !== undefined) throw usageError('--as needs --system, because a service of a user always runs as that user')
    return { name: username, uid, gid, stateFolder: stateFolder() }
  }
  if (as === undefined) throw usageError('--system needs --as USER: the account that runs the bots, not root')
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${as}:`))
  const [name, , id, group, , home] = line?.split(':') ?? []
  if (name === undefined || home === undefined)
    throw usageError(`there is no account ${as}: \`useradd --system --create-home ${as}\` creates it`)
  if (id === '0') throw usageError(`${as} has all rights, because it is an account of root; name another account`)
  return { name, uid: Number(id), gid: Number(group), stateFolder: join(home, '.local/state/sluice') }
}

/** Creates the folders that the process writes, because a unit with a missing folder does not start. */
function prepareFolders({ journal }: Config, { name, uid, gid, stateFolder }: Account): void {
  for (const folder of [dirname(journal.path), stateFolder]) {
    const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (first !== undefined && uid !== userInfo().uid)
      for (let made = folder; made.length >= first.length; made = dirname(made)) chownSync(made, uid, gid)
    if (statSync(folder).uid !== uid)
      throw new SluiceError(`${folder} does not belong to ${name}; run: chown -R ${name} '${folder}'`, ExitCode.unsafe)
  }
  if (controlPath(journal.path) !== `${resolve(journal.path)}.sock`)
    throw usageError(
      `the path of the journal is too long for a service, because commands would not find its socket: shorten ${journal.path} to 95 bytes`,
    )
}

/** Names of the environment variables that the configuration reads secrets from. */
function secretsIn(files: readonly string[]): string[] {
  const found = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\benv:([A-Za-z_]\w*)/g)])
  return [...new Set(found.map(([, name = '']) => name))]
}

/** Writes the file for the secrets, or checks that an existing one is private. */
function writeEnvironment(path: string, secrets: readonly string[]): void {
  const text = ['# Secrets of the service, one NAME=value a line.', ...secrets.map((name) => `${name}=`), ''].join('\n')
  if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeNew(dirname(path), { [basename(path)]: text }, 0o600)
  if ((statSync(path).mode & 0o077) !== 0)
    throw new SluiceError(`others can read ${path}; run: chmod 600 '${path}'`, ExitCode.unsafe)
}

interface Installed {
  readonly path: string
  readonly environmentFile: string
  readonly secrets: readonly string[]
  readonly name: string
  readonly system: boolean
}

function nextSteps({ path, environmentFile, secrets, name, system }: Installed): string {
  const systemctl = system ? 'systemctl' : 'systemctl --user'
  return [
    `${path} is written; nothing is started. Next:`,
    ...(secrets.length > 0 ? [`  edit ${environmentFile}: ${secrets.join(', ')}`] : []),
    `  ${systemctl} daemon-reload`,
    `  ${systemctl} enable --now ${name}`,
    ...(system ? [] : ['  loginctl enable-linger   # otherwise the service ends when you log out']),
    `  journalctl ${system ? '' : '--user '}--unit ${name} --follow`,
  ].join('\n')
}

function usageError(message: string): SluiceError {
  return new SluiceError(message, ExitCode.usage)
}
