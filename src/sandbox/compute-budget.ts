/** Data of the two ComputeBudget instructions that make the priority fee exactly this, in lamports; `unitLimit` below a million. */
export function computeBudget(unitLimit: number, priorityFeeLamports: number): [limit: Uint8Array, price: Uint8Array] {
  const limit = Buffer.from([2, 0, 0, 0, 0])
  limit.writeUInt32LE(unitLimit, 1)
  const price = Buffer.alloc(9, 3)
  price.writeBigUInt64LE((BigInt(priorityFeeLamports) * 1_000_000n) / BigInt(unitLimit), 1)
  return [limit, price]
}
