import type { OptionName, Options, Run } from './options.ts'

export interface CommandSpec {
  name: string
  arguments?: string
  about: string
  options: readonly OptionName[]
  /** What an option means here, where others take it too and mean something else. */
  says?: Partial<Record<OptionName, string>>
  defaults?: Options
  load: () => Promise<{ run: Run }>
}

const journal = { journal: 'data/sluice.db' } satisfies Options
const TAPES = 'the journal; several are read as one tape (default: journal.path of the file)'

export const catalogue: Record<string, readonly CommandSpec[]> = {
  'Begin:': [
    {
      name: 'init',
      arguments: '[folder]',
      about: 'a project of your own: a configuration, a strategy with its test, what npm and the editor need',
      options: [],
      load: () => import('./begin/init.ts'),
    },
    {
      name: 'new',
      arguments: '<what> <name>',
      about: '`new strategy NAME`: a strategy that works, and its test',
      options: [],
      load: () => import('./begin/new.ts'),
    },
    {
      name: 'schema',
      arguments: '[strategy...]',
      about: 'a configuration as JSON Schema, for the editor; with the params of your strategies',
      options: ['out'],
      says: { out: 'the file; printed where there is none' },
      load: () => import('./begin/schema.ts'),
    },
  ],
  'Trade:': [
    {
      name: 'demo',
      about: 'trade on an embedded sandbox: no account, no key, no network',
      options: ['seconds', 'speed', 'journal', 'isolate', 'json'],
      load: () => import('./trade/demo.ts'),
    },
    {
      name: 'run',
      arguments: '<file...>',
      about: 'run bots by their configuration; on paper unless --live',
      options: ['live', 'yes', 'isolate', 'seconds', 'json'],
      load: () => import('./trade/run.ts'),
    },
    {
      name: 'check',
      arguments: '<file...>',
      about: 'all that is wrong with a configuration, and its worst case',
      options: ['json'],
      load: () => import('./trade/check.ts'),
    },
    {
      name: 'doctor',
      arguments: '<file...>',
      about: 'try everything that a run needs: key, plan, units, RPC, wallet, clock, files',
      options: ['json', 'probeLive', 'mint', 'yes'],
      load: () => import('./doctor/doctor.ts'),
    },
    {
      name: 'verify-tx',
      about: 'whether a transaction that was built for an order does that and nothing else',
      options: ['tx', 'order', 'policy', 'rpc', 'json'],
      load: () => import('./builder/verify-tx.ts'),
    },
    {
      name: 'learn-builder',
      arguments: '<file...>',
      about: 'ask the builder for samples, show all that is in them, and propose a policy',
      options: ['mints', 'sol', 'policy', 'acceptHash', 'json'],
      load: () => import('./builder/learn-builder.ts'),
    },
    {
      name: 'signer',
      about: "hold a wallet's key under another user, and sign what keeps to its rules",
      options: ['socket', 'key', 'policy', 'maxPerTransactionSol', 'maxPerHourSol', 'maxPerDaySol', 'state'],
      load: () => import('./builder/signer.ts'),
    },
    {
      name: 'close-accounts',
      arguments: '<file...>',
      about: 'which empty token accounts of the wallet hold rent; --yes closes them and gets it back',
      options: ['yes', 'json'],
      load: () => import('./trade/close-accounts.ts'),
    },
    {
      name: 'record',
      arguments: '<file>',
      about: 'journal the feed without trading',
      options: ['seconds'],
      load: () => import('./trade/record.ts'),
    },
    {
      name: 'sandbox',
      about: "serve the trading service's protocol on loopback, alone",
      options: ['port', 'dialect', 'market', 'repeat', 'speed', 'seed', 'plan', 'state', 'fund', 'slotMs', 'child'],
      says: { seed: 'what the made market starts from' },
      load: () => import('./trade/sandbox.ts'),
    },
  ],
  'Read a journal:': [
    {
      name: 'replay',
      about: 'repeat what was recorded, compare every decision, and name the first that differs',
      options: ['journal', 'verify', 'json'],
      defaults: journal,
      load: () => import('./research/replay.ts'),
    },
    {
      name: 'backtest',
      arguments: '<file>',
      about: "a configuration's bots over what was recorded, with simulated fills",
      options: ['journals', 'from', 'to', 'partial', 'calibrate', 'out', 'verifyCausal', 'seed', 'json'],
      says: {
        journals: TAPES,
        out: 'a folder for report.html, report.json and results.db',
        seed: 'which rows --verify-causal cuts at',
      },
      load: () => import('./research/backtest.ts'),
    },
    {
      name: 'sweep',
      arguments: '<file>',
      about: 'many backtests of one bot over ranges of its params, with a hold-out',
      options: ['journals', 'bot', 'range', 'random', 'seed', 'holdOut', 'jobs', 'partial', 'out', 'json'],
      says: {
        journals: TAPES,
        bot: 'the bot whose params are varied',
        out: 'a folder for sweep.html and what goes on after Ctrl-C',
        seed: 'which points --random draws',
      },
      load: () => import('./research/sweep.ts'),
    },
    {
      name: 'compare',
      arguments: '<a> <b>',
      about: 'two runs side by side (folders of backtest --out, reports, journals): what differs, and where it begins',
      options: ['json'],
      load: () => import('./journal/compare.ts'),
    },
    {
      name: 'attribute',
      arguments: '<live> <backtest>',
      about:
        'why a run (its journal) made other money than its backtest (its folder): one factor exchanged after the other',
      options: ['json'],
      load: () => import('./research/attribute.ts'),
    },
    {
      name: 'plan-advise',
      arguments: '<file>',
      about: 'the same backtest under each plan: what waits, what that costs, which plan is enough',
      options: ['journals', 'partial', 'json'],
      says: { journals: TAPES },
      load: () => import('./research/plan-advise.ts'),
    },
    {
      name: 'import',
      arguments: '<file...>',
      about: "captures of the feed (NDJSON of the service's messages, or .csv) as the tape of a new journal",
      options: ['journal', 'strict', 'json'],
      defaults: journal,
      load: () => import('./journal/import.ts'),
    },
    {
      name: 'export',
      about:
        "the tape as NDJSON of the service's messages, or .csv, with when they arrived and what was missed; or --tax",
      options: ['journals', 'out', 'tax', 'json'],
      says: { out: 'the file: .ndjson (or .jsonl) or .csv' },
      load: () => import('./journal/export.ts'),
    },
    {
      name: 'migrate',
      about: 'bring a journal of an older Sluice up to date',
      options: ['journal', 'json'],
      defaults: journal,
      load: () => import('./journal/migrate.ts'),
    },
    {
      name: 'orders',
      about: 'every order, and what became of it',
      options: ['journal', 'json'],
      defaults: journal,
      load: () => import('./journal/orders.ts'),
    },
    {
      name: 'fills',
      about: 'every execution, with its signature',
      options: ['journal', 'json'],
      defaults: journal,
      load: () => import('./journal/fills.ts'),
    },
    {
      name: 'why',
      arguments: '<order|mint>',
      about: 'why an order was made, and all that came of it; of a token all that was decided, or why not at a time',
      options: ['at', 'bot', 'journal', 'json'],
      defaults: journal,
      says: { bot: 'the bot whose decisions are asked for' },
      load: () => import('./why/why.ts'),
    },
    {
      name: 'report',
      about: 'what each bot has made, by reason and token, and what it cost',
      options: ['journal', 'json'],
      defaults: journal,
      load: () => import('./journal/report.ts'),
    },
    {
      name: 'ledger',
      arguments: '[order]',
      about: 'where every lamport of each wallet went, what was made with it, and whether the chain agrees',
      options: ['journal', 'json'],
      defaults: journal,
      load: () => import('./journal/ledger.ts'),
    },
    {
      name: 'positions',
      about: 'what each bot holds',
      options: ['journal', 'json'],
      defaults: journal,
      load: () => import('./journal/positions.ts'),
    },
  ],
  'Steer a running process:': [
    {
      name: 'status',
      about: 'how it is: the feed, what stops entries, each bot, what is held; 1 where nothing runs',
      options: ['journal', 'configs', 'json'],
      load: () => import('./trade/status.ts'),
    },
    {
      name: 'halt',
      about: 'no more entries, until resume; restarts included',
      options: ['journal', 'configs'],
      load: () => import('./trade/halt.ts'),
    },
    {
      name: 'resume',
      about: 'allow entries again',
      options: ['accept', 'journal', 'configs'],
      load: () => import('./trade/resume.ts'),
    },
    {
      name: 'flatten',
      about: 'halt and sell everything',
      options: ['journal', 'configs'],
      load: () => import('./trade/flatten.ts'),
    },
    {
      name: 'sell',
      arguments: '<mint>',
      about: 'sell all of one token',
      options: ['journal', 'configs'],
      load: () => import('./trade/sell.ts'),
    },
    {
      name: 'signal',
      arguments: '<name> [json]',
      about: 'tell every strategy something of your own (onSignal)',
      options: ['journal', 'configs'],
      load: () => import('./trade/signal.ts'),
    },
    {
      name: 'resolve',
      arguments: '<order>',
      about: 'what is known of an order in doubt, and how a person decides it',
      options: ['executed', 'notExecuted', 'yes', 'journal', 'configs'],
      load: () => import('./trade/resolve.ts'),
    },
    {
      name: 'adopt',
      arguments: '<mint>',
      about: 'give a bot what the wallet holds of a token',
      options: ['bot', 'journal', 'configs'],
      says: { bot: 'the bot whose position it becomes' },
      load: () => import('./trade/adopt.ts'),
    },
  ],
}
