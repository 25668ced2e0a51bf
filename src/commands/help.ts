import { catalogue } from './catalogue.ts'
import { wrapped } from './terminal.ts'

/** Where nobody says how wide a line is. */
const USUAL_COLUMNS = 120
/** Less room than this for words, and every one of them would have a line of its own. */
const LEAST_ROOM = 30

/** What `sluice --help` prints: every command with what it does, written here so that it needs no parser. */
export function helpText(columns = process.stdout.columns ?? USUAL_COLUMNS): string {
  const groups = Object.entries(catalogue).map(([title, commands]) => {
    const lines = commands.map(
      (command) => [[command.name, command.arguments].join(' ').trim(), command.about] as const,
    )
    return { title, lines }
  })
  const width = Math.max(...groups.flatMap(({ lines }) => lines.map(([usage]) => usage.length)))
  return [
    'sluice: automated trading of Solana tokens, live, on paper and in backtests',
    'Usage: sluice <command> [options]',
    ...groups.map(({ title, lines }) =>
      [title, ...lines.flatMap(([usage, about]) => entry(usage.padEnd(width), about, columns))].join('\n'),
    ),
    'sluice <command> --help tells its options. To see it trade: sluice demo\n',
  ].join('\n\n')
}

/** A command on as many lines as it needs. */
function entry(usage: string, about: string, columns: number): string[] {
  const room = Math.max(LEAST_ROOM, columns - usage.length - 4)
  const [first = '', ...rest] = wrapped(about, room)
  return [`  ${usage}  ${first}`, ...rest.map((line) => `${' '.repeat(usage.length + 4)}${line}`)]
}
