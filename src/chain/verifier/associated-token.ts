import { PROGRAMS } from '../../core/programs.ts'
import type { Reading, Step } from './reading.ts'

/** Opens the wallet's own account of the traded token or of wrapped SOL; anybody else's would be his rent at our cost. */
export function readAssociated({ place, accounts, data }: Step, reading: Reading): void {
  const [payer = '', account = '', owner = '', mint = '', system = '', program = ''] = accounts
  // Nothing and 0: create; 1: create unless it is there. The seventh account is the rent, as it was asked for long ago.
  const isCreate = data.length === 0 || (data.length === 1 && (data[0] as number) <= 1)
  if (!isCreate || accounts.length < 6 || accounts.length > 7 || system !== PROGRAMS.system) {
    reading.refuse('INSTRUCTION_UNKNOWN', `instruction ${place}, Associated Token: no trade needs it`)
    return
  }
  const own = reading.own.get(account)
  const isOurs = owner === reading.wallet && own !== undefined && own.mint === mint && own.program === program
  if (!isOurs || reading.seeded.has(account)) {
    reading.refuse('ACCOUNT_OPENED', `instruction ${place} opens ${account} of ${owner} for ${mint}`)
    return
  }
  if (payer === reading.wallet) reading.opened.set(account, program)
  else if (!reading.coSigners.has(payer))
    reading.refuse('ACCOUNT_OPENED', `instruction ${place} lets ${payer} pay, who does not sign`)
}
