import { CommanderError, Option as CommandOption, Command as Program } from 'commander'
import { SluiceError } from '../base/errors.ts'
import { type CatalogueEntry, catalogue } from './catalogue.ts'
import { helpText } from './help.ts'
import type { Command, Option } from './options.ts'

/** Parses the command line, loads the module of its command and runs it. Returns the exit code. */
export async function parse(args: readonly string[]): Promise<number> {
  let exitCode = 0
  const program = new Program('sluice')
    .helpCommand(false)
    .showHelpAfterError('(sluice --help lists the commands)')
    .exitOverride()
  program.helpInformation = () => helpText()
  // Only the given command is declared with its options. The other commands are declared too, so that the parser can
  // suggest a name for a misspelled command.
  for (const entry of Object.values(catalogue).flat()) {
    const declared = declare(program, entry)
    if (entry.name !== args[0]) continue
    const { command } = await entry.load()
    for (const [name, option] of Object.entries(command.options)) declared.addOption(optionOf(name, option))
    declared.action(async () => {
      exitCode = await command.run(declared.args, valuesOf(declared, command))
    })
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    // The parser has already printed its errors. A request for help also arrives here, but is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof SluiceError)) throw error
    console.error(`sluice: ${error.message}`)
    return error.exitCode
  }
  return exitCode
}

function declare(program: Program, { name, arguments: expected, about }: CatalogueEntry): Program {
  return program.command(expected ? `${name} ${expected}` : name).description(sentence(about))
}

function sentence(about: string): string {
  return about.charAt(0).toUpperCase() + about.slice(1)
}

/** Values of a command's options by their names in the code. The parser has checked and converted each value. */
function valuesOf(declared: Program, { options }: Command): never {
  const given = declared.opts<Record<string, unknown>>()
  return Object.fromEntries(
    Object.entries(options).map(([name, { fallback }]) => [name, givenOf(given, name) ?? fallback]),
  ) as never
}

/** Value that the parser has stored for an option. The parser stores `--no-desk` as `desk: false`. */
function givenOf(given: Record<string, unknown>, name: string): unknown {
  const positive = /^no([A-Z].*)$/.exec(name)?.[1]
  return positive === undefined ? given[name] : given[positive.charAt(0).toLowerCase() + positive.slice(1)] === false
}

function optionOf(name: string, { placeholder, about, fallback, read }: Option<unknown>): CommandOption {
  const flagName = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const option = new CommandOption(`${flagName} ${placeholder}`.trim(), about)
  if (typeof fallback === 'string' || typeof fallback === 'number') option.default(fallback, String(fallback))
  if (read) option.argParser((text, before) => read(text, before ?? fallback))
  return option
}
