import { readFileSync } from 'node:fs'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { type CommandSpec, catalogue, type NumberRange, type OptionName, optionSpecs } from './commands/catalogue.ts'
import type { Options } from './commands/options.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const program = new Command('sluice')
  .description('A trading bot framework for Solana tokens.')
  .version(version)
  .helpCommand(false)
  .showHelpAfterError('(sluice --help lists what there is)')
  .exitOverride()

for (const [group, commands] of Object.entries(catalogue)) {
  program.commandsGroup(group)
  for (const command of commands) declare(command)
}

try {
  await program.parseAsync()
} catch (error) {
  // commander has said what was wrong; asking for help or the version is not wrong.
  if (!(error instanceof CommanderError)) throw error
  process.exitCode = error.exitCode === 0 ? 0 : 2
}

function declare(spec: CommandSpec): void {
  const command = program.command(spec.arguments ? `${spec.name} ${spec.arguments}` : spec.name)
  command.description(spec.about)
  for (const name of spec.options) command.addOption(option(name, spec.defaults?.[name]))
  command.action(async () => {
    const { run } = await spec.load()
    process.exitCode = await run(command.args, command.opts<Options>())
  })
}

function option(name: OptionName, value: Options[OptionName]): Option {
  const { flags, about, number } = optionSpecs[name]
  const declared = new Option(flags, about)
  if (value !== undefined) declared.default(value)
  if (number) declared.argParser((text) => parseNumber(text, number))
  return declared
}

function parseNumber(text: string, { integer = false, min, max = Number.MAX_SAFE_INTEGER }: NumberRange): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= min && value <= max && (!integer || Number.isInteger(value))) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  throw new InvalidArgumentError(`A ${integer ? 'whole ' : ''}number ${range} is needed.`)
}
