import { readFileSync } from 'node:fs'
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
  // The signer loads only what npm has installed.
  if (first !== 'signer') (await import('./config/joined-libraries.ts')).useJoinedLibraries()
  const { parse } = await import('./commands/parse.ts')
  // `sluice help run` is `sluice run --help`.
  process.exitCode = await parse(first === 'help' ? [...rest.slice(0, 1), '--help'] : [first, ...rest])
}
