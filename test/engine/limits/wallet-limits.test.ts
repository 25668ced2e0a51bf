import { describe, expect, it } from 'vitest'
import { lamports, solToLamports } from '../../../src/base/units.ts'
import { Crew, MINT_3 } from '../../support/crew.ts'
import { MINT, MINT_2 } from '../../support/engine-rig.ts'

const sol = solToLamports
const MIDNIGHT = Math.ceil(1_780_000_000_000 / 86_400_000) * 86_400_000

describe('the limits of a wallet', () => {
  it('the hourly limit of a wallet counts the buys of all bots together, also of a bot that is no longer configured', () => {
    const options = { walletLimits: { maxLamportsPerHour: sol(0.25) } }
    const crew = new Crew(options)
    expect([crew.bought('a', MINT, 0.1), crew.bought('b', MINT_2, 0.1), crew.bought('a', MINT_3, 0.1)]).toEqual([
      ...['', ''],
      'HOUR_LIMIT',
    ])
    const placed = crew.buy('b', MINT_3, 0.1)
    expect(placed).toMatchObject({
      reason: expect.stringContaining('0.2 of 0.25 SOL per hour are used (wallet.limits.'),
    })
    const after = crew.restarted(options, ['c'])
    expect(after.bought('c', MINT_3, 0.1)).toBe('HOUR_LIMIT')
    expect(after.bought('c', MINT_3, 0.05)).toBe('')
    after.rig.now += 3_600_000
    after.rig.settle(1e-6, MINT_3)
    expect(after.bought('c', '9Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump', 0.1)).toBe('PRICE_UNKNOWN')
  })

  it('the limits of a wallet start a new day at midnight, also across restarts, and a buy that did not execute stops counting', () => {
    const options = { walletLimits: { maxLamportsPerDay: sol(0.2) } }
    const crew = new Crew(options)
    crew.rig.now = MIDNIGHT - 7_200_000
    for (const mint of [MINT, MINT_2, MINT_3]) crew.rig.settle(1e-6, mint)
    expect(crew.bought('a', MINT, 0.1)).toBe('')
    expect(crew.buy('b', MINT_2, 0.1).ok).toBe(true)
    const unknown = crew.last()
    crew.rig.now = MIDNIGHT - 60_000
    crew.rig.settle(1e-6, MINT_3)
    expect(crew.bought('a', MINT_3, 0.1)).toBe('DAY_LIMIT')
    const after = crew.restarted(options)
    for (const each of [crew, after]) {
      each.rig.settle(1e-6, MINT_3)
      each.rig.report(unknown, 'failed') // the order is two hours old, so it counts for the day but not for the hour
      expect(each.bought('a', MINT_3, 0.11)).toBe('DAY_LIMIT')
      expect(each.bought('a', MINT_3, 0.1)).toBe('')
      expect(each.bought('b', MINT_2, 0.01)).toBe('DAY_LIMIT')
      each.rig.now = MIDNIGHT
      each.rig.settle(1e-6, MINT_2)
      expect(each.bought('b', MINT_2, 0.01)).toBe('')
    }
  })

  it('the limits of a wallet count positions at their cost, and open buys and buys with an unknown outcome with the SOL that they ask for', () => {
    const crew = new Crew({ walletLimits: { maxExposureLamports: sol(0.25) } })
    expect(crew.bought('a', MINT, 0.1)).toBe('')
    expect(crew.buy('b', MINT_2, 0.1).ok).toBe(true)
    crew.rig.report(crew.last(), 'working', { code: 'ANSWER_LOST' })
    expect(crew.bought('a', MINT_3, 0.06)).toBe('EXPOSURE_LIMIT')
    crew.rig.report(crew.last(), 'not_executed')
    expect(crew.bought('a', MINT_3, 0.06)).toBe('')
  })

  it('the limits of a wallet count the positions of all bots', () => {
    const crew = new Crew({ walletLimits: { maxOpenPositions: 2 } })
    expect([crew.bought('a', MINT, 0.1), crew.bought('b', MINT_2, 0.1), crew.bought('b', MINT_3, 0.1)]).toEqual([
      ...['', ''],
      'POSITIONS_LIMIT',
    ])
  })

  it('the daily loss limit of a wallet stops all bots after a loss of one bot', () => {
    const crew = new Crew({ walletLimits: { maxDailyLossLamports: sol(0.05) } })
    crew.bought('a', MINT, 0.1)
    crew.sold('a', MINT, 0.4e-6)
    expect(crew.bought('b', MINT_2, 0.1)).toBe('LOSS_LIMIT')
    expect(crew.restarted({ walletLimits: { maxDailyLossLamports: sol(0.05) } }).bought('b', MINT_2, 0.1)).toBe(
      'LOSS_LIMIT',
    )
  })

  it('a buy must leave minBalanceSol in the wallet; the default is the sum of the fees of one sale of each position', () => {
    const rounding = 6e-9 // the most that a builder may add by rounding
    const cost = 0.1 * 1.05 * 1.01 + 0.01 + 0.000005 + 0.00203928 + rounding
    const exit = 0.010005 + rounding
    const with_ = (paperSol: number, walletLimits = {}) => new Crew({ paperSol, walletLimits })
    expect(with_(cost + exit - 1e-8).bought('a', MINT, 0.1)).toBe('BALANCE_FLOOR')
    expect(with_(cost + exit + 1e-8).bought('a', MINT, 0.1)).toBe('')
    expect(with_(cost, { minBalanceLamports: lamports(0) }).bought('a', MINT, 0.1)).toBe('')
    expect(with_(cost + 0.5, { minBalanceLamports: sol(0.6) }).bought('a', MINT, 0.1)).toBe('BALANCE_FLOOR')
    const second = with_(0.1 + 5e-6 + cost + 2 * exit - 1e-8)
    expect([second.bought('a', MINT, 0.1), second.bought('b', MINT_2, 0.1)]).toEqual(['', 'BALANCE_FLOOR'])
  })
})

