import { existsSync, type FSWatcher, readFileSync, watch } from 'node:fs'
import { dirname } from 'node:path/posix'

/** Time that an editor needs to complete a save. */
const SETTLE_MS = 10
/** Interval at which the files are read and compared, because some file systems send no events. */
const LOOK_EVERY_MS = 500

/** Calls `changed` when the text of a watched file changes. */
export class SourceWatch {
  readonly #changed: () => void
  readonly #texts = new Map<string, string>()
  readonly #folders = new Map<string, FSWatcher>()
  readonly #timer: NodeJS.Timeout
  #settling: NodeJS.Timeout | undefined

  constructor(changed: () => void) {
    this.#changed = changed
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  /**
   * Watches these files instead of the previous ones. A file that was already watched is compared with its last known
   * text.
   */
  set(files: readonly string[]): void {
    for (const file of this.#texts.keys()) if (!files.includes(file)) this.#texts.delete(file)
    for (const file of files) if (!this.#texts.has(file)) this.#texts.set(file, textOf(file))
    const folders = new Set(files.map((file) => dirname(file)).filter((folder) => existsSync(folder)))
    for (const [folder, watcher] of this.#folders)
      if (!folders.has(folder)) {
        watcher.close()
        this.#folders.delete(folder)
      }
    // Folders are watched instead of files, because many editors replace a file when they save it.
    for (const folder of folders)
      if (!this.#folders.has(folder))
        this.#folders.set(
          folder,
          watch(folder, () => this.#soon()).on('error', () => {}),
        )
  }

  close(): void {
    clearInterval(this.#timer)
    clearTimeout(this.#settling)
    for (const watcher of this.#folders.values()) watcher.close()
  }

  #soon(): void {
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.#look(), SETTLE_MS)
  }

  #look(): void {
    let isChanged = false
    for (const [file, before] of this.#texts) {
      const text = textOf(file)
      // An empty file means that a save is not complete.
      if (text === before || text === '') continue
      this.#texts.set(file, text)
      isChanged = true
    }
    if (isChanged) this.#changed()
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
