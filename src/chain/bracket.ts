import type { Rpc } from '../core/ports.ts'
import type { Lamports } from '../core/units.ts'
import { type Head, type Listed, listSignatures, readBalance, readHead } from './read.ts'

/** What a wallet was at one finalized slot, and each transaction that led there, as far as the node lists them. */
export interface Bracket {
  /** Read first: whatever could land up to this height has landed, or never will. */
  readonly head: Head
  /** Of the balance; not before the head's. */
  readonly slot: number
  readonly lamports: Lamports
  /** After `since` and up to `slot`, oldest first. */
  readonly rows: readonly Listed[]
}

const PAGE = 1_000

/** Height, then balance, then list, each at a bank that is not older than the one before: a list that is read before its balance would be
 *  behind it whenever the wallet is used. Rows after the balance's slot are left for the next time. Throws Unread.
 *  `until`: the newest transaction up to `since`, where it is known, so that the node need not go through the pages behind it. */
export async function readBracket(rpc: Rpc, wallet: string, since: number, until?: string): Promise<Bracket> {
  const head = await readHead(rpc, 'finalized', since)
  const { slot, lamports } = await readBalance(rpc, wallet, head.slot)
  const rows: Listed[] = []
  for (let before: string | undefined; ; before = rows.at(-1)?.signature) {
    const page = await listSignatures(rpc, wallet, 'finalized', { limit: PAGE, before, until, minContextSlot: slot })
    rows.push(...page)
    if (page.length < PAGE || (page.at(-1)?.slot ?? 0) <= since) break
  }
  return { head, slot, lamports, rows: rows.filter((row) => row.slot > since && row.slot <= slot).reverse() }
}

/** The first reading of a wallet: what led to it is not asked for, but its newest transaction. Throws Unread. */
export async function readPresent(rpc: Rpc, wallet: string): Promise<Bracket> {
  const head = await readHead(rpc, 'finalized')
  const { slot, lamports } = await readBalance(rpc, wallet, head.slot)
  const page = await listSignatures(rpc, wallet, 'finalized', { limit: PAGE, minContextSlot: slot })
  return { head, slot, lamports, rows: page.filter((row) => row.slot <= slot).slice(0, 1) }
}
