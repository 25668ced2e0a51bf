// `npm run container`: carries out the steps of the Dockerfile without Docker, each stage in a folder of its own, and
// then runs the entry point and the health check on a folder with bots, with the image read-only. Needs npm's registry,
// so it is not part of `npm test`. Not repeated: the base image, the owner of files, and the limits of a container.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Instruction, ROOT, type Stage, sentToBuild, stagesOf } from './dockerfile.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-container-'))
const NODE = join(ROOT, 'node_modules/.bin/node')
const READY_SECONDS = 60

interface Image {
  readonly root: string
  cwd: string
  readonly env: Record<string, string>
  entry: string[]
  command: string[]
  health: string[]
}

function fail(message: string): never {
  console.error(`${message}\nleft in ${folder}`)
  process.exit(1)
}

/** Returns the path on this machine that corresponds to a path of the image. */
function placeOf({ root, cwd }: Image, path: string): string {
  return path.startsWith('/') ? join(root, path) : join(root, cwd, path)
}

function build(stage: Stage, images: ReadonlyMap<string, Image>): Image {
  const image: Image = { root: join(folder, stage.name), cwd: '/', env: {}, entry: [], command: [], health: [] }
  mkdirSync(image.root)
  for (const step of stage.steps) {
    const started = performance.now()
    carryOut(step, image, images)
    console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${step.name} ${step.text}`)
  }
  return image
}

function carryOut(step: Instruction, image: Image, images: ReadonlyMap<string, Image>): void {
  switch (step.name) {
    case 'WORKDIR':
      image.cwd = step.text
      mkdirSync(placeOf(image, '.'), { recursive: true })
      break
    case 'COPY':
      copy(step, image, images)
      break
    case 'RUN':
      if (/(^|\s)\//.test(step.text))
        fail(`RUN ${step.text}\nhas an absolute path, which is a path of this machine here`)
      run('sh', ['-c', step.text], placeOf(image, '.'))
      break
    case 'ENV': {
      const [name = '', value = ''] = step.text.split('=')
      image.env[name] = value.startsWith('/') ? placeOf(image, value) : value
      break
    }
    case 'ENTRYPOINT':
      image.entry = wordsOf(step.text)
      break
    case 'CMD':
      image.command = wordsOf(step.text)
      break
    case 'HEALTHCHECK':
      image.health = wordsOf(step.text.replace(/^CMD /, ''))
      break
    case 'USER':
    case 'STOPSIGNAL':
      break
    default:
      fail(`${step.name}: this script does not know the instruction`)
  }
}

function copy({ options, text }: Instruction, image: Image, images: ReadonlyMap<string, Image>): void {
  const [from = '', to = ''] = text.split(' ')
  if (options.from === undefined) {
    for (const name of sentToBuild()) cpSync(join(ROOT, name), join(placeOf(image, to), name), { recursive: true })
    return
  }
  const target = placeOf(image, to)
  mkdirSync(dirname(target), { recursive: true })
  cpSync(placeOf(images.get(options.from) ?? fail(`no stage ${options.from}`), from), target, { recursive: true })
  if (options.chmod !== undefined) chmodSync(target, Number.parseInt(options.chmod, 8))
}

function wordsOf(text: string): string[] {
  return JSON.parse(text) as string[]
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) fail(`${args.join(' ')}\nexit ${status}\n${stdout}\n${stderr}`)
}

/**
 * Returns the program, arguments and options with which to run a command of the image on this machine. The program must
 * be Node. Absolute paths become paths inside the folder of the image.
 */
function commandOf(image: Image, [program, ...words]: readonly string[]): readonly [string, string[], object] {
  if (program !== 'node') fail(`${program} is not the program of this image`)
  const args = words.map((word) => (word.startsWith('/') ? placeOf(image, word) : word))
  const user = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {}
  return [
    NODE,
    args,
    {
      cwd: placeOf(image, '.'),
      env: {
        PATH: process.env.PATH,
        HOME: '/nonexistent',
        SLUICE_API_KEY: 'an API key that no service knows',
        ...image.env,
      },
      ...user,
    },
  ]
}

function healthOf(image: Image): number | null {
  return spawnSync(...commandOf(image, image.health)).status
}

/** Removes the write permission from every file of the image, except in the folder of the volume. */
function makeReadOnly(image: Image): void {
  spawnSync('chmod', ['-R', 'a-w,a+rX', image.root])
  chmodSync(folder, 0o755)
  const volume = join(image.root, 'bots/data')
  chmodSync(volume, 0o700)
  if (process.getuid?.() === 0) spawnSync('chown', ['-R', '1000:1000', volume])
}

const images = new Map<string, Image>()
for (const stage of stagesOf()) images.set(stage.name, build(stage, images))
const image = [...images.values()].at(-1) as Image
const bots = join(image.root, 'bots')
// The process can start, answer the health check and stop without a service. The feed stays down.
const service = { baseUrl: 'http://127.0.0.1:9/api', wsUrl: 'ws://127.0.0.1:9/data', apiKey: 'env:SLUICE_API_KEY' }
const section = { name: 'dips', strategy: 'dip-buyer', exits: { stopLossPercent: 20 } }
writeFileSync(join(bots, 'bots.yaml'), JSON.stringify({ service, bots: [section] }))
makeReadOnly(image)
if (healthOf(image) === 0) fail('the health check passes although nothing runs')
const child: ChildProcess = spawn(
  ...(commandOf(image, [...image.entry, ...image.command]) as [string, string[], object]),
)
let said = ''
for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text))
const deadline = performance.now() + READY_SECONDS * 1000
while (healthOf(image) !== 0) {
  if (child.exitCode !== null || performance.now() > deadline) fail(`the container does not become healthy\n${said}`)
  await new Promise((resolve) => setTimeout(resolve, 500))
}
child.kill('SIGTERM')
const code = await new Promise((resolve) => child.once('exit', resolve))
if (code !== 0) fail(`exit code ${code} after SIGTERM\n${said}`)
if (!existsSync(join(bots, 'data/sluice.db')) || (statSync(join(bots, 'data/sluice.db')).mode & 0o077) !== 0)
  fail(`the volume contains no private journal: ${readdirSync(join(bots, 'data'))}`)
const { stdout } = spawnSync('du', ['-sm', join(image.root, 'opt')], { encoding: 'utf8' })
console.log(
  `healthy, stopped in order, wrote only to the volume; ${stdout.split('\t')[0]} MB in addition to the base image`,
)
spawnSync('chmod', ['-R', 'u+w', folder])
rmSync(folder, { recursive: true })
