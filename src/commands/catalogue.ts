import type { Command } from './options.ts'

/** A command with its name and arguments. Its options are in the module of the command, which is loaded only if the
 *  command is run or if its help is shown. */
export interface CatalogueEntry {
  readonly name: string
  readonly arguments?: string
  readonly about: string
  readonly load: () => Promise<{ readonly command: Command }>
}

export const catalogue: Readonly<Record<string, readonly CatalogueEntry[]>> = {
  'Start a project:': [
    {
      name: 'init',
      arguments: '[folder]',
      about: 'create a project: configuration, strategy with a test, package.json, editor settings',
      load: () => import('./begin/init.ts'),
    },
    {
      name: 'new',
      arguments: '<what> <name>',
      about: 'create a working strategy and its test: `new strategy NAME`',
      load: () => import('./begin/new.ts'),
    },
    {
      name: 'schema',
      arguments: '[strategy...]',
      about: 'print the JSON Schema of a configuration, with the params of your strategies, for an editor',
      load: () => import('./begin/schema.ts'),
    },
    {
      name: 'dev',
      arguments: '<file>',
      about: 'run a strategy while you edit it: reload on save, compare with the previous version, show errors',
      load: () => import('./develop/dev.ts'),
    },
    {
      name: 'test',
      arguments: '[file...]',
      about: "run the tests of your strategies, in node:test or the project's vitest; --update writes golden replays",
      load: () => import('./develop/test.ts'),
    },
  ],
  'Trade:': [
    {
      name: 'demo',
      about: 'trade on an embedded sandbox, without account, key or network',
      load: () => import('./trade/demo.ts'),
    },
    {
      name: 'run',
      arguments: '<file...>',
      about: 'run the bots of a configuration; all of them on paper unless --live is given',
      load: () => import('./trade/run.ts'),
    },
    {
      name: 'service',
      arguments: '<what> <file...>',
      about: 'write a hardened systemd unit that runs bots: `service install FILE...`; does not start the bots',
      load: () => import('./deploy/service.ts'),
    },
    {
      name: 'check',
      arguments: '<file...>',
      about: 'list the errors of a configuration, or show its bots and the worst case that it allows',
      load: () => import('./trade/check.ts'),
    },
    {
      name: 'doctor',
      arguments: '<file...>',
      about: 'test everything that a run needs: API key, plan, units, RPC, wallet, clock, files',
      load: () => import('./trade/doctor.ts'),
    },
    {
      name: 'watch',
      arguments: '<url...>',
      about:
        'watch running processes from another machine through their desks, and raise an alarm when one stops answering',
      load: () => import('./desk/watch.ts'),
    },
    {
      name: 'verify-tx',
      about: 'verify that a built transaction does exactly what its order specifies',
      load: () => import('./builder/verify-tx.ts'),
    },
    {
      name: 'learn-builder',
      arguments: '<file...>',
      about: 'request sample transactions, list their contents, and propose a builder policy',
      load: () => import('./builder/learn-builder.ts'),
    },
    {
      name: 'signer',
      about: 'hold the key of a wallet in a separate process and sign within fixed rules',
      load: () => import('./builder/signer.ts'),
    },
    {
      name: 'close-accounts',
      arguments: '<file...>',
      about: 'list the empty token accounts of the wallet; --yes closes them and returns their rent',
      load: () => import('./trade/close-accounts.ts'),
    },
    {
      name: 'record',
      arguments: '<file>',
      about: 'record the feed in a journal without trading',
      load: () => import('./trade/record.ts'),
    },
    {
      name: 'sandbox',
      about: "serve the trading service's protocol on loopback with a simulated market",
      load: () => import('./trade/sandbox.ts'),
    },
  ],
  'Read a journal:': [
    {
      name: 'replay',
      about: 'repeat each recorded run, compare every decision, and check every row of the journal',
      load: () => import('./research/replay.ts'),
    },
    {
      name: 'backtest',
      arguments: '<file>',
      about: 'run the bots of a configuration over recorded market data with simulated fills',
      load: () => import('./research/backtest.ts'),
    },
    {
      name: 'sweep',
      arguments: '<file>',
      about: 'backtest one bot with many sets of params, and test the best ones on the last part of the tape',
      load: () => import('./research/sweep.ts'),
    },
    {
      name: 'compare',
      arguments: '<a> <b>',
      about:
        'compare two runs (folders of backtest --out, reports or journals) and show their first different decision',
      load: () => import('./journal/compare.ts'),
    },
    {
      name: 'attribute',
      arguments: '<live> <backtest>',
      about: 'explain the difference in profit between a run (journal) and its backtest (folder), factor by factor',
      load: () => import('./research/attribute.ts'),
    },
    {
      name: 'plan-advise',
      arguments: '<file>',
      about: 'backtest under each plan of the service, and name the cheapest plan under which no exit waits',
      load: () => import('./research/plan-advise.ts'),
    },
    {
      name: 'import',
      arguments: '<file...>',
      about: "import captures of the feed (.csv, or NDJSON of the service's messages) into a new journal",
      load: () => import('./journal/import.ts'),
    },
    {
      name: 'export',
      about: "export the tape as .csv or as NDJSON of the service's messages, or all sales with --tax",
      load: () => import('./journal/export.ts'),
    },
    {
      name: 'migrate',
      about: 'upgrade a journal of an older version of Sluice',
      load: () => import('./journal/migrate.ts'),
    },
    {
      name: 'backup',
      arguments: '<db> <to>',
      about: 'copy a journal, even while a process writes it, and check the copy; also restores a backup',
      load: () => import('./journal/backup.ts'),
    },
    {
      name: 'tape',
      arguments: '<what> [day...]',
      about: 'list, verify, archive and restore the days of the tape, in files next to the journal',
      load: () => import('./journal/tape.ts'),
    },
    {
      name: 'orders',
      about: 'list the orders and their outcomes',
      load: async () => ({ command: (await import('./journal/tables.ts')).orders }),
    },
    {
      name: 'fills',
      about: 'list the fills with costs and signatures',
      load: async () => ({ command: (await import('./journal/tables.ts')).fills }),
    },
    {
      name: 'why',
      arguments: '<order|refusal|mint>',
      about: 'explain an order, a refusal, or every decision about a token; --at explains one moment',
      load: () => import('./why/why.ts'),
    },
    {
      name: 'report',
      about: 'show the profit and the costs of each bot, by exit reason and by token',
      load: () => import('./journal/report.ts'),
    },
    {
      name: 'ledger',
      arguments: '[order]',
      about: 'account for every lamport of each wallet, and compare the total with the chain',
      load: () => import('./journal/ledger.ts'),
    },
    {
      name: 'positions',
      about: 'list the open positions with their value now',
      load: async () => ({ command: (await import('./journal/tables.ts')).positions }),
    },
    {
      name: 'round-trips',
      about: 'list the closed positions with costs, proceeds, net result and exit reason',
      load: async () => ({ command: (await import('./journal/tables.ts')).roundTrips }),
    },
  ],
  'Control a running process:': [
    {
      name: 'status',
      about: 'show feed, bots, positions and the reasons that stop entries; exits 1 if no process is running',
      load: () => import('./trade/status.ts'),
    },
    {
      name: 'desk',
      arguments: '[link]',
      about: 'open the page of a recorded journal in the browser; `desk link` makes a login link of a running process',
      load: () => import('./desk/desk.ts'),
    },
    {
      name: 'halt',
      about: 'stop all entries until `resume`, even across restarts',
      load: async () => ({ command: (await import('./trade/control.ts')).halt }),
    },
    {
      name: 'resume',
      about: 'allow entries again',
      load: async () => ({ command: (await import('./trade/control.ts')).resume }),
    },
    {
      name: 'flatten',
      about: 'halt entries and sell every position',
      load: async () => ({ command: (await import('./trade/control.ts')).flatten }),
    },
    {
      name: 'sell',
      arguments: '<mint>',
      about: 'sell all of one token',
      load: async () => ({ command: (await import('./trade/control.ts')).sell }),
    },
    {
      name: 'buy',
      arguments: '<mint>',
      about: 'buy a token for a bot, under its limits; the bot manages the position',
      load: async () => ({ command: (await import('./trade/control.ts')).buy }),
    },
    {
      name: 'cancel',
      arguments: '<order>',
      about: 'cancel an order that was not sent yet, or a conditional order',
      load: async () => ({ command: (await import('./trade/control.ts')).cancel }),
    },
    {
      name: 'signal',
      arguments: '<name> [json]',
      about: 'send a signal to every strategy (its onSignal callback)',
      load: async () => ({ command: (await import('./trade/control.ts')).signal }),
    },
    {
      name: 'resolve',
      arguments: '<order>',
      about: 'show the evidence for an undecided order, or decide yourself whether it executed',
      load: () => import('./trade/resolve.ts'),
    },
    {
      name: 'adopt',
      arguments: '<mint>',
      about: 'assign tokens that the wallet holds to a bot as a position',
      load: async () => ({ command: (await import('./trade/control.ts')).adopt }),
    },
  ],
}
