/** Computes SHA-256 of the concatenated parts. The caller passes this function, because code in a pure layer may not
 *  import cryptography. */
export type Digest = (...parts: Uint8Array[]) => Uint8Array

const MARK = Uint8Array.from('ProgramDerivedAddress', (letter) => letter.charCodeAt(0))

/** Returns the address that a program derives from seeds: the first one that is not on the ed25519 curve, with a bump
 *  seed that counts down from 255. */
export function derivedAddress(seeds: readonly Uint8Array[], program: Uint8Array, digest: Digest): Uint8Array {
  return derivation(seeds, program, digest).address
}

/** Returns a derived address and its bump seed. The program needs the bump seed to sign for the address. */
export function derivation(
  seeds: readonly Uint8Array[],
  program: Uint8Array,
  digest: Digest,
): { address: Uint8Array; bump: number } {
  for (let bump = 255; bump >= 0; bump--) {
    const address = digest(...seeds, Uint8Array.of(bump), program, MARK)
    if (!isOnCurve(address)) return { address, bump }
  }
  throw new Error('no bump seed yields an address that is off the ed25519 curve')
}

const P = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** Whether 32 bytes encode a point of ed25519 (RFC 8032 5.1.3), which means that x^2 = (y^2 - 1) / (d y^2 + 1) has a
 *  root. */
function isOnCurve(point: Uint8Array): boolean {
  let y = 0n
  for (let index = 31; index >= 0; index--) y = (y << 8n) | BigInt(index === 31 ? point[index]! & 127 : point[index]!)
  const square = (y * y) % P
  const ratio = ((square - 1n + P) * power((D * square + 1n) % P, P - 2n)) % P
  return ratio === 0n || power(ratio, (P - 1n) / 2n) === 1n
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let factor = base; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * factor) % P
    factor = (factor * factor) % P
  }
  return result
}
