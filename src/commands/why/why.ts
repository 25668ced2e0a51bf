import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import { conditionalStory } from '../../runtime/why/conditional-story.ts'
import { decisionPlace } from '../../runtime/why/decision-id.ts'
import { decisionStory } from '../../runtime/why/decision-story.ts'
import { mintStory } from '../../runtime/why/mint-story.ts'
import { orderStory } from '../../runtime/why/order-story.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { defineCommand, JOURNAL, JSON_LINE, text, type Values } from '../options.ts'
import { conditionalJson, conditionalLines } from './conditional-lines.ts'
import { decisionJson, decisionLines } from './decision-lines.ts'
import { mintJson, mintLines } from './mint-lines.ts'
import { momentJson, momentLines, momentOf } from './moment.ts'
import { orderJson, orderLines } from './order-lines.ts'
import { pageColumns } from './step-lines.ts'

/** An answer in two forms: as lines of a given width, and as JSON. */
interface Answer {
  readonly lines: (columns: number) => readonly string[]
  readonly data: () => object
}

const OPTIONS = {
  at: text('<time>', 'explain this moment: 12:03, 12:03:10, 2026-11-22T12:03, or milliseconds since 1970'),
  bot: text('<name>', 'explain the decisions of this bot only'),
  journal: JOURNAL,
  json: JSON_LINE,
}
type Options = Values<typeof OPTIONS>

/** Explains an order, a refusal, a token or a moment from the journal, even while a process is writing the journal. */
export const command = defineCommand({
  options: OPTIONS,
  async run([about = ''], options) {
    const reader = openReader(options.journal)
    try {
      const { lines, data } = await answer(reader, about, options)
      if (options.json) console.log(printable(JSON.stringify(data())))
      else for (const line of lines(pageColumns(process.stdout.columns))) console.log(line)
      return ExitCode.done
    } finally {
      reader.close()
    }
  },
})

async function answer(reader: JournalReader, about: string, { bot, at }: Options): Promise<Answer> {
  const target = targetOf(reader, about)
  if ((at ?? bot) !== undefined && target.kind !== 'mint')
    throw new SluiceError(
      '--at and --bot apply to a token; an order or a refusal has its own time and bot',
      ExitCode.usage,
    )
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
    if (story === undefined) throw new SluiceError(`${reader.path} has no order ${target.id}`, ExitCode.usage)
    return { lines: (columns) => conditionalLines(story, columns), data: () => conditionalJson(story) }
  }
  if (target.kind === 'decision') {
    const story = decisionStory(reader, target.id)
    if (story === undefined) throw new SluiceError(`${reader.path} has no decision ${target.id}`, ExitCode.usage)
    return { lines: (columns) => decisionLines(story, columns), data: () => decisionJson(story) }
  }
  const story = orderStory(reader, target.id)
  if (story === undefined)
    throw new SluiceError(
      `${reader.path} has no order ${target.id}; \`sluice orders\` lists the orders`,
      ExitCode.usage,
    )
  return { lines: (columns) => orderLines(story, columns), data: () => orderJson(story) }
}

const MOST_LISTED = 20

/** Order, conditional order, decision without an order, or token that the command explains. */
export type Target =
  | { readonly kind: 'order' | 'conditional' | 'decision'; readonly id: string }
  | { readonly kind: 'mint'; readonly mint: string }

/** Finds an order by its id or by the id of an attempt, a refusal or a note by its id, and a mint by address, prefix,
 *  symbol or name. Throws SluiceError (exit 2) if nothing matches, or more than one token. */
export function targetOf(reader: JournalReader, about: string): Target {
  const id = /^(o\d{1,15})(?:\.\d{1,6})?$/.exec(about)?.[1]
  if (id !== undefined) return { kind: 'order', id }
  if (/^c\d{1,15}$/.test(about) && isConditional(reader, about)) return { kind: 'conditional', id: about }
  if (decisionPlace(about) !== undefined) return { kind: 'decision', id: about }
  return { kind: 'mint', mint: mintOf(reader, about) }
}

/** Whether the journal has a conditional order with this id. It must be checked, because the first characters of a mint
 *  may look like such an id. */
function isConditional(reader: JournalReader, id: string): boolean {
  return reader.look((history) => history.conditionals({ id })).length > 0
}

function mintOf(reader: JournalReader, about: string): string {
  const byMint = about === '' ? [] : reader.look((_history, tape) => tape.mintsFrom(about))
  if (byMint.includes(about)) return about
  if (isPublicKey(about)) throw notFound(reader, `the journal contains no order, decision or row of ${about}`)
  const named = reader.look((_history, tape) => tape.tokensNamed(about))
  const all = new Set([...byMint, ...named.map(({ mint }) => mint)])
  if (all.size === 0) throw notFound(reader, `the journal contains no order, mint or symbol ${about}`)
  const [only = ''] = all
  if (all.size === 1) return only
  const listed = [...all].slice(-MOST_LISTED).map((mint) => {
    const { symbol, name } = named.find((token) => token.mint === mint) ?? reader.look((_h, tape) => tape.nameOf(mint))
    return `  ${[mint, symbol, name].filter((word) => word !== '').join('  ')}`
  })
  const more = all.size > listed.length ? [`  and ${all.size - listed.length} more`] : []
  const message = [`${about} matches ${all.size} tokens; write more characters of the mint:`, ...listed, ...more]
  throw new SluiceError(message.map(printable).join('\n'), ExitCode.usage)
}

function notFound({ path }: JournalReader, what: string): SluiceError {
  const advice =
    'expected an order such as o12, a refusal such as d1204.2, a mint or its prefix, or a symbol; `sluice orders` lists the orders'
  return new SluiceError(printable(`${what} in ${path}; ${advice}`), ExitCode.usage)
}
