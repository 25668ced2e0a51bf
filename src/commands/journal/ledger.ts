import { liquidationOf } from '../../backtest/report/liquidation-value.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { formatSol } from '../../base/units.ts'
import { foldMovements, type Profit, profitsOf } from '../../engine/accounting/money.ts'
import type { AccountLedger, LedgerAudit, LedgerEntry } from '../../journal/reader/ledger.ts'
import { openReader } from '../../journal/reader/reader.ts'
import type { Options } from '../options.ts'
import { counted } from '../terminal.ts'

/** `sluice ledger`: where the SOL of each wallet went, and what was made with it; `sluice ledger ORDER`: the postings
 *  of one order. Exit 1 where a lamport is not explained. */
export async function run([order]: string[], { journal = 'data/sluice.db', json }: Options): Promise<number> {
  return order === undefined ? books(journal, json === true) : entries(journal, order, json === true)
}

function books(journal: string, json: boolean): number {
  const reader = openReader(journal)
  try {
    const ledger = reader.ledger()
    const profit = profitsOf(foldMovements(reader.movements()), liquidationOf(reader))
    if (json) console.log(JSON.stringify({ ledger, profit }))
    else if (ledger.length === 0) console.log(`no ledger in ${journal}: nothing was traded`)
    else
      for (const one of ledger) {
        const own = profit.filter(({ account }) => account === one.account)
        for (const line of ledgerText(one, own)) console.log(line)
      }
    return ledger.some(({ audit }) => (audit?.remainderLamports ?? 0) !== 0) ? ExitCode.failed : ExitCode.done
  } finally {
    reader.close()
  }
}

function entries(journal: string, order: string, json: boolean): number {
  if (!/^o\d{1,15}$/.test(order))
    throw new SluiceError(`not the id of an order: ${order}; \`sluice orders\` lists them`, ExitCode.usage)
  const reader = openReader(journal)
  try {
    const found = reader.ledgerEntries(order)
    if (json) console.log(JSON.stringify({ entries: found }))
    else if (found.length === 0) console.log(`${order} has moved no money`)
    else for (const line of entriesText(found)) console.log(line)
    return ExitCode.done
  } finally {
    reader.close()
  }
}

/** In the order in which they are shown; what has no word here stands under its own name. */
const WORDS: Readonly<Record<string, string>> = {
  opening: 'in the wallet when its books began',
  inflow: 'came from elsewhere',
  foreign: 'somebody else signed with this wallet',
  housekeeping: 'no order of ours, next to nothing',
  opaque: 'nobody can say what it was',
  trade: 'tokens, at the prices that were decided on',
  impact: 'delay and price impact beyond these',
  venue_fee: "the venue's fee",
  service_fee: "the service's fee",
  base_fee: 'base fees',
  priority_fee: 'priority fees',
  tip: 'tips',
  rent_paid: 'rent put into accounts',
  rent_returned: 'rent got back',
  wrapped: 'wrapped SOL, still in the wallet',
  remainder: 'in trades, and none of these',
}

const WIDTH = 48

/** The books of an account as lines of text. What left the wallet is negative. */
export function ledgerText(ledger: AccountLedger, profits: readonly Profit[]): string[] {
  const { account, lines, walletLamports, failedLamports, audit } = ledger
  const names = [...Object.keys(WORDS), ...Object.keys(lines).filter((name) => !Object.hasOwn(WORDS, name))]
  const shown = names.filter((name) => Object.hasOwn(lines, name))
  return [
    printable(account),
    ...shown.map((name) => row(WORDS[name] ?? name, 0 - (lines[name] as number))),
    row('= wallet', walletLamports),
    ...(failedLamports === 0 ? [] : [row('  of which failed transactions', 0 - failedLamports)]),
    ...auditText(audit),
    ...profits.flatMap(profitText),
    '',
  ]
}

function auditText(audit: LedgerAudit | null): string[] {
  if (audit === null) return ['  never audited: the chain was not asked what the wallet holds']
  const { slot, walletLamports, ledgerLamports, remainderLamports, worstLamports } = audit
  const where = slot === 0 ? 'by the engine' : `by the chain, slot ${slot}`
  const verdict = remainderLamports === 0 ? 'every lamport is explained' : 'NOT EXPLAINED'
  return [
    row(`audited: the wallet ${where}`, walletLamports),
    row('         the ledger', ledgerLamports),
    `  remainder ${remainderLamports} lamports: ${verdict}${worstLamports === 0 ? '' : ` (at worst ${worstLamports})`}`,
  ]
}

function profitText(profit: Profit): string[] {
  const { bot, realizedLamports, unrealizedLamports, lostLamports, disposals, lots } = profit
  return [
    `  ${printable(bot)}`,
    row(`  realised, ${counted(disposals, 'disposal')}, first in first out`, realizedLamports),
    unrealizedLamports === null
      ? `    unrealised, ${counted(lots, 'lot')}: not known, the tape has no price`
      : row(`  unrealised, ${counted(lots, 'lot')}, if sold now`, unrealizedLamports),
    ...(lostLamports === 0 ? [] : [row('  taken by somebody else', 0 - lostLamports)]),
  ]
}

/** The postings of one order. */
export function entriesText(entries: readonly LedgerEntry[]): string[] {
  let posting = 0
  return entries.flatMap((entry) => {
    const { at, kind, line, unit, lamports, amount, reverses, signature } = entry
    const isNext = entry.posting !== posting
    posting = entry.posting
    const what = reverses === null ? kind : `${kind}, taken back`
    const amountText = lamports === null ? `${amount} of ${printable(unit)}` : formatSol(lamports)
    return [...(isNext ? [`${at ?? ''} ${what} ${printable(signature)}`] : []), `  ${line.padEnd(14)} ${amountText}`]
  })
}

function row(text: string, lamports: number): string {
  const [whole = '', fraction = ''] = formatSol(lamports).split('.')
  return `  ${text.padEnd(WIDTH)}${whole.padStart(6)}.${fraction.padEnd(9, '0')}`
}
