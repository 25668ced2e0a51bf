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
