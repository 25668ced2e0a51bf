/** Kinds of events that alert the operator. docs/operate.md lists them. */
export const ALERT_KINDS = [
  'unknown',
  'held',
  'foreign',
  'late-fill',
  'reversed',
  'mint-refused',
  'halted',
  'disk',
  'key-refused',
  'plan-unknown',
  'loss-limit',
  'unsellable',
  'pool-unread',
  'list-broken',
  'source-broken',
  'strategy-threw',
  'strategy-asks',
  'unit-contradicted',
  'ledger',
  'desk',
  'watch',
  'message',
] as const

export type AlertKind = (typeof ALERT_KINDS)[number]

/** Events of Telegram besides alerts: an order that executed, and the result of the day. */
export const TELEGRAM_KINDS = [...ALERT_KINDS, 'trade', 'summary'] as const

export type TelegramKind = (typeof TELEGRAM_KINDS)[number]
export type Loudness = 'on' | 'silent' | 'off'
