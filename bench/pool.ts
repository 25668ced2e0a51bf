import { SystemProgram } from '@solana/web3.js'
import { type PoolTrade, poolInstruction } from '../src/sandbox/chain/pool-program.ts'
import { Curve } from '../src/solana/bonding-curve.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { Machine } from '../test/sandbox/bpf/machine.ts'
import { type Figure, isMain, pairs, printFigures, summarize } from './figure.ts'

const SOL = 1_000_000_000n
const buy: PoolTrade = { side: 'buy', exact: 'in', lamports: SOL / 100n, tokens: 1n }
const sale: PoolTrade = { side: 'sell', exact: 'out', lamports: 0n, tokens: 1_000_000_000n }

/** Executes transactions in the Solana runtime. Returns the mean time of one, microseconds, without its signing. */
function landUs(machine: Machine, make: () => Parameters<Machine['sign']>[0], count: number): number {
  let elapsed = 0
  for (let index = 0; index < count; index++) {
    const signed = machine.sign(make())
    const start = performance.now()
    const { error } = machine.land(signed)
    elapsed += performance.now() - start
    if (error !== undefined) throw new Error(`a trade failed: ${error}`)
  }
  return (elapsed * 1_000) / count
}

async function figures(name: string, tokenProgram: string, count: number): Promise<Figure[]> {
  const machine = new Machine(tokenProgram)
  machine.load(new Curve())
  const trade = (what: PoolTrade) => [poolInstruction(machine.user, machine.mint, what, tokenProgram)]
  const payer = machine.wallet.publicKey
  const transfer = () => [SystemProgram.transfer({ fromPubkey: payer, toPubkey: payer, lamports: 1 })]
  const [bought, sold] = [buy, sale].map((what) => machine.send(...trade(what)).units) as [number, number]
  const units = (value: number) => ({ unit: 'CU', ...summarize([value]) })
  const { ours, ratio } = await pairs(
    7,
    () => landUs(machine, () => trade(buy), count),
    () => landUs(machine, transfer, count),
  )
  return [
    { name: `pool, ${name}: a buy`, ...units(bought) },
    { name: `pool, ${name}: a sale`, ...units(sold) },
    { name: `pool, ${name}: a buy in the runtime`, unit: 'us', ...ours },
    { name: 'pool, a buy relative to a transfer of SOL', unit: 'x', ...ratio },
  ]
}

/** Measures the compute units and the time of a trade with the sandbox's pool program. The time is compared with the
 *  time of a transfer of SOL, the smallest transaction. */
export async function benchPool(smoke: boolean): Promise<Figure[]> {
  const count = smoke ? 20 : 300
  return [
    ...(await figures('Token', PROGRAMS.token, count)),
    ...(await figures('Token-2022', PROGRAMS.token2022, count)),
  ]
}

if (isMain(import.meta.url)) printFigures(await benchPool(false))
