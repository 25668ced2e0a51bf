import { catalogue } from './catalogue.ts'
import { DEFAULT_COLUMNS, wrapped } from './terminal.ts'

/** Smallest width of the descriptions. In a narrower column, a line would break after every word. */
const MIN_ROOM = 30

/** Text of `sluice --help`. It is built without the parser, so that the help appears quickly. */
export function helpText(columns = process.stdout.columns ?? DEFAULT_COLUMNS): string {
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
      [title, ...lines.flatMap(([usage, about]) => entryLines(usage.padEnd(width), about, columns))].join('\n'),
    ),
    'Run sluice <command> --help for its options, or sluice demo to see Sluice trade.\n',
  ].join('\n\n')
}

function entryLines(usage: string, about: string, columns: number): string[] {
  const room = Math.max(MIN_ROOM, columns - usage.length - 4)
  const [first = '', ...rest] = wrapped(about, room)
  return [`  ${usage}  ${first}`, ...rest.map((line) => `${' '.repeat(usage.length + 4)}${line}`)]
}
