import type { ControlCommand } from './command.ts'

/** Commands that may come from the desk; Telegram accepts some of them. */
export const REMOTE_COMMANDS: readonly string[] = ['halt', 'resume', 'flatten', 'sell', 'cancel', 'buy']
export type RemoteCommand = Exclude<
  ControlCommand,
  { command: 'status' | 'signal' | 'accept' | 'resolve' | 'adopt' | 'desk-link' }
>
