import { expect, test } from 'vitest'
import { answerTo, textOf } from '../../../src/live/telegram/texts.ts'
import { viewOf, viewOfWallets } from '../../support/view-sample.ts'

const told = (command: string, view = viewOfWallets()): string => answerTo(command, view, true).join('\n')

test('Telegram messages show wallets with their names, and add up only wallets of the same mode', () => {
  expect(told('/status').match(/^.*wallet.*$/gm)).toEqual([
    'wallet main (live): 2.5000 SOL, and positions worth 0.2500 SOL',
    'wallet side (live): 1.1000 SOL, and positions worth 0.2000 SOL',
    'wallet trial (paper): 9.0000 SOL, and positions worth 0.0000 SOL',
    '2 wallets (live): 3.6000 SOL, and positions worth 0.4500 SOL',
  ])
  expect(told('/positions').match(/^\w+ \(\w+\)/gm)).toEqual(['dips (main)', 'rises (side)'])
  expect(told('/pnl').match(/^[^:]+/gm)).toEqual([
    ...['dips', 'rises', 'idea', 'wallet main', 'wallet side', 'wallet trial', 'all live'],
  ])
  expect(told('/help')).toContain('only for this wallet: main, side, trial')
})

test('Telegram messages show a position with its own wallet after its bot moved to another wallet', () => {
  const view = viewOfWallets()
  const positions = view.positions.map((position) => ({ ...position, wallet: 'trial' }))
  expect(told('/positions', { ...view, positions }).match(/^\w+ \(\w+\)/gm)).toEqual(['dips (trial)', 'rises (trial)'])
})

test('if wallets have no names, Telegram messages do not mention several wallets', () => {
  expect(told('/status', viewOf()).match(/^.*wallet.*$/gm)).toEqual([
    'wallet (paper): 9.5000 SOL, and positions worth 0.0620 SOL',
  ])
  expect(told('/pnl', viewOf()).match(/^[^:]+/gm)).toEqual(['dips'])
  expect(told('/help', viewOf())).not.toContain('only for this wallet')
})

test.each([498, 499, 500])(
  'a line of a Telegram message is never cut inside a character, because Telegram refuses such a text (length %i)',
  (length) => {
    const text = textOf([`${'a'.repeat(length)}${'\u{1f4a9}'.repeat(300)}`])
    expect(text.isWellFormed()).toBe(true)
    expect(text.length).toBeGreaterThan(490)
  },
)
