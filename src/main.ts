import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { helpText } from './commands/help.ts'

// Help and version need no other module. For a command, the parser is loaded, which loads the command's modules.
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

/** Keeps V8's space for new objects at its present size; by default it grows to 70 MB. Must run before other modules
 *  load, because V8 does not return this memory. */
export function keepNewSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Also makes V8 collect garbage earlier, when the heap is one and a half times the live data. This saves memory but
 *  costs speed. */
export function keepHeapSmall(): void {
  keepNewSpaceSmall()
  setFlagsFromString('--heap-growing-percent=50')
}
