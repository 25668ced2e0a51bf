import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { botSettings } from '../../src/config/accounts.ts'
import { loadConfig } from '../../src/config/load.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const KEYS = ['So11111111111111111111111111111111111111112', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'] as const
const SERVICE = 'service: { baseUrl: https://x.io/api, wsUrl: wss://x.io/api/data, apiKey: env:NONE }\n'
const TWO = `${SERVICE}wallets: { main: { limits: { maxOpenPositions: 2 } }, side: {} }\n`

function bots(...settings: string[]): string {
  const entries = settings.map((text, index) => `  - { name: ${'abc'[index]}, strategy: dip-buyer${text} }\n`)
  return `bots:\n${entries.join('')}`
}

async function errorsOf(text: string): Promise<string[]> {
  folder.write('a.yaml', text)
  const result = await loadConfig(['a.yaml'], { cwd: folder.path })
  return result.ok ? [] : result.errors.map(({ line, path, message }) => `${line} ${path}: ${message}`)
}

test('paper bots that name the same wallet share an account and the limits of the wallet', async () => {
  folder.write('a.yaml', `${TWO}${bots(', wallet: main', ', wallet: main', ', wallet: side')}`)
  const result = await loadConfig(['a.yaml'], { cwd: folder.path })
  if (!result.ok) throw new Error(JSON.stringify(result.errors))
  const resolved = { service: 'x.io', cluster: '', publicKeyOf: () => '' }
  const shown = (allow: 'paper' | 'backtest') =>
    botSettings(result.config, { ...resolved, allow }).settings.map((bot) => [
      bot.account.id,
      bot.walletLimits.maxOpenPositions,
    ])
  expect(shown('paper')).toEqual([
    ['paper|x.io||wallet:main', 2],
    ['paper|x.io||wallet:main', 2],
    ['paper|x.io||wallet:side', null],
  ])
  // In a backtest each bot has a wallet of its own, even if bots name the same wallet.
  expect(shown('backtest').map(([id]) => id)).toEqual(['backtest|x.io||a', 'backtest|x.io||b', 'backtest|x.io||c'])
})

test.each([
  [
    'an unknown wallet name',
    TWO + bots(', wallet: mian', ', wallet: main', ', wallet: side'),
    '4 bots[0].wallet: unknown wallet; expected one of main, side; did you mean main?',
  ],
  [
    'a bot that names no wallet',
    TWO + bots('', ', wallet: main', ', wallet: side'),
    '4 bots[0].wallet: missing; with `wallets`, every bot names one: expected one of main, side',
  ],
  [
    'a wallet that no bot uses',
    TWO + bots(', wallet: main'),
    '2 wallets.side: no bot uses this wallet: write `wallet: side` at a bot, or remove the wallet',
  ],
  [
    'two wallets with the same public key',
    `${SERVICE}wallets: { main: { publicKey: ${KEYS[0]} }, side: { publicKey: ${KEYS[0]} } }\n${bots(', wallet: main', ', wallet: side')}`,
    '2 wallets.side.publicKey: the same as wallets.main.publicKey; a wallet must have only one name, because two names would count its money twice',
  ],
  [
    'two wallets with the same keypair file',
    `${SERVICE}wallets: { main: { publicKey: ${KEYS[0]}, keypair: "file:k" }, side: { publicKey: ${KEYS[1]}, keypair: "file:k" } }\n${bots(', wallet: main', ', wallet: side')}`,
    '2 wallets.side.keypair: the same as wallets.main.keypair; each wallet has a key of its own',
  ],
  [
    'the section `wallet` together with `wallets`',
    `${TWO}wallet: { publicKey: ${KEYS[0]} }\n${bots(', wallet: main', ', wallet: side')}`,
    '3 wallet: not allowed with `wallets`: give this wallet a name, and move it into that section',
  ],
  [
    'a bot that names a wallet without the section `wallets`',
    `${SERVICE}${bots(', wallet: main')}`,
    '3 bots[0].wallet: there is no section `wallets`: add `wallets: { main: { publicKey: ... } }`, or remove this key',
  ],
  [
    'bots of one wallet with different `paper` settings',
    TWO + bots(', wallet: main', ', wallet: main, paper: { lossPercent: 9 }', ', wallet: side'),
    '5 bots[1].paper: bots of one wallet share its balance and its fills on paper, but the bot a (a.yaml:4) has another `paper`: use the same `paper` for all bots of the wallet main',
  ],
])('a configuration is refused, with the place and the remedy, for %s', async (_what, text, error) => {
  expect(await errorsOf(text)).toEqual([error])
})

test('a live bot needs the public key of its own wallet, and with the local executor its signer', async () => {
  const live = (text: string) => `, mode: live, exits: { stopLossPercent: 9 }, ${text}`
  const text = `${TWO}chain: { rpc: [{ url: env:RPC }] }\n${bots(live('wallet: main'), live('wallet: side, executor: local'))}`
  expect(await errorsOf(text.replace('main: {', `main: { publicKey: ${KEYS[0]},`))).toEqual([
    '6 bots[1].mode: a live bot needs wallets.side.publicKey',
    '6 bots[1].executor: the local executor needs a signer: set wallets.side.keypair (file:PATH) or wallets.side.signer (the socket of `sluice signer`)',
  ])
})

test('live and paper bots cannot share a wallet', async () => {
  const text = `${TWO}chain: { rpc: [{ url: env:RPC }] }\n${bots(', wallet: main', ', wallet: main, mode: live, exits: { stopLossPercent: 9 }', ', wallet: side')}`
  expect(await errorsOf(text.replace('main: {', `main: { publicKey: ${KEYS[0]},`))).toEqual([
    '6 bots[1].mode: mode live, but the bot a (a.yaml:5) uses the wallet main with mode paper: give one of them another wallet (a wallet of paper bots needs no publicKey), or set the same mode',
  ])
})

test('the example of docs/wallets.md is valid', async () => {
  const page = readFileSync(new URL('../../docs/wallets.md', import.meta.url), 'utf8')
  const [, example = ''] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? []
  expect(await errorsOf(`${SERVICE}chain: { rpc: [{ url: env:RPC }] }\n${example}`)).toEqual([])
})
