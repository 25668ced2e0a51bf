import type { Millis, Seq } from '../../base/units.ts'
import { alarmText } from '../../engine/bots/thrown-value.ts'
import type { Output } from '../../engine/messages.ts'
import { decisionIdOf } from '../why/decision-id.ts'
import type { LogLine } from './view.ts'

/** Returns the line of the log for an output; undefined for an output that is not logged. `n`: position of the output
 *  among the outputs of `seq`. The line may contain text of a third party. */
export function logLineOf(seq: Seq, time: Millis, n: number, output: Output): LogLine | undefined {
  const at = { time, seq, n, decision: '' }
  switch (output.kind) {
    case 'alarm':
      return { ...at, level: 'error', bot: output.bot, mint: '', code: output.code, text: alarmText(output) }
    case 'log':
      return { ...at, level: 'warn', bot: output.bot, mint: '', code: '', text: output.text }
    case 'message':
      return { ...at, level: 'info', bot: output.bot, mint: '', code: '', text: output.text }
    case 'refused':
    case 'note': {
      const { bot, mint, code, reason } = output
      return { ...at, level: 'info', bot, mint, decision: decisionIdOf(at), code, text: reason }
    }
    default: // other outputs are in the lists of orders and positions
      return undefined
  }
}
