import { PROGRAMS } from '../../solana/programs.ts'
import { keyBytes } from '../../solana/transaction.ts'
import { HOSTILE_PROGRAM, hostileInstruction, THIEF, TRAP } from '../chain/hostile-program.ts'
import type { Call, Draft } from '../chain/message.ts'
import { transferCall } from '../chain/message.ts'
import { POOL_PROGRAM, type PoolTrade, poolInstruction } from '../chain/pool-program.ts'
import type { TokenPrograms } from '../chain/program.ts'
import type { TradeData } from '../chain/trade-program.ts'
import { namedAddress, tokenAccountAddress } from '../keys.ts'

export interface HostileParts {
  honest: Draft
  trade: Omit<TradeData, 'fails'>
  tokenPrograms: TokenPrograms
  sign(draft: Draft): Uint8Array
}

type Attack = (parts: HostileParts) => Draft

/** Lamports that a transfer attack steals. */
const LOOT_LAMPORTS = 20_000_000n

const ATTACKS = {
  'wrong mint': (parts) => traded(parts, (trade) => ({ ...trade, mint: namedAddress('another mint') })),
  'wrong side': (parts) => traded(parts, (trade) => ({ ...trade, side: trade.side === 'buy' ? 'sell' : 'buy' })),
  'more SOL': (parts) =>
    traded(parts, (trade) => {
      return trade.side === 'buy' ? { ...trade, lamports: trade.lamports * 3 } : { ...trade, tokens: trade.tokens * 3n }
    }),
  'no least output': (parts) =>
    traded(parts, (trade) => {
      return trade.side === 'buy' ? { ...trade, exact: 'in', tokens: 0n } : { ...trade, lamports: 0 }
    }),
  'extra transfer': (parts) => more(parts, transferCall(parts.trade.wallet, THIEF, LOOT_LAMPORTS)),
  'set authority': (parts) => more(parts, ownTokens(parts, Buffer.concat([Uint8Array.of(6, 2, 1), keyBytes(THIEF)]))),
  approve: (parts) => more(parts, ownTokens(parts, Buffer.from([4, ...Array<number>(8).fill(255)]), THIEF)),
  'close account': (parts) => more(parts, ownTokens(parts, Uint8Array.of(9), THIEF)),
  assign: (parts) => {
    const accounts = [{ address: parts.trade.wallet, signer: true, writable: true }]
    const data = Buffer.concat([Uint8Array.of(1, 0, 0, 0), keyBytes(HOSTILE_PROGRAM)])
    return more(parts, { program: PROGRAMS.system, accounts, data })
  },
  'durable nonce': ({ honest, trade }) => {
    const accounts = [
      { address: namedAddress('nonce'), writable: true },
      { address: 'SysvarRecentB1ockHashes11111111111111111111' },
      { address: trade.wallet, signer: true },
    ]
    const advance = { program: PROGRAMS.system, accounts, data: Uint8Array.of(4, 0, 0, 0) }
    return { ...honest, calls: [advance, ...honest.calls] }
  },
  'other payer': ({ honest }) => ({ ...honest, payer: THIEF }),
  'opaque program': (parts) => replaced(parts, opaque(parts)),
} as const satisfies Record<string, Attack>

/** Names of the attacks that the fault `builtHostile` can select. `version 1` changes only the encoding. */
export const BUILD_ATTACKS: readonly string[] = [...Object.keys(ATTACKS), 'version 1']

/** Bytes of a malicious builder's transaction. The default attack adds a transfer. */
export function spoil(attack: string | undefined, parts: HostileParts): Uint8Array {
  if (attack === 'version 1') {
    const bytes = parts.sign({ ...parts.honest, version: 0 })
    // The first byte, which is the number of signatures in version 0, is replaced by the mark of version 1.
    return Uint8Array.from([129, ...bytes.slice(1)])
  }
  const name =
    attack !== undefined && Object.hasOwn(ATTACKS, attack) ? (attack as keyof typeof ATTACKS) : 'extra transfer'
  return parts.sign(ATTACKS[name](parts))
}

function tokenProgramOf({ trade, tokenPrograms }: HostileParts): string {
  return PROGRAMS[tokenPrograms(trade.mint)]
}

function replaced({ honest }: HostileParts, call: Call): Draft {
  return { ...honest, calls: honest.calls.map((one) => (one.program === POOL_PROGRAM ? call : one)) }
}

type Terms = HostileParts['trade']

function traded(parts: HostileParts, change: (trade: Terms) => Terms): Draft {
  const trade = change(parts.trade)
  return replaced(parts, poolInstruction(trade.wallet, trade.mint, poolTrade(trade), tokenProgramOf(parts)))
}

function poolTrade({ side, exact, lamports, tokens }: Terms): PoolTrade {
  return { side, exact, lamports: BigInt(lamports), tokens }
}

function more({ honest }: HostileParts, call: Call): Draft {
  return { ...honest, calls: [...honest.calls, call] }
}

/** Instruction of the token program on the wallet's token account. `second`: the account that gains control or tokens
 *  by it. */
function ownTokens(parts: HostileParts, data: Uint8Array, second?: string): Call {
  const { wallet, mint } = parts.trade
  const program = tokenProgramOf(parts)
  const accounts = [
    { address: tokenAccountAddress(wallet, mint, program), writable: true },
    ...(second === undefined ? [] : [{ address: second, writable: true }]),
    { address: wallet, signer: true },
  ]
  return { program, accounts, data }
}

/** Instruction for the trade through a program that is honest until its trap is armed. */
function opaque(parts: HostileParts): Call {
  const { wallet, mint } = parts.trade
  const program = tokenProgramOf(parts)
  const [loot, prey] = [tokenAccountAddress(THIEF, mint, program), tokenAccountAddress(wallet, mint, program)]
  const ambush = { trap: TRAP, thief: THIEF, loot, prey, preyMint: mint }
  return hostileInstruction(wallet, mint, poolTrade(parts.trade), ambush, program)
}
