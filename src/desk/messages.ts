import type { DeskConfig } from '../config/config.ts'
import type { RemoteCommand } from '../live/control/command.ts'
import type { Hashed } from '../live/control/secrets.ts'
import type { PositionNews } from '../runtime/view/position-transfer.ts'
import type { View } from '../runtime/view/view.ts'
import type { Update } from '../runtime/view/view-updates.ts'
import type { SessionRecord } from './access/logins.ts'

// Messages between the main thread and the desk's thread. The desk's thread receives data about the run only from these
// messages and from the journal. It has only the desk's part of the configuration, no key, and one environment
// variable, the folder of compiled code.

/** The data with which the desk's thread starts. */
export interface DeskStart {
  readonly config: DeskConfig
  /** Path of the journal that the desk shows. */
  readonly journal: string
  /** Folder of backtests and sweeps that the desk shows instead of a journal. */
  readonly results?: string | undefined
  /** Whether the main thread carries out actions. */
  readonly acts: boolean
  /** Sessions that an earlier thread of the desk began. */
  readonly sessions: readonly Hashed<SessionRecord>[]
  /** Whether bots run in this process. If so, the main thread reports at regular intervals that it is alive. */
  readonly isRun: boolean
  /** Hash of the token with which the metrics may be read. Absent if there are no metrics. */
  readonly scrapeHash?: string
  /** One number in shared memory: the number of commits of the main thread that are not durable yet. Absent without
   *  bots. */
  readonly committing?: Int32Array | undefined
}

export type ToDesk =
  | { readonly kind: 'link'; readonly id: number; readonly readOnly: boolean; readonly name?: string | undefined }
  /** The whole view of the running bots. Later messages of the kind `change` update it. `news`: the positions, because
   *  `view` does not contain them. */
  | { readonly kind: 'view'; readonly view: View; readonly news?: PositionNews | undefined }
  | { readonly kind: 'change'; readonly change: Update }
  /** The main thread is alive. */
  | { readonly kind: 'alive' }
  /** Answer to a call. `refused`: `text` is the reason. */
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly refused: boolean
      readonly text: string
      readonly warning?: string | undefined
    }
  | { readonly kind: 'close' }

export type FromDesk =
  /**
   * The desk is served. `origin`: address of the page, without a path. `isOtherPort`: whether the configured port was
   * in use.
   */
  | { readonly kind: 'ready'; readonly origin: string; readonly isOtherPort: boolean }
  | { readonly kind: 'link'; readonly id: number; readonly url: string }
  /** Requests a preview of a command, or its execution. `by`: name of the session. */
  | {
      readonly kind: 'call'
      readonly id: number
      readonly step: 'preview' | 'carry out'
      readonly command: RemoteCommand
      readonly by: string
    }
  /** The first browser has connected to the view, or the last one has disconnected. */
  | { readonly kind: 'watched'; readonly isWatched: boolean }
  | { readonly kind: 'sessions'; readonly sessions: readonly Hashed<SessionRecord>[] }
  | { readonly kind: 'log'; readonly level: DeskLevel; readonly text: string; readonly fields: LogFields }
  /** A message for the operator while the desk is served. */
  | { readonly kind: 'alert'; readonly text: string }
  /** The desk cannot be served. */
  | { readonly kind: 'failed'; readonly reason: string }

export type DeskLevel = 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, unknown>>
