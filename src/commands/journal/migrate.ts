import { migrateInThread } from '../../journal/migrate-in-thread.ts'
import { DEFAULT_JOURNAL, defineCommand, flag, JSON_LINE, text } from '../options.ts'
import { withSteps } from '../terminal.ts'

export const command = defineCommand({
  options: {
    journal: text('<db>', 'upgrade this journal', DEFAULT_JOURNAL),
    skipBackup: flag('keep no copy of the journal before the upgrade'),
    json: JSON_LINE,
  },
  async run(_args, { journal, skipBackup, json }) {
    const migration = await withSteps((step) =>
      migrateInThread(
        { path: journal, backup: !skipBackup },
        {
          copied: (bytes, of) => step('backup', 'bytes').at(bytes, of),
          sealed: (rows, of) => step('checksums', 'rows').at(rows, of),
        },
      ),
    )
    const { from, to, backup } = migration
    if (json) console.log(JSON.stringify(migration))
    else if (from === to) console.log(`${journal} is up to date (schema ${to})`)
    else {
      const kept = backup === undefined ? '' : `; ${backup} is the journal before the upgrade`
      console.log(
        `${journal} was upgraded from schema ${from} to ${to}; older versions of Sluice cannot read it${kept}`,
      )
    }
    return 0
  },
})
