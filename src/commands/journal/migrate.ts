import { bringUpToDate } from '../../journal/migrate.ts'
import { DEFAULT_JOURNAL, defineCommand, JSON_LINE, text } from '../options.ts'

export const command = defineCommand({
  options: { journal: text('<db>', 'upgrade this journal', DEFAULT_JOURNAL), json: JSON_LINE },
  async run(_args, { journal, json }) {
    const { from, to } = bringUpToDate(journal)
    if (json) console.log(JSON.stringify({ from, to }))
    else if (from === to) console.log(`${journal} is up to date (schema ${to})`)
    else console.log(`${journal} was upgraded from schema ${from} to ${to}; older versions of Sluice cannot read it`)
    return 0
  },
})
