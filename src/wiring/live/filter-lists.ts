import type { Config } from '../../config/config.ts'
import type { Input } from '../../core/messages.ts'
import type { Cancel } from '../../core/ports.ts'
import { watchLists } from '../../runtime/list-files.ts'
import type { Log } from '../../runtime/log.ts'

/** The lists that filters go by, as their files say while bots run. */
export class FilterLists {
  /** What is wrong with files that are no lists any more, by path: what bots go by is older than what somebody wrote down for them. */
  readonly broken = new Map<string, string>()

  /** `alert`: tells a person of a file that broke. */
  watch(
    { lists }: Pick<Config, 'lists'>,
    log: Log,
    post: (input: Input) => void,
    alert: (text: string) => void,
  ): Cancel {
    return watchLists(lists, {
      changed: (name, entries) => {
        log.info({ list: name, entries: entries.length }, 'list read again')
        post({ kind: 'list', name, entries })
      },
      broken: (name, problem) => {
        this.broken.set(name, problem)
        log.error(problem)
        alert(problem)
      },
      mended: (name) => void this.broken.delete(name),
    })
  }
}
