import type { AccountState } from './account-state.ts'

type States = ReadonlyMap<string, AccountState | null>

const TOKENS_AT = 64
const MOST_UINT64 = 2n ** 64n - 1n

/** Accounts as a simulation began with them, where the node tells the balances from before it (`preBalances`, `preTokenBalances`; Agave from
 *  3.0 on): what was read in a call of its own may be older, and what another order of the wallet took in between would look like this
 *  one's. `accounts`: all of the message, in the order of the balances. */
export function beginningsOf(
  value: Readonly<Record<string, unknown>>,
  accounts: readonly string[],
  read: States,
): States {
  const { preBalances, preTokenBalances } = value
  if (!Array.isArray(preBalances) || preBalances.length !== accounts.length) return read
  if (!preBalances.every((one) => Number.isSafeInteger(one) && one >= 0)) return read
  const tokens = tokensOf(preTokenBalances)
  return new Map(
    [...read].map(([address, state]) => {
      const index = accounts.indexOf(address)
      return [
        address,
        index < 0 || state === null ? state : beganAs(state, BigInt(preBalances[index]), tokens.get(index)),
      ]
    }),
  )
}

function beganAs(state: AccountState, lamports: bigint, tokens: bigint | undefined): AccountState | null {
  if (lamports === 0n) return null
  if (tokens === undefined) return { ...state, lamports }
  const data = Buffer.from(state.data)
  if (data.length >= TOKENS_AT + 8) data.writeBigUInt64LE(tokens, TOKENS_AT)
  return { ...state, lamports, data }
}

/** Base units by the place of their account. */
function tokensOf(balances: unknown): Map<number, bigint> {
  const found = new Map<number, bigint>()
  if (!Array.isArray(balances)) return found
  for (const balance of balances) {
    const { accountIndex, uiTokenAmount } = (balance ?? {}) as { accountIndex?: unknown; uiTokenAmount?: unknown }
    const { amount } = (uiTokenAmount ?? {}) as { amount?: unknown }
    if (Number.isSafeInteger(accountIndex) && typeof amount === 'string' && /^\d{1,20}$/.test(amount))
      if (BigInt(amount) <= MOST_UINT64) found.set(accountIndex as number, BigInt(amount))
  }
  return found
}