describe('a losing streak', () => {
  const options = { limits: { maxLosingStreak: 2, streakPauseMs: 600_000 } }
  function lost(crew: Crew): Crew {
    for (const mint of [MINT, MINT_2]) {
      expect(crew.bought('a', mint, 0.1)).toBe('')
      crew.sold('a', mint, 0.9e-6)
    }
    return crew
  }

  it('a losing streak pauses the bot with one alarm, and the pause ends by itself, also across a restart', () => {
    const crew = lost(new Crew(options))
    const alarms = crew.rig.outputs.filter((output) => output.kind === 'alarm')
    expect(alarms).toMatchObject([{ bot: 'a', code: 'LOSING_STREAK', reason: expect.stringMatching(/^2 positions/) }])
    expect([crew.bought('a', MINT_3, 0.1), crew.bought('b', MINT_3, 0.1)]).toEqual(['LOSING_STREAK', ''])
    const after = crew.restarted(options)
    expect(after.bought('a', MINT, 0.1)).toBe('LOSING_STREAK')
    after.rig.now += 600_000
    after.rig.settle(1e-6)
    expect(after.bought('a', MINT, 0.1)).toBe('')
  })

  it('a profit resets the losing streak, and `resume` ends its pause', () => {
    const crew = new Crew(options)
    for (const price of [0.9e-6, 1.2e-6, 0.9e-6]) {
      expect(crew.bought('a', MINT, 0.1)).toBe('')
      crew.sold('a', MINT, price)
    }
    expect(crew.bought('a', MINT_2, 0.1)).toBe('')
    crew.sold('a', MINT_2, 0.9e-6)
    expect(crew.bought('a', MINT_3, 0.1)).toBe('LOSING_STREAK')
    crew.rig.input({ kind: 'command', command: { name: 'resume' } })
    expect(crew.bought('a', MINT_3, 0.1)).toBe('')
  })

  it('the losing streak of a wallet counts the losses of all bots', () => {
    const crew = new Crew({ walletLimits: options.limits })
    crew.bought('a', MINT, 0.1)
    crew.sold('a', MINT, 0.9e-6)
    crew.bought('b', MINT_2, 0.1)
    crew.sold('b', MINT_2, 0.9e-6)
    expect([crew.bought('a', MINT_3, 0.1), crew.bought('b', MINT_3, 0.1)]).toEqual(['LOSING_STREAK', 'LOSING_STREAK'])
  })
})

describe('a drawdown', () => {
  const options = { limits: { maxDrawdownLamports: sol(0.1) } }

  it('the drawdown is measured from the highest realized result, with positions at their liquidation value, across days and restarts', () => {
    const crew = new Crew(options)
    crew.bought('a', MINT, 0.1)
    crew.sold('a', MINT, 2e-6) // + 0.1
    expect(crew.bought('a', MINT, 0.1)).toBe('')
    crew.sold('a', MINT, 0.05e-6) // - 0.095: 0.005 in all
    expect(crew.bought('a', MINT, 0.1)).toBe('')
    crew.rig.settle(0.9e-6, MINT) // 0.005 less, and the venue's fee: beyond the bound
    crew.rig.now += 2 * 86_400_000
    for (const mint of [MINT, MINT_2]) crew.rig.settle(0.9e-6, mint)
    expect(crew.bought('a', MINT_2, 0.01)).toBe('DRAWDOWN_LIMIT')
    const after = crew.restarted(options)
    after.rig.settle(0.9e-6, MINT)
    expect(after.bought('a', MINT_2, 0.01)).toBe('DRAWDOWN_LIMIT')
    expect(after.bought('b', MINT_2, 0.01)).toBe('')
    after.rig.input({ kind: 'command', command: { name: 'resume' } })
    expect(after.bought('a', MINT_3, 0.01)).toBe('')
  })
})

describe('maxLamportsPerCreator', () => {
  it('the limit per creator counts all tokens of a creator together, and all tokens of unknown creators together', () => {
    const options = { limits: { maxLamportsPerCreator: sol(0.15) } }
    const crew = new Crew(options)
    crew.rig.newToken(MINT, 10, 'maker')
    crew.rig.newToken(MINT_2, 10, 'maker')
    crew.rig.newToken(MINT_2, 10, 'somebody else') // a second announcement has no effect
    expect(crew.bought('a', MINT, 0.1)).toBe('')
    expect(crew.bought('a', MINT_2, 0.1)).toBe('CREATOR_LIMIT')
    expect(crew.bought('a', MINT_3, 0.1)).toBe('') // unknown
    const after = crew.restarted(options)
    after.rig.newToken(MINT_2, 10, 'maker')
    expect(after.bought('a', MINT_2, 0.1)).toBe('CREATOR_LIMIT')
    expect(after.bought('a', MINT_2, 0.05)).toBe('')
  })
})
