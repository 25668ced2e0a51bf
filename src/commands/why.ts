import { ExitCode, SluiceError } from '../core/errors.ts'
import { printable } from '../core/printable.ts'
import { type JournalReader, openReader } from '../journal/reader.ts'
import type { Options } from './options.ts'
import { conditionalJson, conditionalLines } from './why/conditional-page.ts'
import { conditionalStory } from './why/conditional-story.ts'
import { mintJson, mintLines } from './why/mint-page.ts'
import { mintStory } from './why/mint-story.ts'
import { momentOf } from './why/moment.ts'
import { momentJson, momentLines } from './why/moment-page.ts'
import { orderJson, orderLines } from './why/order-page.ts'
import { orderStory } from './why/order-story.ts'
import { pageColumns } from './why/page.ts'
import { targetOf } from './why/target.ts'

/** An answer, as lines so many columns wide and as data. */
interface Answer {
  readonly lines: (columns: number) => readonly string[]
  readonly data: () => object
}

/** `sluice why ORDER|MINT`: one causal answer from the journal. Reads only, also while a process writes it. */
export async function run([about = '']: string[], options: Options): Promise<number> {
  const reader = openReader(options.journal ?? 'data/sluice.db')
  try {
    const { lines, data } = await answer(reader, about, options)
    if (options.json === true) console.log(printable(JSON.stringify(data())))
    else for (const line of lines(pageColumns(process.stdout.columns))) console.log(line)
    return ExitCode.done
  } finally {
    reader.close()
  }
}

async function answer(reader: JournalReader, about: string, { bot, at }: Options): Promise<Answer> {
  const target = targetOf(reader, about)
  if ((at ?? bot) !== undefined && target.kind !== 'mint')
    throw new SluiceError('--at and --bot go with a token: an order has its own time and bot', ExitCode.usage)
  if (at !== undefined && target.kind === 'mint') {
    const moment = await momentOf(reader, target.mint, at, bot)
    return { lines: (columns) => momentLines(moment, columns), data: () => momentJson(moment) }
  }
  if (target.kind === 'mint') {
    const story = mintStory(reader, target.mint, bot)
    return { lines: (columns) => mintLines(story, columns), data: () => mintJson(story) }
  }
  if (target.kind === 'conditional') {
    const story = conditionalStory(reader, target.id)
    if (story === undefined) throw new SluiceError(`there is no order ${target.id} in ${reader.path}`, ExitCode.usage)
    return { lines: (columns) => conditionalLines(story, columns), data: () => conditionalJson(story) }
  }
  const story = orderStory(reader, target.id)
  if (story === undefined)
    throw new SluiceError(
      `there is no order ${target.id} in ${reader.path}; \`sluice orders\` lists them`,
      ExitCode.usage,
    )
  return { lines: (columns) => orderLines(story, columns), data: () => orderJson(story) }
}
