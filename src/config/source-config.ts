import { statSync } from 'node:fs'
import { z } from 'zod'
import type { Millis } from '../base/units.ts'
import { key } from '../engine/key-text.ts'
import type { Sources } from '../engine/sources.ts'
import { publicAddressProblem, rpcAddressProblem } from './address.ts'
import { SOURCE_DEFAULTS } from './default-values.ts'
import { expandPath } from './package-paths.ts'
import { SECRET_REFERENCE, type Secret, secretFrom, shownAs } from './secret.ts'
import type { ConfigDocument } from './yaml/document.ts'
import type { ConfigError, Path } from './yaml/errors.ts'
import { didYouMean } from './yaml/wording.ts'

/** Where a bot gets the data of one of its strategy's sources. */
export interface SourceConfig {
  /** Address from which live and paper runs request the data; absent if only backtests use the source. */
  readonly url?: Secret
  readonly everyMs: Millis
  /** Absolute path of the file that backtests read, instead of the recorded answers. */
  readonly file?: string
}

const address = z.string().check(({ value, issues }) => {
  const problem = SECRET_REFERENCE.test(value) ? undefined : publicAddressProblem(value)
  if (problem !== undefined) issues.push({ code: 'custom', input: value, message: problem })
})

/** Schema of `sources` of a bot. */
export const sourcesSchema = z.record(
  z.string(),
  z.strictObject({
    url: key(
      address,
      'Address from which `sluice run` requests the data: https, or env:NAME or file:PATH if the address contains a key.',
      {
        absent: 'only backtests can use the source',
      },
    ),
    everySeconds: key(z.number().min(1).max(86_400), 'Interval of the requests.', {
      unit: 'seconds',
      default: SOURCE_DEFAULTS.everySeconds,
    }),
    file: key(z.string().min(1), 'Path of the NDJSON file that backtests read.', { absent: 'the recorded answers' }),
  }),
)

type SourcesInput = z.output<typeof sourcesSchema>

/** Returns the settings of a bot's sources. The environment variable or file of a secret address is read only when the
 *  address is needed. */
export function sourcesFrom(input: SourcesInput, cwd: string): Readonly<Record<string, SourceConfig>> {
  return Object.fromEntries(
    Object.entries(input).map(([name, { url, everySeconds = SOURCE_DEFAULTS.everySeconds, file }]) => [
      name,
      {
        everyMs: Math.round(everySeconds * 1000),
        ...(url !== undefined && { url: addressFrom(url, cwd) }),
        ...(file !== undefined && { file: expandPath(file, cwd) }),
      },
    ]),
  )
}

function addressFrom(text: string, cwd: string): Secret {
  if (SECRET_REFERENCE.test(text)) return secretFrom(text, cwd, rpcAddressProblem)
  return shownAs(new URL(text).origin, () => text)
}

/** Returns the errors of the key `sources` of a bot: a source that the strategy does not declare, a declared source
 *  that is missing, or a missing file. */
export function sourceErrors(
  declared: Sources = {},
  named: Readonly<Record<string, SourceConfig>> = {},
  document: ConfigDocument,
  bot: Path,
): ConfigError[] {
  const names = Object.keys(declared)
  const unknown = Object.keys(named).filter((name) => !Object.hasOwn(declared, name))
  const missing = names.filter((name) => !Object.hasOwn(named, name))
  const none = names.length === 0 ? 'the strategy declares no sources' : `the strategy declares ${names.join(', ')}`
  return [
    ...unknown.map((name) =>
      document.complain(
        { path: ['sources', name], message: `unknown source; ${none}${didYouMean(name, names)}`, atKey: true },
        bot,
      ),
    ),
    ...missing.map((name) =>
      document.error(
        [...bot, 'sources'],
        `the strategy declares the source ${name}; write where its data comes from: sources: { ${name}: { url: https://..., everySeconds: ${SOURCE_DEFAULTS.everySeconds} } }`,
      ),
    ),
    ...Object.entries(named).flatMap(([name, { file }]) =>
      file === undefined || statSync(file, { throwIfNoEntry: false })?.isFile()
        ? []
        : [document.error([...bot, 'sources', name, 'file'], `no such file: ${file}`)],
    ),
  ]
}
