import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { helpText } from './commands/help.ts'

// Help and version answer at once; the parser is loaded for a command, and a command's own modules by that command.
const [first, ...rest] = process.argv.slice(2)

if (first === undefined) {
  process.stderr.write(helpText())
  process.exitCode = 2
} else if (['help', '--help', '-h'].includes(first) && rest.length === 0) {
  process.stdout.write(helpText())
} else if (['--version', '-V'].includes(first)) {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  process.stdout.write(`${(JSON.parse(manifest) as { version: string }).version}\n`)
} else {
  if (first === 'backtest' && rest.some((arg) => arg.startsWith('--out'))) keepHeapSmall()
  else if (first === 'backtest') keepNewSpaceSmall()
  const { parse } = await import('./commands/parse.ts')
  // `sluice help run` is `sluice run --help`.
  process.exitCode = await parse(first === 'help' ? [...rest.slice(0, 1), '--help'] : [first, ...rest])
}

/** From now on space for new objects stays as small as it is. Left to itself V8 takes 70 MB for it, whatever lives.
 *  Call it before anything is loaded: what it once took it keeps. */
export function keepNewSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** And V8 collects sooner: the heap grows by half of what lives in it. For commands whose memory has to be small and
 *  whose speed nobody measures. */
export function keepHeapSmall(): void {
  keepNewSpaceSmall()
  setFlagsFromString('--heap-growing-percent=50')
}
