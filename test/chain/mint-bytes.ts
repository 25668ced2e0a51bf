import { PROGRAMS } from '../../src/solana/programs.ts'

/** The content of a mint account. `extensions` has the bytes of each extension by its type. */
export interface MintShape {
  readonly mintAuthority?: boolean
  readonly freezeAuthority?: boolean
  readonly extensions?: readonly (readonly [type: number, value: Uint8Array])[]
}

/** Returns the bytes of a mint of Token, or of Token-2022 if it has extensions. */
export function mintBytes({ mintAuthority = false, freezeAuthority = false, extensions }: MintShape = {}): Buffer {
  const base = Buffer.alloc(82)
  // If an authority is not set, Sluice must ignore the 32 bytes after its flag. They are therefore not zero here.
  base.fill(7, 4, 36).fill(7, 50, 82)
  base.writeUInt32LE(mintAuthority ? 1 : 0, 0)
  base.writeBigUInt64LE(10n ** 15n, 36)
  base[44] = 6
  base[45] = 1
  base.writeUInt32LE(freezeAuthority ? 1 : 0, 46)
  if (extensions === undefined) return base
  const listed = extensions.map(([type, value]) => {
    const head = Buffer.alloc(4)
    head.writeUInt16LE(type, 0)
    head.writeUInt16LE(value.length, 2)
    return Buffer.concat([head, value])
  })
  return Buffer.concat([base, Buffer.alloc(83), Buffer.of(1), ...listed])
}

/** Returns an account in the form in which getAccountInfo with base64 returns it. */
export function accountShape(data: Uint8Array, owner: string = PROGRAMS.token): object {
  const base64 = Buffer.from(data).toString('base64')
  return { lamports: 1_461_600, owner, executable: false, rentEpoch: 0, data: [base64, 'base64'] }
}
