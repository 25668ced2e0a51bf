import type { Millis } from '../base/units.ts'
import type { BotConfig } from '../config/config.ts'
import { checkSource } from '../config/source-check.ts'
import type { SourceConfig } from '../config/source-config.ts'
import { readSourceFile, type TimedValue } from '../config/source-file.ts'
import type { Sources } from '../engine/sources.ts'
import { firstFrom, type Market, type MarketItem, type SourceNews } from '../journal/tape/market-tape.ts'

type Bots = readonly Pick<BotConfig, 'name' | 'strategy' | 'sources'>[]

/** A data source that a bot uses, and the origin of its data in a backtest. */
interface Supply {
  readonly bot: string
  readonly name: string
  readonly schema: Sources[string]['schema']
  /** Settings of the source, if they name a data file; undefined if the backtest uses recorded answers. */
  readonly file: (SourceConfig & { readonly file: string }) | undefined
  /** Bot whose recorded answers are used; undefined if no answer of this source is recorded. */
  readonly recordedBy: string | undefined
}

interface FileAnswer extends TimedValue {
  readonly bot: string
  readonly name: string
}

/** Values of each source's data file, once the file was read. */
const read = new WeakMap<SourceConfig, readonly TimedValue[]>()

/** Data of the sources of bots in a backtest: from their files, else from the answers on the tape. */
export class SourceData {
  readonly #supplies: readonly Supply[]
  /** Sources whose last recorded answer does not fit the schema, by bot and name. */
  readonly #unfit = new Set<string>()

  /** Answers that come from files. */
  readonly #fromFile = new WeakSet<SourceNews>()

  constructor(bots: Bots, market: Pick<Market, 'history'>) {
    this.#supplies = suppliesOf(bots, market)
  }

  /** Descriptions of sources without data. */
  get lacks(): string[] {
    return this.#supplies
      .filter(({ file, recordedBy }) => file === undefined && recordedBy === undefined)
      .map(
        ({ bot, name }) =>
          `source ${name} of ${bot}: the tape has no answer of it, and the configuration names no file`,
      )
  }

  /** Yields the items of a market, and between the items the values from files. A value comes before the rows with the
   *  same time. Of the values from before the market's first item, only the last value of each source is yielded. */
  *items(items: Iterable<MarketItem>): Generator<MarketItem, void, undefined> {
    const answers = this.#fromFiles()
    let next = 0
    let isFirst = true
    for (const item of items) {
      const until = lastTimeOf(item)
      if (isFirst && item.kind === 'began') next = skipped(answers, item.stretch.from)
      isFirst = false
      let rest: MarketItem = item
      for (let one = answers[next]; one !== undefined && one.time <= until; one = answers[++next]) {
        if (rest.kind === 'rows') {
          const at = firstFrom(rest.block, one.time, rest.from, rest.to)
          if (at > rest.from) yield { ...rest, to: at }
          rest = { ...rest, from: at }
        }
        const { bot, name, time, data } = one
        const news: SourceNews = { kind: 'source', bot, name, data }
        this.#fromFile.add(news)
        yield { kind: 'news', time, news }
      }
      if (rest.kind !== 'rows' || rest.from < rest.to) yield rest
    }
  }

  /** Returns the inputs that deliver an answer of a source to the bots that use the source. */
  inputsOf(news: SourceNews): SourceNews[] {
    const { bot: by, name, data } = news
    const isFromFile = this.#fromFile.has(news)
    const served = this.#supplies.filter(
      (one) => one.name === name && (isFromFile ? one.file && one.bot : one.recordedBy) === by,
    )
    return served.flatMap(({ bot, schema, file }) => {
      const input = { kind: 'source', bot, name } as const
      const key = `${bot} ${name}`
      if (data === undefined) return this.#unfit.has(key) ? [] : [input]
      const checked = file === undefined ? checkSource(schema, data) : ({ ok: true, data } as const)
      if (checked.ok) this.#unfit.delete(key)
      else this.#unfit.add(key)
      return checked.ok ? [{ ...input, data: checked.data }] : []
    })
  }

  #fromFiles(): FileAnswer[] {
    const answers = this.#supplies.flatMap(({ bot, name, schema, file }) => {
      if (file === undefined) return []
      const values = read.get(file) ?? readSourceFile(file.file, schema)
      read.set(file, values)
      return values.map((value) => ({ ...value, bot, name }))
    })
    return answers.sort((one, other) => one.time - other.time)
  }
}

function suppliesOf(bots: Bots, market: Pick<Market, 'history'>): Supply[] {
  const supplies = bots.flatMap((bot) =>
    Object.entries(bot.strategy.strategy.sources ?? {}).map(([name, { schema }]) => {
      const config = bot.sources?.[name]
      return { bot: bot.name, name, schema, file: hasFile(config) ? config : undefined, recordedBy: undefined }
    }),
  )
  if (supplies.every(({ file }) => file !== undefined)) return supplies
  const recorders = new Map<string, Set<string>>()
  for (const item of market.history())
    if (item.kind === 'news' && item.news.kind === 'source') {
      const { name, bot } = item.news
      recorders.set(name, (recorders.get(name) ?? new Set()).add(bot))
    }
  return supplies.map((supply) => {
    const by = recorders.get(supply.name)
    if (supply.file !== undefined) return supply
    return { ...supply, recordedBy: by?.has(supply.bot) ? supply.bot : by?.values().next().value }
  })
}

function hasFile(config: SourceConfig | undefined): config is SourceConfig & { readonly file: string } {
  return config?.file !== undefined
}

/** Latest time that an item covers. */
function lastTimeOf(item: MarketItem): Millis {
  switch (item.kind) {
    case 'rows':
      return item.block.time[item.to - 1] as Millis
    case 'news':
      return item.time
    case 'began':
      return item.stretch.from
    case 'ended':
      return item.stretch.to
  }
}

/** Drops the values before `from`, except the last one of each source, which gets the time `from`. Returns the index of
 *  the first value that remains. */
function skipped(answers: FileAnswer[], from: Millis): number {
  const before = answers.filter(({ time }) => time < from)
  const last = new Map<string, FileAnswer>()
  for (const one of before) last.set(`${one.bot} ${one.name}`, { ...one, time: from })
  const kept = [...last.values()]
  answers.splice(before.length - kept.length, kept.length, ...kept)
  return before.length - kept.length
}
