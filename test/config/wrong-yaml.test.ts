import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()

const sandbox = (rest: string) => `service: sandbox\n${rest}`
const bot = (keys: string) => sandbox(`bots:\n  - { name: a, strategy: dip-buyer, ${keys} }\n`)
const remote = (keys: string) => `service: { baseUrl: https://x.io/api, wsUrl: wss://x.io/api/data, ${keys} }\n`
const privateKey = '5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3bHSQm9GqZ4xdQ1kZ7R2yDqWvCmX8nR4tJ6sLp'

/** Wrong files with all their errors, in the form `line:column path: message`. FOLDER is the folder of the file. */
const table: [what: string, yaml: string, ...errors: (string | RegExp)[]][] = [
  ['an empty file', '', '1:1 service: missing; expected sandbox or a map with baseUrl, wsUrl and apiKey'],
  [
    'a file with only a comment',
    '# later\n',
    '1:1 service: missing; expected sandbox or a map with baseUrl, wsUrl and apiKey',
  ],
  [
    'a list in place of the whole map',
    '- service: sandbox\n',
    '1:1 : expected a map that begins with `service:`, found a list',
  ],
  [
    'a word in place of the whole map',
    'sandbox\n',
    '1:1 : expected a map that begins with `service:`, found "sandbox"',
  ],
  [
    'a metrics token that is written into the file',
    sandbox('metrics: { token: 0123456789abcdef0123456789abcdef }\n'),
    '2:19 metrics.token: expected env:NAME or file:PATH, not the token itself: store it in an environment variable or in a file with mode 0600',
  ],
  [
    'the section metrics without a token',
    sandbox('metrics: {}\n'),
    '2:10 metrics.token: missing; expected env:NAME or file:PATH, not the token itself: store it in an environment variable or in a file with mode 0600',
  ],
  ['a quote that is not closed', "service: 'sandbox\nbots: []\n", "1:10 : not YAML: missing closing 'quote"],
  [
    'a list that is not closed',
    'service: sandbox\nbots: [\n',
    '2:7 : not YAML: flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
  ['a tab for indentation', 'service:\n\tplan: auto\n', '2:1 : not YAML: tabs are not allowed as indentation'],
  [
    'two values on one line',
    'service: sandbox: yes\n',
    '1:10 : expected one value, found a second `: ` or an indented key',
  ],
  ['a key without a colon', 'service: sandbox\nbots\n', '2:1 : expected `key: value`'],
  [
    'a value that begins with a reserved character',
    'service: @sandbox\n',
    '1:10 : not YAML: plain value cannot start with reserved character @',
  ],
  [
    'a file with a second YAML document',
    'service: sandbox\n---\nservice: sandbox\n',
    '2:1 : a second document begins here; write one document per file',
  ],
  ['a file with 5000 nested lists', `service: ${'['.repeat(5000)}`, /^1:\d+ : the file is nested too deeply$/],
  [
    'aliases that repeat other aliases many times',
    sandbox(
      'a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*b,*b,*b]\n',
    ),
    '1:1 : excessive alias count indicates a resource exhaustion attack',
  ],
  ['an unknown tag', 'service: !env NAME\n', '1:10 : not YAML: unresolved tag: !env'],
  ['an alias without an anchor', 'service: *other\n', '1:10 service: the alias has no anchor &other before it'],
  [
    'an alias inside the value that it repeats',
    'service: sandbox\nbots: &all [*all]\n',
    '2:13 bots[0]: the alias refers to a value that contains the alias',
  ],
  [
    'a merge key whose value is a word',
    'service: sandbox\npaper:\n  <<: yes\n',
    '3:7 paper: <<: expected a map or a list of maps',
  ],
  [
    'a map in place of a key',
    'service: sandbox\n? { a: 1 }\n: 2\n',
    '2:3 : expected a plain key, found an alias, a map or a list',
  ],
  [
    'braces around a secret in a flow map',
    remote('apiKey: \x24{KEY}'),
    '1:76 : not YAML: unexpected flow-map-start at node end; write a secret as env:NAME, without braces',
  ],
  [
    'a key that is written twice',
    'service: sandbox\njournal: { path: a.db, path: b.db }\n',
    '2:24 journal.path: duplicate key; remove one of the two',
  ],
  [
    'a section that is written twice',
    'service: sandbox\npaper: { seed: 1 }\npaper: { seed: 2 }\n',
    '3:1 paper: duplicate key; remove one of the two',
  ],
  [
    'a wrong value in a file with CRLF line ends',
    'service: sandbox\r\npaper:\r\n  seed: x\r\n',
    '3:9 paper.seed: expected a number, found "x"',
  ],
  [
    'a wrong value in a file with a byte order mark',
    '\uFEFFservice: sandbax\n',
    '1:10 service: expected sandbox or a map, found "sandbax"; did you mean sandbox?',
  ],
  ['an unknown section', sandbox('walets: {}\n'), '2:1 walets: unknown key; did you mean wallets?'],
  [
    'the section orders at the top level',
    sandbox('orders: { ttlSeconds: 2 }\n'),
    '2:1 orders: unknown key; did you mean defaults.orders?',
  ],
  ['an empty section', sandbox('journal:\n'), '2:9 journal: expected a map, found nothing'],
  [
    'a misspelt service',
    'service: sandbax\n',
    '1:10 service: expected sandbox or a map, found "sandbax"; did you mean sandbox?',
  ],
  [
    'a service without its wsUrl',
    'service: { baseUrl: https://x.io/api }\n',
    '1:10 service.wsUrl: missing; expected text',
  ],
  [
    'an http address that is not loopback',
    'service: { baseUrl: http://x.io/api, wsUrl: wss://x.io/data }\n',
    '1:21 service.baseUrl: expected https://, found http:// (allowed for loopback only)',
  ],
  [
    'a ws address that is not loopback',
    'service: { baseUrl: https://x.io/api, wsUrl: ws://localhost.x.io/data }\n',
    '1:46 service.wsUrl: expected wss://, found ws:// (allowed for loopback only)',
  ],
  [
    'an https address as the wsUrl',
    'service: { baseUrl: https://x.io/api, wsUrl: https://x.io/data }\n',
    '1:46 service.wsUrl: expected wss://, found https://',
  ],
  [
    'an address without a protocol',
    'service: { baseUrl: x.io/api, wsUrl: wss://x.io/data }\n',
    '1:21 service.baseUrl: expected an address that begins with https://, as in https://example.com',
  ],
  [
    'an address that contains an API key',
    'service: { baseUrl: https://x.io/api, wsUrl: wss://x.io/data?key=SECRET }\n',
    '1:46 service.wsUrl: expected an address without user, query or fragment: write a key as env:NAME or file:PATH under service.apiKey',
  ],
  [
    'an address that contains a user name',
    'service: { baseUrl: "https://me:SECRET@x.io/api", wsUrl: wss://x.io/data }\n',
    '1:21 service.baseUrl: expected an address without user, query or fragment: write a key as env:NAME or file:PATH under service.apiKey',
  ],
  [
    'an API key that is written into the file',
    remote('apiKey: sk_live_SECRET'),
    '1:75 service.apiKey: expected env:NAME or file:PATH, not the key itself: store it in an environment variable or in a file with mode 0600',
  ],
  [
    'an API key that is a number',
    remote('apiKey: 123456'),
    '1:75 service.apiKey: expected env:NAME or file:PATH, not the key itself: store it in an environment variable or in a file with mode 0600',
  ],
  [
    'an API key as a shell variable',
    'service:\n  baseUrl: https://x.io/api\n  wsUrl: wss://x.io/data\n  apiKey: \x24{API_KEY}\n',
    '4:11 service.apiKey: expected env:NAME or file:PATH, not the key itself: store it in an environment variable or in a file with mode 0600; write env:API_KEY',
  ],
  [
    'a reference env: with a space',
    remote('apiKey: { env: KEY }'),
    '1:75 service.apiKey: expected env:NAME or file:PATH, not the key itself: store it in an environment variable or in a file with mode 0600',
  ],
  [
    'a misspelt plan',
    remote('plan: premuim'),
    '1:73 service.plan: expected auto, standard, premium or a map, found "premuim"; did you mean premium?',
  ],
  ['a number as the plan', remote('plan: 3'), '1:73 service.plan: expected auto, standard, premium or a map, found 3'],
  [
    'a plan without all its numbers',
    remote('plan: { requestsPerMinute: 100 }'),
    '1:73 service.plan.connections: missing; expected a number',
    '1:73 service.plan.messagesPerSecond: missing; expected a number',
  ],
  [
    'a number of connections that is not whole',
    remote('plan: { requestsPerMinute: 100, connections: 2.5, messagesPerSecond: 50 }'),
    '1:112 service.plan.connections: expected a whole number, found 2.5',
  ],
  [
    'a share above the whole plan',
    remote('share: 2'),
    '1:74 service.share: expected at least 0.01 and at most 1, found 2',
  ],
  [
    'an unknown unit',
    remote('units: { tradePrice: sool, sell: token }'),
    '1:88 service.units.tradePrice: expected auto or sol, found "sool"; did you mean sol?',
    '1:100 service.units.sell: expected auto, tokens or baseUnits, found "token"; did you mean tokens?',
  ],
  [
    'a misspelt key of a unit',
    remote('units: { pricUpdate: usd }'),
    '1:76 service.units.pricUpdate: unknown key; did you mean priceUpdate?',
  ],
  [
    'lateSeconds of zero',
    remote('lateSeconds: 0'),
    '1:80 service.lateSeconds: expected at least 1 and at most 86400 seconds, found 0',
  ],
  [
    'an RPC address that is written into the file',
    `${remote('plan: auto')}chain: { rpc: [{ url: "https://rpc.io/?api-key=SECRET" }] }\n`,
    '2:23 chain.rpc[0].url: expected env:NAME or file:PATH, not the address itself, which may contain a key: store it in an environment variable or in a file with mode 0600',
  ],
  [
    'an RPC that is not a map',
    `${remote('plan: auto')}chain: { rpc: [env:RPC_URL] }\n`,
    '2:16 chain.rpc[0]: expected a map, found "env:RPC_URL"',
  ],
  [
    'an empty list of RPCs',
    `${remote('plan: auto')}chain: { rpc: [] }\n`,
    '2:15 chain.rpc: expected at least 1 entry, found an empty list',
  ],
  [
    'an unknown cluster',
    `${remote('plan: auto')}chain: { rpc: [{ url: env:RPC_URL }], cluster: mainnet }\n`,
    '2:48 chain.cluster: expected mainnet-beta, testnet, devnet or a genesis hash; did you mean mainnet-beta?',
  ],
  [
    'a public key that is too short',
    sandbox('wallet: { publicKey: abc }\n'),
    '2:22 wallet.publicKey: expected a public key: base58 of 32 bytes (never the private key)',
  ],
  [
    'a private key in place of the public key',
    sandbox(`wallet: { publicKey: ${privateKey} }\n`),
    '2:22 wallet.publicKey: expected a public key: base58 of 32 bytes (never the private key)',
  ],
  [
    'a keypair that is read from a variable',
    sandbox('wallet: { keypair: env:KEYPAIR }\n'),
    '2:20 wallet.keypair: expected file:PATH, as in file:~/.config/solana/id.json: a keypair is read from a file with mode 0600 only',
  ],
  [
    'a keypair that is written as a list',
    sandbox('wallet: { keypair: [12, 34, 56] }\n'),
    '2:20 wallet.keypair: expected file:PATH, as in file:~/.config/solana/id.json: a keypair is read from a file with mode 0600 only',
  ],
  [
    'a keypair path without file:',
    sandbox('wallet: { keypair: ~/.config/solana/id.json }\n'),
    '2:20 wallet.keypair: expected file:PATH, as in file:~/.config/solana/id.json: a keypair is read from a file with mode 0600 only',
  ],
  [
    'both a signer and a keypair',
    sandbox('wallet: { keypair: "file:k", signer: /run/s }\n'),
    '2:38 wallet.signer: expected either signer or keypair: a signer at a socket uses its own key',
  ],
  [
    'caps together with a signer at a socket',
    sandbox('wallet: { signer: /run/s, caps: { maxSolPerHour: 1 } }\n'),
    '2:33 wallet.caps: not allowed with `signer`: pass the caps to `sluice signer`, where this process cannot change them',
  ],
  [
    'a spending cap of zero',
    sandbox('wallet: { keypair: "file:k", caps: { maxSolPerHour: 0 } }\n'),
    '2:53 wallet.caps.maxSolPerHour: expected at least 0.000001 and at most 10000 SOL, found 0',
  ],
  ['an empty path', sandbox('journal: { path: "" }\n'), '2:18 journal.path: expected at least 1 character, found ""'],
  [
    'keepTapeDays as text',
    sandbox('journal: { keepTapeDays: 14d }\n'),
    '2:26 journal.keepTapeDays: expected a number, found "14d"',
  ],
  [
    'keepTapeDays together with the archive',
    sandbox('journal: { archive: true, keepTapeDays: 30 }\n'),
    '2:41 journal.keepTapeDays: not allowed with `archive: true`: archived market data is kept, and `sluice tape forget DAY` gives up old days',
  ],
  [
    'a paper balance of zero',
    sandbox('paper: { balanceSol: 0 }\n'),
    '2:22 paper.balanceSol: expected at least 0.000001 and at most 100000 SOL, found 0',
  ],
  ['half a seed', sandbox('paper: { seed: 1.5 }\n'), '2:16 paper.seed: expected a whole number, found 1.5'],
  [
    'a latency whose p95 is below its p50',
    sandbox('paper: { latency: { p50Seconds: 4, p95Seconds: 1 } }\n'),
    '2:48 paper.latency.p95Seconds: expected at least p50Seconds: p95Seconds is the 95th percentile of the latency, and p50Seconds the median',
  ],
  ['not a number', sandbox('paper: { balanceSol: .nan }\n'), '2:22 paper.balanceSol: expected a number, found NaN'],
  ['infinity', sandbox('paper: { balanceSol: .inf }\n'), '2:22 paper.balanceSol: expected a number, found Infinity'],
  ['a bot that is a word', sandbox('bots:\n  - dips\n'), '3:5 bots[0]: expected a map, found "dips"'],
  [
    'a map in place of the list of bots',
    sandbox('bots: { dips: { strategy: dip-buyer } }\n'),
    '2:7 bots: expected a list, found a map',
  ],
  ['a bot without a name', sandbox('bots:\n  - strategy: dip-buyer\n'), '3:5 bots[0].name: missing; expected text'],
  ['a bot without a strategy', sandbox('bots:\n  - name: dips\n'), '3:5 bots[0].strategy: missing; expected text'],
  [
    'a bot name that is a number',
    sandbox('bots:\n  - { name: 7, strategy: dip-buyer }\n'),
    '3:13 bots[0].name: expected text, found 7; put it into quotes',
  ],
  [
    'a bot name with a vertical bar',
    sandbox('bots:\n  - { name: a|b, strategy: dip-buyer }\n'),
    '3:13 bots[0].name: expected 1 to 40 letters, digits, dots, dashes or underscores, beginning with a letter or digit',
  ],
  [
    'two bots with the same name',
    sandbox('bots:\n  - { name: a, strategy: dip-buyer }\n  - { name: a, strategy: dip-buyer }\n'),
    '4:13 bots[1].name: the bot at wrong.yaml:3 has the same name; choose another one',
  ],
  [
    'a misspelt strategy',
    sandbox('bots:\n  - { name: a, strategy: dipbuyr }\n'),
    '3:26 bots[0].strategy: no strategy of this name in strategies/; did you mean dip-buyer?',
  ],
  [
    'an unknown strategy whose name is similar to no other',
    sandbox('bots:\n  - { name: a, strategy: arbitrage }\n'),
    '3:26 bots[0].strategy: no strategy of this name in strategies/; expected one of breakout, copy-trader, dip-buyer, grid-dca, launch-sniper, mean-reversion, migration, momentum, probe, volume-imbalance',
  ],
  [
    'a strategy path without ./',
    sandbox('bots:\n  - { name: a, strategy: strategies/dip-buyer.ts }\n'),
    '3:26 bots[0].strategy: expected the name of a strategy, or a path; a path begins with ./ (did you mean ./strategies/dip-buyer.ts?)',
  ],
  [
    'a strategy path at which there is no file',
    sandbox('bots:\n  - { name: a, strategy: ./nowhere.ts }\n'),
    '3:26 bots[0].strategy: no such file: FOLDER/nowhere.ts',
  ],
  [
    'a strategy that is not a script',
    sandbox('bots:\n  - { name: a, strategy: ./wrong.yaml }\n'),
    '3:26 bots[0].strategy: expected a file that ends in .ts, .mts, .js, .mjs',
  ],
  [
    'a misspelt param',
    bot('params: { dropPercnt: 15 }'),
    '3:47 bots[0].params.dropPercnt: unknown key; did you mean dropPercent?',
  ],
  [
    'a param outside of its range',
    bot('params: { dropPercent: 95 }'),
    '3:60 bots[0].params.dropPercent: expected at least 1 and at most 90, found 95',
  ],
  [
    'a param that is written with its unit',
    bot('params: { sizeSol: 0.1 SOL }'),
    '3:56 bots[0].params.sizeSol: expected a number, found "0.1 SOL"; write 0.1',
  ],
  ['a number in place of the params', bot('params: 5'), '3:45 bots[0].params: expected a map, found 5'],
  [
    'a misspelt mode',
    bot('mode: live!'),
    '3:43 bots[0].mode: expected paper or live, found "live!"; did you mean live?',
  ],
  [
    'a mode in capitals',
    bot('mode: LIVE'),
    '3:43 bots[0].mode: expected paper or live, found "LIVE"; did you mean live?',
  ],
  [
    'a misspelt executor',
    bot('executor: clod'),
    '3:47 bots[0].executor: expected cloud or local, found "clod"; did you mean cloud?',
  ],
  ['a misspelt key', bot('stratgy: x'), '3:37 bots[0].stratgy: unknown key; did you mean strategy?'],
  [
    'a stop-loss outside of the section exits',
    bot('stopLossPercent: 20'),
    '3:37 bots[0].stopLossPercent: unknown key; did you mean exits.stopLossPercent?',
  ],
  [
    'a stop-loss below zero',
    bot('exits: { stopLossPercent: -20 }'),
    '3:63 bots[0].exits.stopLossPercent: expected at least 0.01 and less than 100 percent, found -20',
  ],
  [
    'a stop-loss of 100 %',
    bot('exits: { stopLossPercent: 100 }'),
    '3:63 bots[0].exits.stopLossPercent: expected at least 0.01 and less than 100 percent, found 100',
  ],
  [
    'a take-profit that is written with a percent sign',
    bot('exits: { takeProfitPercent: 50% }'),
    '3:65 bots[0].exits.takeProfitPercent: expected none or a number, found "50%"; write 50',
  ],
  [
    'an exit with only half of its name',
    bot('exits: { trailing: 15 }'),
    '3:46 bots[0].exits.trailing: unknown key; did you mean trailingPercent?',
  ],
  [
    'an exit whose name has underscores',
    bot('exits: { max_hold_seconds: 900 }'),
    '3:46 bots[0].exits.max_hold_seconds: unknown key; did you mean maxHoldSeconds?',
  ],
  [
    'an exit with a misspelt `none`',
    bot('exits: { trailingPercent: non }'),
    '3:63 bots[0].exits.trailingPercent: expected none or a number, found "non"; did you mean none?',
  ],
  [
    'take-profit steps that are not in ascending order',
    bot('exits: { takeProfitSteps: [{ atPercent: 50, sellPercent: 50 }, { atPercent: 20, sellPercent: 50 }] }'),
    '3:113 bots[0].exits.takeProfitSteps[1].atPercent: expected more than 50, found 20: write the steps in ascending order',
  ],
  [
    'take-profit steps that sell more than 100 % together',
    bot('exits: { takeProfitSteps: [{ atPercent: 20, sellPercent: 60 }, { atPercent: 50, sellPercent: 50 }] }'),
    '3:130 bots[0].exits.takeProfitSteps[1].sellPercent: expected steps of at most 100 % together, found 110 %',
  ],
  [
    'a take-profit step that sells more than 100 %',
    bot('exits: { takeProfitSteps: [{ atPercent: 20, sellPercent: 101 }] }'),
    '3:94 bots[0].exits.takeProfitSteps[0].sellPercent: expected at least 0.01 and at most 100 percent, found 101',
  ],
  [
    'takeProfitByAge with a target that rises with the age',
    bot('exits: { takeProfitByAge: { 0: 20, 600: 50 } }'),
    '3:77 bots[0].exits.takeProfitByAge.600: expected at most 20, found 50: the percentages must fall with the age',
  ],
  [
    'takeProfitByAge with a negative target',
    bot('exits: { takeProfitByAge: { 0: -1 } }'),
    '3:68 bots[0].exits.takeProfitByAge.0: expected at least 0 and at most 1000000 percent, found -1',
  ],
  [
    'takeProfitByAge with an age that is not a whole number of seconds',
    bot('exits: { takeProfitByAge: { 10m: 20 } }'),
    '3:65 bots[0].exits.takeProfitByAge.10m: expected an age in whole seconds, as in { 0: 50, 600: 20 }',
  ],
  [
    'takeProfitByAge without any age',
    bot('exits: { takeProfitByAge: {} }'),
    '3:63 bots[0].exits.takeProfitByAge: expected a map of ages to percentages with 1 to 20 entries, as in { 0: 50, 600: 20, 3600: 5 }',
  ],
  [
    'takeProfitByAge with a target above the takeProfitPercent of the defaults',
    `defaults: { exits: { takeProfitPercent: 50 } }\n${bot('exits: { takeProfitByAge: { 0: 60, 60: 20 } }')}`,
    '4:68 bots[0].exits.takeProfitByAge.0: expected less than takeProfitPercent (50), found 60: at that price the whole position is already sold; takeProfitPercent comes from defaults.exits',
  ],
  [
    'takeProfitByAge with an age that equals maxHoldSeconds',
    bot('exits: { takeProfitByAge: { 0: 60, 600: 20 }, maxHoldSeconds: 600 }'),
    '3:77 bots[0].exits.takeProfitByAge.600: expected an age below maxHoldSeconds (600): at that age the whole position is sold',
  ],
  [
    'a stop-loss above the take-profit',
    bot('exits: { stopLossPercent: 60, takeProfitPercent: 50 }'),
    '3:63 bots[0].exits.stopLossPercent: expected at most takeProfitPercent (50), found 60: a loss would exceed any profit; lower this or raise takeProfitPercent',
  ],
  [
    'trailingArmPercent without a trailing stop',
    bot('exits: { trailingArmPercent: 20 }'),
    '3:66 bots[0].exits.trailingArmPercent: expected trailingPercent too: without it there is no trailing stop',
  ],
  [
    'breakEvenAtPercent of the defaults above the takeProfitPercent of a bot',
    `defaults: { exits: { breakEvenAtPercent: 60 } }\n${bot('exits: { takeProfitPercent: 50 }')}`,
    '1:42 defaults.exits.breakEvenAtPercent: expected less than takeProfitPercent (50), found 60: at that price the whole position is already sold; takeProfitPercent comes from bots[0].exits (for the bot a)',
  ],
  [
    'takeProfitPercent of the defaults below the trailingArmPercent of a strategy',
    `defaults: { exits: { takeProfitPercent: 50 } }\n${sandbox('bots:\n  - { name: a, strategy: ./armed.ts }\n')}`,
    '4:26 bots[0].strategy: the strategy ./armed.ts sets exits.trailingArmPercent: expected less than takeProfitPercent (50), found 60: at that price the whole position is already sold; takeProfitPercent comes from defaults.exits; set one of the two in the section of the bot, or remove one there with `none`',
  ],
  [
    'takeProfitPercent of a bot that equals a take-profit step of its strategy',
    sandbox('bots:\n  - { name: a, strategy: ./steps.ts, exits: { takeProfitPercent: 40 } }\n'),
    '3:26 bots[0].strategy: the strategy ./steps.ts sets exits.takeProfitSteps[1].atPercent: expected less than takeProfitPercent (40), found 40: at that price the whole position is already sold; takeProfitPercent comes from bots[0].exits; set one of the two in the section of the bot, or remove one there with `none`',
  ],
  [
    'a negative idleSeconds',
    bot('exits: { idleSeconds: -5 }'),
    '3:59 bots[0].exits.idleSeconds: expected at least 0.001 and at most 1000000000 seconds, found -5',
  ],
  [
    'an unknown policy of whenStale',
    bot('exits: { whenStale: { policy: panic, afterSeconds: 5 } }'),
    '3:67 bots[0].exits.whenStale.policy: expected hold, poll or flatten, found "panic"',
  ],
  [
    'a whenStale policy that polls the pool too often',
    bot('exits: { whenStale: { policy: poll, afterSeconds: 0.5 } }'),
    '3:87 bots[0].exits.whenStale.afterSeconds: expected at least 1, found 0.5',
  ],
  [
    'an idleSeconds that is too short',
    bot('exits: { idleSeconds: 0.001 }'),
    '3:59 bots[0].exits.idleSeconds: expected at least 1, found 0.001',
  ],
  [
    'the whenStale policy poll without an RPC',
    `${remote('apiKey: env:KEY')}bots:\n  - { name: a, strategy: dip-buyer, exits: { whenStale: { policy: poll, afterSeconds: 5 } } }\n`,
    '3:67 bots[0].exits.whenStale.policy: poll reads pools over RPC: set chain.rpc',
  ],
  [
    'the word off in place of the exits',
    bot('exits: off'),
    '3:44 bots[0].exits: expected none, strategy or a map, found "off"',
  ],
  [
    'a slippage outside of its range',
    bot('orders: { slippagePercent: 60 }'),
    '3:64 bots[0].orders.slippagePercent: expected at least 0.1 and at most 50 percent, found 60',
  ],
  [
    'a slippage ladder of buys with a step outside of its range',
    bot('orders: { slippageLadder: [5, 60] }'),
    '3:67 bots[0].orders.slippageLadder[1]: expected at least 0.1 and at most 50 percent, found 60',
  ],
  [
    'both slippageLadder and slippagePercent',
    bot('orders: { slippagePercent: 5, slippageLadder: [5, 10] }'),
    '3:83 bots[0].orders.slippageLadder: expected either slippageLadder or slippagePercent: the first step of the ladder is the slippage of the first attempt',
  ],
  [
    'a slippage ladder of buys whose last step exceeds maxSlippagePercent',
    bot('orders: { slippageLadder: [1, 2, 9] }, limits: { maxSlippagePercent: 5 }'),
    '3:106 bots[0].limits.maxSlippagePercent: below the 9 % of orders.slippageLadder: such buys would be refused; raise this limit, or lower orders.slippageLadder',
  ],
  [
    'a priority fee outside of its range',
    bot('orders: { priorityFeeSol: 0.5 }'),
    '3:63 bots[0].orders.priorityFeeSol: expected at least 0.00001 and at most 0.01 SOL, found 0.5',
  ],
  [
    'a priority fee that is an unknown word',
    bot('orders: { priorityFeeSol: automatic }'),
    '3:63 bots[0].orders.priorityFeeSol: expected auto or a number, found "automatic"; did you mean auto?',
  ],
  [
    'a slippage ladder whose steps descend',
    bot('exitOrders: { slippageLadder: [5, 30, 15] }'),
    '3:67 bots[0].exitOrders.slippageLadder: expected ascending steps, as in [5, 15, 30]',
  ],
  [
    'a slippage ladder without steps',
    bot('exitOrders: { slippageLadder: [] }'),
    '3:67 bots[0].exitOrders.slippageLadder: expected at least 1 entry, found an empty list',
  ],
  [
    'a slippage ladder with a step that is a word',
    bot('exitOrders: { slippageLadder: [5, lots] }'),
    '3:71 bots[0].exitOrders.slippageLadder[1]: expected a number, found "lots"',
  ],
  [
    'tokenChecks with an unknown value of `when`',
    bot('tokenChecks: { when: never }'),
    '3:58 bots[0].tokenChecks.when: expected before, after or off, found "never"',
  ],
  [
    'a token check with an unknown value',
    bot('tokenChecks: { freezeAuthority: no }'),
    '3:69 bots[0].tokenChecks.freezeAuthority: expected refuse or allow, found "no"',
  ],
  [
    'a misspelt token check',
    bot('tokenChecks: { freezAuthority: allow }'),
    '3:52 bots[0].tokenChecks.freezAuthority: unknown key; did you mean freezeAuthority?',
  ],
  [
    'maxSolPerOrder below the smallest buy',
    bot('limits: { maxSolPerOrder: 0.0001 }'),
    '3:63 bots[0].limits.maxSolPerOrder: expected at least 0.001 and at most 10000 SOL, found 0.0001',
  ],
  [
    'maxOpenPositions of zero',
    bot('limits: { maxOpenPositions: 0 }'),
    '3:65 bots[0].limits.maxOpenPositions: expected at least 1 and at most 10000, found 0',
  ],
  [
    'maxSolPerOrder above maxSolPerHour',
    bot('limits: { maxSolPerOrder: 2, maxSolPerHour: 1 }'),
    '3:63 bots[0].limits.maxSolPerOrder: exceeds limits.maxSolPerHour (1): a buy of 2 SOL would always be refused',
  ],
  [
    'maxSolPerOrder above maxSolPerMint',
    bot('limits: { maxSolPerOrder: 2, maxSolPerMint: 1 }'),
    '3:63 bots[0].limits.maxSolPerOrder: exceeds limits.maxSolPerMint (1): a buy of 2 SOL would always be refused',
  ],
  [
    'maxSolPerOrder above maxSolPerDay',
    bot('limits: { maxSolPerOrder: 2, maxSolPerDay: 1 }'),
    '3:63 bots[0].limits.maxSolPerOrder: exceeds limits.maxSolPerDay (1): a buy of 2 SOL would always be refused',
  ],
  [
    'minSolPerOrder above maxSolPerOrder',
    bot('limits: { maxSolPerOrder: 1, minSolPerOrder: 2 }'),
    '3:82 bots[0].limits.minSolPerOrder: exceeds maxSolPerOrder (1): every buy would be refused',
  ],
  [
    'a slippage that exceeds maxSlippagePercent',
    bot('limits: { maxSlippagePercent: 2 }'),
    '3:67 bots[0].limits.maxSlippagePercent: below the 5 % of orders.slippagePercent: such buys would be refused; raise this limit, or lower orders.slippagePercent',
  ],
  [
    'maxLosingStreak of zero',
    bot('limits: { maxLosingStreak: 0 }'),
    '3:64 bots[0].limits.maxLosingStreak: expected at least 1 and at most 1000, found 0',
  ],
  [
    'a negative streakPauseSeconds',
    bot('limits: { streakPauseSeconds: -1 }'),
    '3:67 bots[0].limits.streakPauseSeconds: expected at least 0.001 and at most 2592000 seconds, found -1',
  ],
  [
    'a misspelt limit',
    bot('limits: { maxSolPerOder: 1 }'),
    '3:47 bots[0].limits.maxSolPerOder: unknown key; did you mean maxSolPerOrder?',
  ],
  [
    'a live bot without an exit',
    bot('mode: live'),
    '3:5 bots[0].exits: a live bot needs an exit that ends a losing position: set exits.stopLossPercent or exits.maxHoldSeconds, or write `exits: none`',
  ],
  [
    'a live bot whose only exit is a take-profit',
    bot('mode: live, exits: { takeProfitPercent: 50 }'),
    '3:56 bots[0].exits: a live bot needs an exit that ends a losing position: set exits.stopLossPercent or exits.maxHoldSeconds, or write `exits: none`',
  ],
  [
    'a live bot without wallet, key and RPC',
    `${remote('plan: auto')}bots:\n  - { name: a, strategy: dip-buyer, mode: live, exits: none }\n`,
    '3:43 bots[0].mode: a live bot needs service.apiKey (env:NAME or file:PATH)',
    '3:43 bots[0].mode: a live bot needs chain.rpc, which confirms its trades',
    '3:43 bots[0].mode: a live bot needs wallet.publicKey',
  ],
  [
    'a live bot with a wrong public key of its wallet',
    `${remote('apiKey: env:KEY')}chain: { rpc: [{ url: env:RPC_URL }] }\nwallet: { publicKey: abc }\nbots:\n  - { name: a, strategy: dip-buyer, mode: live, exits: none }\n`,
    '3:22 wallet.publicKey: expected a public key: base58 of 32 bytes (never the private key)',
  ],
  [
    'the local executor without a signer',
    `${remote('apiKey: env:KEY')}chain: { rpc: [{ url: env:RPC_URL }] }\nwallet: { publicKey: YourWaLLetAddressGoesHereAsBase581111111111 }\nbots:\n  - { name: a, strategy: dip-buyer, mode: live, executor: local, exits: none }\n`,
    '5:59 bots[0].executor: the local executor needs a signer: set wallet.keypair (file:PATH) or wallet.signer (the socket of `sluice signer`)',
  ],
  [
    'an error in the defaults',
    sandbox('defaults: { exits: { stopLossPercent: 200 } }\nbots:\n  - { name: a, strategy: dip-buyer, mode: live }\n'),
    '2:39 defaults.exits.stopLossPercent: expected at least 0.01 and less than 100 percent, found 200',
  ],
  [
    'an error in a value that an alias repeats',
    sandbox(
      'defaults:\n  exits: &exits { stopLossPercent: 0 }\nbots:\n  - { name: a, strategy: dip-buyer, exits: *exits }\n',
    ),
    '3:36 defaults.exits.stopLossPercent: expected at least 0.01 and less than 100 percent, found 0',
    '3:36 bots[0].exits.stopLossPercent: expected at least 0.01 and less than 100 percent, found 0',
  ],
  [
    'an error in a value that a merge key repeats',
    sandbox('bots:\n  - &first { name: a, strategy: dip-buyer, mode: lve }\n  - { <<: *first, name: b }\n'),
    '3:50 bots[0].mode: expected paper or live, found "lve"; did you mean live?',
    '3:50 bots[1].mode: expected paper or live, found "lve"; did you mean live?',
  ],
  [
    'the key __proto__',
    sandbox('__proto__: { polluted: 1 }\n'),
    '2:1 __proto__: unknown key; expected one of service, chain, wallet, wallets, journal, alerts, telegram, heartbeat, metrics, desk, paper, defaults, bots',
  ],
]

const withExits = (
  exits: string,
): string => `import { z } from ${JSON.stringify(join(import.meta.dirname, '../../node_modules/zod/index.js'))}
export default { name: 'own', about: '', params: z.object({}), keys: ['trades'], exits: ${exits}, start: () => ({}) }
`
folder.write('armed.ts', withExits('{ trailingPercent: 10, trailingArmPercent: 60 }'))
folder.write(
  'steps.ts',
  withExits('{ takeProfitSteps: [20, 40].map((atPercent) => ({ atPercent, sellPercent: 30 })) }'),
)

test.each(table)('`check` reports the place of %s', async (_what, yaml, ...errors) => {
  folder.write('wrong.yaml', yaml)
  const result = await loadConfig(['wrong.yaml'], { cwd: folder.path })
  const said = result.ok ? [] : result.errors
  expect(said.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)).toEqual(
    errors.map((error) =>
      typeof error === 'string' ? error.replaceAll('FOLDER', folder.path) : expect.stringMatching(error),
    ),
  )
  expect(new Set(said.map(({ file }) => file))).toEqual(new Set(['wrong.yaml']))
  expect(JSON.stringify(said)).not.toContain('SECRET')
})
