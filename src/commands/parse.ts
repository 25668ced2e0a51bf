import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { SluiceError } from '../base/errors.ts'
import { type CommandSpec, catalogue } from './catalogue.ts'
import { helpText } from './help.ts'
import type { Options } from './options.ts'
import { type NumberRange, type OptionName, optionSpecs } from './options.ts'

/** Parses the command line by the catalogue, loads the one module it asks for, runs it; answers the exit code. */
export async function parse(args: readonly string[]): Promise<number> {
  let exitCode = 0
  const program = new Command('sluice')
    .helpCommand(false)
    .showHelpAfterError('(sluice --help lists what there is)')
    .exitOverride()
  program.helpInformation = () => helpText()
  for (const spec of Object.values(catalogue).flat()) {
    const command = declare(program, spec)
    command.action(async () => {
      const { run } = await spec.load()
      exitCode = await run(command.args, optionsOf(command, spec))
    })
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    // commander has said what was wrong; asking for help is not wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof SluiceError)) throw error
    console.error(`sluice: ${error.message}`)
    return error.exitCode
  }
  return exitCode
}

function declare(program: Command, spec: CommandSpec): Command {
  const command = program.command(spec.arguments ? `${spec.name} ${spec.arguments}` : spec.name)
  command.description(spec.about)
  for (const name of spec.options) command.addOption(option(name, spec))
  return command
}

/** By the catalogue's names: two options may share a flag, in different commands. */
function optionsOf(command: Command, { options }: CommandSpec): Options {
  const given = command.opts<Record<string, unknown>>()
  const values = options.map((name) => [name, given[new Option(optionSpecs[name].flags).attributeName()]] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

function option(name: OptionName, { defaults, says }: CommandSpec): Option {
  const { flags, about, number, many } = optionSpecs[name]
  const declared = new Option(flags, says?.[name] ?? about)
  const value = defaults?.[name]
  if (value !== undefined) declared.default(value, String(value))
  if (number) declared.argParser((text) => parseNumber(text, number))
  else if (many) declared.argParser((text, before: string[] = []) => [...before, textOf(text)])
  else if (declared.required) declared.argParser(textOf)
  return declared
}

/** Where the value was left out, the option behind it would be taken for it. */
function textOf(text: string): string {
  if (!text.startsWith('--')) return text
  throw new InvalidArgumentError(`That is an option: its own value has to stand before it (./${text} is a file).`)
}

function parseNumber(text: string, { integer = false, min, max = Number.MAX_SAFE_INTEGER }: NumberRange): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= min && value <= max && (!integer || Number.isInteger(value))) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  throw new InvalidArgumentError(`A ${integer ? 'whole ' : ''}number ${range} is needed.`)
}
