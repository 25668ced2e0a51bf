import type { View } from '../../runtime/view/view.ts'

/** An action that the user has chosen. The desk requests a preview of its effect from the server. */
export interface ActionRequest {
  readonly action: 'halt' | 'resume' | 'flatten' | 'sell' | 'cancel' | 'buy'
  readonly bot?: string
  readonly mint?: string
  readonly order?: string
  readonly sol?: number
  /** The only wallet to which the action applies; absent if the action applies to all wallets. */
  readonly wallet?: string
}

/** Returns the action that sells a position. If the wallets have names, the action concerns only the wallet of the
 *  position. */
export function saleOf({ mint, bot, wallet }: View['positions'][number]): ActionRequest {
  return { action: 'sell', mint, bot, ...(wallet !== undefined && { wallet }) }
}

/** Properties that every section of the page receives. */
export interface Shown {
  readonly view: View
  /** Present time according to the process that the desk shows. The time stands still while the connection is lost. */
  readonly now: number
  /** False for a read-only session, for a recorded journal, and while the connection is lost. */
  readonly canAct: boolean
  /** Shows the effect of an action, and asks the user for a confirmation. */
  readonly act: (request: ActionRequest) => void
  /** Opens the explanation of an order, or of the state of a token at a bot. */
  readonly explain: (subject: string, bot?: string) => void
}
