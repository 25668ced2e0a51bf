import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import { SECRET_REFERENCE, type Secret } from '../config/secret.ts'
import type { SourceConfig } from '../config/source-config.ts'
import type { Sources } from '../engine/sources.ts'

type Bots = Pick<Config, 'bots'>

/** A source that a running process reads. */
export interface LiveSource extends Pick<SourceConfig, 'everyMs'> {
  readonly bot: string
  readonly name: string
  readonly url: Secret
  readonly schema: Sources[string]['schema']
}

/** Returns the secret addresses of sources, webhook and heartbeat, and the token of Telegram. Throws SluiceError if a
 *  secret cannot be read. */
export function secretAddresses({
  bots,
  alerts,
  heartbeat,
  telegram,
}: Bots & Pick<Config, 'alerts' | 'heartbeat' | 'telegram'>): string[] {
  const sources = bots.flatMap(({ sources = {} }) => Object.values(sources).flatMap(({ url }) => url ?? []))
  const addresses = [
    ...sources,
    ...[alerts, heartbeat].flatMap((one) => one?.url ?? []),
    ...(telegram ? [telegram.token] : []),
  ]
  return addresses.filter((url) => SECRET_REFERENCE.test(url.describe())).map((url) => url.read())
}

/** Returns the sources of all bots. Throws SluiceError (exit 2) if a source has no address; only a backtest needs no
 *  address. */
export function sourcesOf({ bots }: Bots): LiveSource[] {
  return bots.flatMap(({ name: bot, strategy, sources, at }) =>
    Object.entries(strategy.strategy.sources ?? {}).map(([name, { schema }]) => {
      const { url, everyMs } = sources?.[name] ?? { everyMs: 0 }
      if (url !== undefined) return { bot, name, url, schema, everyMs }
      const place = `${at.file}:${at.line}:${at.column}`
      throw new SluiceError(`${place} the source ${name} of ${bot} has no url, which a run needs`, ExitCode.usage)
    }),
  )
}
