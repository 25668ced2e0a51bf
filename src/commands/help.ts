import { catalogue } from './catalogue.ts'

/** What `sluice --help` prints: every command on one line, written here so that it needs no parser. */
export function helpText(): string {
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
      [title, ...lines.map(([usage, about]) => `  ${usage.padEnd(width)}  ${about}`)].join('\n'),
    ),
    'sluice <command> --help tells its options. To see it trade: sluice demo\n',
  ].join('\n\n')
}
