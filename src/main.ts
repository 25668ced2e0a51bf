import { readFileSync } from 'node:fs'
import { helpText } from './commands/help.ts'
import { keepHeapSmall, keepNewSpaceSmall } from './commands/small-heap.ts'

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
