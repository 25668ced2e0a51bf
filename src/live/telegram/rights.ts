import type { Deed, Message } from './updates.ts'

/** The users of the Telegram bot, by their Telegram ids. */
export interface Users {
  /** Users who may ask questions and who receive the events; the operators are among them. */
  readonly viewers: readonly number[]
  /** Users who may also give commands. */
  readonly operators: readonly number[]
}

/** Whether the user has no rights at all. */
export function isStranger({ viewers }: Users, { user }: Pick<Deed, 'user'>): boolean {
  return !viewers.includes(user)
}

/** Whether a user may send this message, or press this button. Only private chats count: the rights belong to persons
 *  and not to groups, and an answer in a group would show the money to all of its members. Only operators may press
 *  buttons. */
export function mayAct(users: Users, deed: Pick<Deed, 'user' | 'kind' | 'isPrivate'>): boolean {
  return deed.isPrivate && !isStranger(users, deed) && (deed.kind === 'message' || isOperator(users, deed.user))
}

export function isOperator({ operators }: Users, user: number): boolean {
  return operators.includes(user)
}

/** Returns why a message may not give a command; undefined if it may. */
export function commandRefusal(users: Users, { user, isOwn }: Pick<Message, 'user' | 'isOwn'>): string | undefined {
  if (!isOperator(users, user)) return 'only the users in telegram.operators may do this'
  return isOwn ? undefined : 'a forwarded message cannot give a command. Write the command yourself.'
}
