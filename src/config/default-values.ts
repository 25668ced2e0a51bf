// Values of absent keys, in the units of the YAML. `convert-sections.ts` fills them in, and the schema shows them.

export const SERVICE_DEFAULTS = { plan: 'auto', share: 1, lateSeconds: 120, unit: 'auto', maxBuySol: 100 } as const
export const CHAIN_DEFAULTS = { requestsPerSecond: 8, sendsPerSecond: 1, secondOpinionSol: 1 } as const
export const JOURNAL_DEFAULTS = { path: 'data/sluice.db', keepTapeDays: 14, archive: false } as const
export const PAPER_DEFAULTS = { balanceSol: 10, seed: 1 } as const
export const SOURCE_DEFAULTS = { everySeconds: 60 } as const
export const BOT_DEFAULTS = { mode: 'paper', executor: 'cloud' } as const
export const DESK_DEFAULTS = { port: 7420, bind: '127.0.0.1', readOnly: false } as const
export const ALERT_DEFAULTS = { shape: 'generic' } as const
export const TELEGRAM_DEFAULTS = { api: 'https://api.telegram.org', trade: 'silent', summary: 'silent' } as const
export const HEARTBEAT_DEFAULTS = { everySeconds: 60 } as const
export const EXIT_ORDER_DEFAULTS = { slippageLadder: [5, 15, 30, 50], retrySeconds: 3 } as const
export const ORDER_DEFAULTS = {
  slippagePercent: 5,
  priorityFeeSol: 'auto',
  ttlSeconds: 2,
  maxEventAgeSeconds: 3,
  maxChasePercent: 5,
} as const
/** Seconds of the tape that a strategy without `warmup` receives at a start. */
export const WARMUP_SECONDS = 600
