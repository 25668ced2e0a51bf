/** What any command may be given; the catalogue says which command takes which. */
export interface Options {
  json?: boolean
  journal?: string
  journals?: string[]
  configs?: string[]
  seconds?: number
  speed?: number
  live?: boolean
  isolate?: boolean
  yes?: boolean
  port?: number
  dialect?: number
  market?: string
  seed?: number
  plan?: string
  state?: string
  fund?: number
  slotMs?: number
  repeat?: boolean
  child?: boolean
  verify?: boolean
  verifyCausal?: boolean
  partial?: boolean
  from?: string
  to?: string
  calibrate?: boolean
  strict?: boolean
  out?: string
  tax?: string
  range?: string[]
  random?: number
  holdOut?: number
  jobs?: number
  accept?: string
  executed?: string
  notExecuted?: boolean
  at?: string
  bot?: string
  probeLive?: number
  mint?: string
  mints?: string[]
  sol?: number
  acceptHash?: string
  tx?: string
  order?: string
  policy?: string
  rpc?: string
  socket?: string
  key?: string
  maxPerTransactionSol?: number
  maxPerHourSol?: number
  maxPerDaySol?: number
}

/** The one export of every command's module: does the work and answers the exit code. */
export type Run = (args: string[], options: Options) => Promise<number>
export type OptionName = keyof Options

export interface OptionSpec {
  flags: string
  about: string
  /** Numbers are checked before the command's module is loaded; text and switches are not. */
  number?: NumberRange
  /** It may be given again and again. */
  many?: boolean
}

export interface NumberRange {
  integer?: boolean
  min: number
  max?: number
}

/** SOL. */
const CAP: NumberRange = { min: 0, max: 1000000 }

export const optionSpecs: Record<OptionName, OptionSpec> = {
  json: { flags: '--json', about: 'one line of JSON, the last of stdout' },
  journal: { flags: '--journal <db>', about: 'the journal' },
  journals: {
    flags: '--journal <db>',
    about: 'the journal; several are read as one tape (default: data/sluice.db)',
    many: true,
  },
  configs: {
    flags: '--config <file>',
    about: 'the configuration that it runs, which names its journal (default: the only process of yours that runs)',
    many: true,
  },
  seconds: { flags: '--seconds <n>', about: 'end by itself after so many seconds', number: { min: 0.001 } },
  speed: { flags: '--speed <x>', about: 'how much faster than life the market runs', number: { min: 0.001 } },
  live: { flags: '--live', about: 'let bots with `mode: live` trade real money' },
  isolate: { flags: '--isolate', about: 'the strategies in a thread of their own, under a watchdog, as with --live' },
  yes: { flags: '--yes', about: 'confirm without a person' },
  port: { flags: '--port <n>', about: 'the port on loopback', number: { integer: true, min: 0, max: 65535 } },
  dialect: {
    flags: '--dialect <seed>',
    about: 'vary what the document leaves open',
    number: { integer: true, min: 0 },
  },
  market: { flags: '--market <file>', about: 'a recorded market (NDJSON) instead of a made one' },
  seed: { flags: '--seed <n>', about: 'what chance starts from', number: { integer: true, min: 0 } },
  plan: { flags: '--plan <name>', about: 'the plan of the key it hands out' },
  state: { flags: '--state <file>', about: 'keep in this file what outlasts a restart, and go on from it' },
  fund: { flags: '--fund <sol>', about: 'what the wallet of a new chain has', number: { min: 0, max: 1000000 } },
  slotMs: { flags: '--slot-ms <n>', about: 'milliseconds a slot', number: { integer: true, min: 10, max: 60000 } },
  repeat: { flags: '--repeat', about: 'play the recorded market again and again' },
  child: { flags: '--child', about: 'end with stdin' },
  accept: {
    flags: '--accept <signature>',
    about: 'this transaction of the wallet, or `all` unknown ones, are all right',
  },
  executed: { flags: '--executed <signature>', about: 'this transaction is the order; checked on the chain' },
  notExecuted: { flags: '--not-executed', about: 'a held order did not execute' },
  at: { flags: '--at <time>', about: 'when: 12:03, 12:03:10, 2026-11-22T12:03, or milliseconds since 1970' },
  bot: { flags: '--bot <name>', about: 'the bot' },
  probeLive: {
    flags: '--probe-live <sol>',
    about: 'buy for so much and sell it again, to prove what the document leaves open',
    number: { min: 0.001, max: 1 },
  },
  mint: { flags: '--mint <mint>', about: 'the token' },
  mints: { flags: '--mint <mint>', about: 'a token to ask for; several, once each', many: true },
  sol: { flags: '--sol <n>', about: 'what a sample would buy for; nothing is bought', number: { min: 0.001, max: 1 } },
  acceptHash: { flags: '--accept <hash>', about: 'write the policy that was shown with this hash' },
  strict: { flags: '--strict', about: 'the first bad line ends it, and nothing is written' },
  calibrate: {
    flags: '--calibrate',
    about: 'fill as the real fills of the journal were, and say how far the model is from them',
  },
  partial: { flags: '--partial', about: 'go on with a tape that does not cover what the bots need' },
  from: {
    flags: '--from <time>',
    about: 'the tape from this time on, UTC (2026-11-22T09:30); strategies are shown their warm-up of what came before',
  },
  to: { flags: '--to <time>', about: 'the tape up to this time, UTC' },
  tx: {
    flags: '--tx <base64|file>',
    about: 'what the builder answered: a transaction in any usual shape, or a file that holds it',
  },
  order: { flags: '--order <json>', about: "the request's body, with `side` beside it; or a file that holds it" },
  policy: {
    flags: '--policy <file>',
    about: 'what a builder may put in (builder-policy.yaml)',
  },
  rpc: {
    flags: '--rpc <url>',
    about: 'simulate it there, and read the wallet; env:NAME or file:PATH keeps the address secret',
  },
  socket: { flags: '--socket <path>', about: 'where engines connect: those of the same user or group' },
  key: { flags: '--key <file>', about: "the wallet's keypair, as solana-keygen writes it (mode 0600)" },
  maxPerTransactionSol: { flags: '--max-per-transaction-sol <n>', about: 'never sign for more', number: CAP },
  maxPerHourSol: { flags: '--max-per-hour-sol <n>', about: 'nor for more within an hour', number: CAP },
  maxPerDaySol: { flags: '--max-per-day-sol <n>', about: 'nor for more within a day', number: CAP },
  out: { flags: '--out <path>', about: 'where to write' },
  tax: {
    flags: '--tax <file.csv>',
    about: 'what was sold, a line each with cost, proceeds and gain, instead of the tape',
  },
  range: { flags: '--range <name=from:to[:step]>', about: 'a param to vary, and where', many: true },
  random: {
    flags: '--random <n>',
    about: 'so many points drawn by chance',
    number: { integer: true, min: 1, max: 100000 },
  },
  holdOut: {
    flags: '--hold-out <percent>',
    about: 'the last part of the tape, which nothing is chosen on (default 30)',
    number: { min: 0, max: 90 },
  },
  jobs: { flags: '--jobs <n>', about: 'threads; default: one a core', number: { integer: true, min: 1, max: 256 } },
  verifyCausal: {
    flags: '--verify-causal',
    about: 'cut the tape at random rows (--seed): nothing decided before a cut may change',
  },
  verify: { flags: '--verify', about: 'what replay does anyway' },
}
