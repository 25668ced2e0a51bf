import { ExitCode, SluiceError } from '../../base/errors.ts'

/** The first line of a unit that Sluice writes; a file without it is never replaced. */
export const MARK = '# Written by `sluice service install`, which replaces this file.'

export interface UnitSettings {
  /** Name of the user account under which a system-wide systemd service runs; undefined for a systemd service of the
   *  user who installs it. */
  readonly user?: string
  /** Command with its arguments; paths are absolute. */
  readonly command: readonly string[]
  readonly workingFolder: string
  readonly environmentFile: string
  /** Folders that the process writes. The rest of the file system is read-only for the process. */
  readonly writable: readonly string[]
  /** Description of the systemd service, for lists of units. */
  readonly about: string
}

/** Restrictions that both kinds of systemd services support: those of the system and those of a user. */
const RESTRICTIONS = `NoNewPrivileges=yes
ProtectSystem=strict
PrivateTmp=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service @pkey
SystemCallErrorNumber=EPERM
UMask=0077
LimitCORE=0
# MemoryDenyWriteExecute= is absent: V8 writes machine code at run time and cannot start with it.`

/** Restrictions that only the system's manager (systemd as root) can apply. With them, the systemd manager of a user
 *  would refuse to start the service. */
const OF_THE_SYSTEM = `CapabilityBoundingSet=
AmbientCapabilities=
PrivateDevices=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
RemoveIPC=yes
KeyringMode=private`

/** Without PrivateUsers=, the systemd manager of a user cannot make the file system read-only for a service. */
const OF_A_USER = 'PrivateUsers=yes'

/** Text of a systemd unit that runs bots. An error of the configuration, a refused API key and a safety refusal (exit
 *  codes 2, 3, 4) require a person's action, so systemd does not restart the process after them. */
export function unitFile({ user, command, workingFolder, environmentFile, writable, about }: UnitSettings): string {
  const isSystem = user !== undefined
  // `%t` is the user's runtime directory. It contains the registry by which commands find the process.
  const folders = [...writable.map(quoted), ...(isSystem ? [] : ['%t'])]
  const read = [...command.filter((word) => word.startsWith('/')), workingFolder, ...writable]
  return `${MARK}
[Unit]
Description=${plain(about)}
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=600
StartLimitBurst=5

[Service]
Type=exec
${isSystem ? `User=${plain(user)}\n` : ''}WorkingDirectory=${plain(workingFolder)}
# Settings of glibc: freed memory goes back to the system, which makes the process a fifth smaller.
Environment=MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=262144 MALLOC_TRIM_THRESHOLD_=262144
EnvironmentFile=${plain(environmentFile)}
ExecStart=${command.map(argument).join(' ')}
Restart=on-failure
RestartSec=10
RestartPreventExitStatus=2 3 4
# An orderly stop takes a few seconds. Only the main process gets the signal, because the signer must outlive its orders.
KillSignal=SIGTERM
KillMode=mixed
TimeoutStopSec=60
${RESTRICTIONS}
ProtectHome=${read.some(isInHome) ? 'read-only' : 'yes'}
ReadWritePaths=${folders.join(' ')}
${isSystem ? OF_THE_SYSTEM : OF_A_USER}

[Install]
WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}
`
}

function isInHome(path: string): boolean {
  return ['/home', '/root', '/run/user'].some((home) => path === home || path.startsWith(`${home}/`))
}

/** Escapes a value in which systemd expands only `%`. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would begin another setting of the unit
  if (/[\u0000-\u001f\u007f]/.test(text) || text !== text.trim())
    throw new SluiceError(
      `${JSON.stringify(text)} cannot be written into a unit file: it has control characters, or spaces at its ends`,
      ExitCode.usage,
    )
  return text.replaceAll('%', '%%')
}

/** Escapes a word of a list, in which systemd removes quotes. */
function quoted(text: string): string {
  return `"${plain(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** Escapes an argument of a command, in which systemd also expands `$`. */
function argument(text: string): string {
  return /^[\w./:=@,+-]+$/.test(text) ? text : quoted(text).replaceAll('$', '$$$$')
}
