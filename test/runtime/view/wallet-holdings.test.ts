import { expect, test } from 'vitest'
import { newPosition } from '../../../src/engine/accounting/position.ts'
import { NO_MONEY } from '../../../src/engine/recovered-money.ts'
import { ViewModel } from '../../../src/runtime/view/view-model.ts'
import { MINT } from '../../support/engine-rig.ts'

test('if two wallets hold the same token, each wallet has only its own tokens', () => {
  const model = new ViewModel()
  const held = (account: string, tokens: bigint) => ({
    ...newPosition({ account, bot: `bot of ${account}`, mint: MINT }, 0, {}),
    ...{ tokens, state: 'open' as const },
  })
  model.restore({ ...NO_MONEY, positions: [held('main', 5n), held('side', 7n)] })
  expect(['main', 'side', 'none'].map((account) => [...model.bookedIn(account)])).toEqual([
    [[MINT, 5n]],
    [[MINT, 7n]],
    [],
  ])
  expect(['main', 'side', 'none'].map((account) => model.holdingOf(account, MINT))).toEqual([5n, 7n, undefined])
})
