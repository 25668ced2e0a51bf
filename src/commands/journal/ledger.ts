import { ExitCode, SluiceError } from '../../base/errors.ts'
import { counted, printable } from '../../base/text.ts'
import { formatSol } from '../../base/units.ts'
import { foldMovements, type Profit, profitsOf } from '../../engine/accounting/money.ts'
import { type AccountLedger, LEDGER_LABELS, type LedgerAudit, type LedgerEntry } from '../../journal/reader/ledger.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { liquidationOf } from '../../runtime/liquidation-value.ts'
import { defineCommand, JOURNAL, JSON_LINE } from '../options.ts'

/** Shows the ledger and the profit of each account, or the postings of one order. Exits 1 if an audit found a
 *  difference between the ledger and the wallet. */
export const command = defineCommand({
  options: { journal: JOURNAL, json: JSON_LINE },
  run: async ([order], { journal, json }) =>
    order === undefined ? showLedger(journal, json) : showEntries(journal, order, json),
})

function showLedger(journal: string, json: boolean): number {
  const reader = openReader(journal)
  try {
    const ledger = reader.ledger()
    const profit = profitsOf(foldMovements(reader.movements()), liquidationOf(reader))
    const wallets = reader.walletNames()
    if (json)
      console.log(JSON.stringify({ ledger: ledger.map((one) => ({ ...one, ...nameOf(one, wallets) })), profit }))
    else if (ledger.length === 0) console.log(`${journal} has no ledger: nothing was traded`)
    else
      for (const one of ledger) {
        const own = profit.filter(({ account }) => account === one.account)
        for (const line of ledgerText({ ...one, ...nameOf(one, wallets) }, own)) console.log(line)
      }
    return ledger.some(({ audit }) => (audit?.remainderLamports ?? 0) !== 0) ? ExitCode.failed : ExitCode.done
  } finally {
    reader.close()
  }
}

function showEntries(journal: string, order: string, json: boolean): number {
  if (!/^o\d{1,15}$/.test(order))
    throw new SluiceError(`${order} is not an order id; \`sluice orders\` lists the orders`, ExitCode.usage)
  const reader = openReader(journal)
  try {
    const found = reader.ledgerEntries(order)
    if (json) console.log(JSON.stringify({ entries: found }))
    else if (found.length === 0) console.log(`${order} moved no money`)
    else for (const line of entriesText(found)) console.log(line)
    return ExitCode.done
  } finally {
    reader.close()
  }
}

function nameOf({ account }: AccountLedger, names: ReadonlyMap<string, string>): { walletName?: string } {
  const walletName = names.get(account)
  return walletName === undefined ? {} : { walletName }
}

const WIDTH = 48

/** Text lines of an account's ledger. Amounts that left the wallet are negative. */
export function ledgerText(ledger: AccountLedger & { walletName?: string }, profits: readonly Profit[]): string[] {
  const { account, lines, walletLamports, failedLamports, audit, walletName } = ledger
  const names = [
    ...Object.keys(LEDGER_LABELS),
    ...Object.keys(lines).filter((name) => !Object.hasOwn(LEDGER_LABELS, name)),
  ]
  const shown = names.filter((name) => Object.hasOwn(lines, name))
  return [
    printable(walletName === undefined ? account : `wallet ${walletName}, ${account}`),
    ...shown.map((name) => row(LEDGER_LABELS[name] ?? name, 0 - (lines[name] as number))),
    row('= wallet', walletLamports),
    ...(failedLamports === 0 ? [] : [row('  including failed transactions', 0 - failedLamports)]),
    ...auditText(audit),
    ...profits.flatMap(profitText),
    '',
  ]
}

function auditText(audit: LedgerAudit | null): string[] {
  if (audit === null) return ['  not yet compared with the balance on the chain']
  const { slot, walletLamports, ledgerLamports, remainderLamports, worstLamports } = audit
  const where = slot === 0 ? 'in the engine' : `on chain at slot ${slot}`
  const verdict = remainderLamports === 0 ? 'every lamport is accounted for' : 'NOT ACCOUNTED FOR'
  return [
    row(`audited: balance ${where}`, walletLamports),
    row('         balance in the ledger', ledgerLamports),
    `  remainder ${remainderLamports} lamports: ${verdict}${worstLamports === 0 ? '' : ` (largest so far: ${worstLamports})`}`,
  ]
}

function profitText(profit: Profit): string[] {
  const { bot, realizedLamports, unrealizedLamports, lostLamports, disposals, lots } = profit
  return [
    `  ${printable(bot)}`,
    row(`  realised, ${counted(disposals, 'disposal')}, first in first out`, realizedLamports),
    unrealizedLamports === null
      ? `    unrealised, ${counted(lots, 'lot')}: unknown, because the tape has no price`
      : row(`  unrealised, ${counted(lots, 'lot')}, if sold now`, unrealizedLamports),
    ...(lostLamports === 0 ? [] : [row('  lost to foreign transactions', 0 - lostLamports)]),
  ]
}

/** Text lines with the postings of one order. */
export function entriesText(entries: readonly LedgerEntry[]): string[] {
  let posting = 0
  return entries.flatMap((entry) => {
    const { at, kind, line, unit, lamports, amount, reverses, signature } = entry
    const isNext = entry.posting !== posting
    posting = entry.posting
    const what = reverses === null ? kind : `${kind}, reversed`
    const amountText = lamports === null ? `${amount} of ${printable(unit)}` : formatSol(lamports)
    return [...(isNext ? [`${at ?? ''} ${what} ${printable(signature)}`] : []), `  ${line.padEnd(14)} ${amountText}`]
  })
}

function row(text: string, lamports: number): string {
  const [whole = '', fraction = ''] = formatSol(lamports).split('.')
  return `  ${text.padEnd(WIDTH)}${whole.padStart(6)}.${fraction.padEnd(9, '0')}`
}
