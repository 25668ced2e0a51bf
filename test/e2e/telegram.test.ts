import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { SentMessage } from '../../src/sandbox/telegram/bot-api.ts'
import { until } from './until.ts'
import { openVenue, type Venue } from './venue.ts'

const OPERATOR = 601

/** Opens a venue whose bots accept commands of one operator on Telegram. */
async function open(atEnd: Parameters<typeof openVenue>[1]): Promise<Venue> {
  const exits = { maxHoldSeconds: 3_600 }
  const bots = [{ name: 'trips', strategy: 'round-trips', params: { rounds: 3 }, exits }] as const
  const venue = await openVenue({ bots }, atEnd)
  const { api, token } = venue.sandbox.telegram
  const path = join(venue.folder, 'telegram')
  writeFileSync(path, token, { mode: 0o600 })
  venue.configure({ telegram: { token: `file:${path}`, operators: [OPERATOR], api } as never })
  return venue
}

const messages = ({ sandbox }: Venue): readonly SentMessage[] => sandbox.telegram.bot.sent
const shown = (venue: Venue, text: string): Promise<SentMessage> =>
  until(`the message "${text}"; the received messages are ${JSON.stringify(messages(venue))}`, () =>
    messages(venue).find((one) => one.text.includes(text)),
  )
const bought = ({ books }: Venue): Promise<true> => until('a fill', () => books().fills.length > 0)

/** Returns the operator commands in the journal. `by`: who sent the command. */
function commands({ journal }: Venue): { command: string; by: string }[] {
  const db = new Database(journal, { readonly: true })
  try {
    return db.prepare<[], { command: string; by: string }>('SELECT command, by FROM commands ORDER BY seq').all()
  } finally {
    db.close()
  }
}

test.concurrent('an operator halts, sells and resumes by Telegram, and the journal names the operator', async ({
  onTestFinished,
}) => {
  const venue = await open(onTestFinished)
  const { bot } = venue.sandbox.telegram
  const bots = await venue.start()
  await bought(venue)
  for (const command of ['/halt', '/flatten', '/resume']) {
    bot.write(OPERATOR, command)
    await shown(venue, 'Confirm within 60 seconds')
    bot.press(OPERATOR, 'Confirm')
    await shown(venue, `${command.slice(1)}: `)
  }
  bot.write(OPERATOR, '/report')
  await shown(venue, 'trips')
  await bots.stop()
  const by = `telegram:${OPERATOR}`
  expect(commands(venue).filter(({ command }) => command !== 'stop')).toEqual([
    { command: 'halt', by },
    { command: 'flatten', by },
    { command: 'resume', by },
  ])
  expect(await venue.complaints()).toEqual([])
})

test.concurrent.each(['update-received', 'update-given'])(
  'a process that is killed at %s during a sale by Telegram sells at most once, and a message reports the outcome',
  async (step) => {
    const ends: (() => Promise<void>)[] = []
    try {
      const venue = await open((close) => void ends.push(close))
      const { bot } = venue.sandbox.telegram
      const first = venue.run({ SLUICE_FAILPOINT: `${step}:1` })
      await until('the start', () => first.stderr.includes('running'))
      await bought(venue)
      bot.write(OPERATOR, '/flatten')
      await shown(venue, 'Confirm within 60 seconds')
      bot.press(OPERATOR, 'Confirm')
      expect(await first.ended).toBe(null)
      const second = await venue.start()
      const { text } = await until('the answer to the pressed button', () =>
        messages(venue).find((one) => /carried out before|This press had no effect/.test(one.text)),
      )
      const flattened = commands(venue).filter(({ command }) => command === 'flatten')
      expect(flattened).toHaveLength(text.includes('carried out before') ? 1 : 0)
      if (step === 'update-received') expect(flattened).toEqual([])
      await second.stop()
      expect(await venue.complaints()).toEqual([])
    } finally {
      for (const close of ends) await close()
    }
  },
)
