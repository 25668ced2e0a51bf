import { defineStrategy, z } from 'sluice'

/** Records a note (`bot.note`) for each answer of its data source. */
export default defineStrategy({
  name: 'attentive',
  about: 'Writes a note for each answer of its source.',
  params: z.object({}),
  keys: ['trades'],
  sources: { mood: { schema: z.object({ value: z.number() }) } },
  start: (_params, bot) => ({
    onSource(_name, { value }) {
      bot.note('', `the mood is ${value}`)
    },
  }),
})
