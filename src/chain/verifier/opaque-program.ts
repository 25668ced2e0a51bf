import type { TradingProgram } from '../../core/builder-policy.ts'
import type { Reading, Step } from './reading.ts'

type Opaque = Extract<TradingProgram, { decode: 'opaque' }>

/** A program that the policy names without a layout: that it is about the right token and wallet is all that can be read. */
export function readOpaque({ place, accounts, data }: Step, program: Opaque, reading: Reading): void {
  const { mint, side } = reading.asked
  const start = Buffer.from(data).toString('hex')
  const begins = (beginnings: readonly string[]) => beginnings.some((one) => start.startsWith(one))
  if (begins(side === 'buy' ? program.sell : program.buy))
    reading.refuse('WRONG_SIDE', `instruction ${place} is no ${side} by the policy`)
  else if (!begins(program[side]))
    reading.refuse(
      'INSTRUCTION_UNKNOWN',
      `instruction ${place} begins with ${start.slice(0, 16)}, which the policy does not name`,
    )
  if (accounts[program.mintIndex] !== mint)
    reading.refuse(
      'WRONG_MINT',
      `instruction ${place} is about ${accounts[program.mintIndex]}, the order is for ${mint}`,
    )
  if (accounts[program.userIndex] !== reading.wallet)
    reading.refuse(
      'ACCOUNT_FOREIGN',
      `instruction ${place}: the trader is ${accounts[program.userIndex]}, not the wallet`,
    )
  reading.opaque.push(program.id)
  const held = accounts.filter((one) => reading.own.has(one)).length
  reading.notUnderstood.push(
    `instruction ${place}: ${data.length} bytes for ${program.id}, which gets the wallet and ${held} of its token accounts`,
  )
}
