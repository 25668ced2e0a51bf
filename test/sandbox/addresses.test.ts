import { Keypair, PublicKey } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { draws } from '../../src/sandbox/draws.ts'
import { digest, poolAddress, tokenAccountAddress, walletAddress } from '../../src/sandbox/keys.ts'
import { isPublicKey, isSignature } from '../../src/solana/base58.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'

const secrets = Array.from({ length: 20 }, (_none, index) => digest('secret ', String(index)))

test('wallets, token accounts and pools have the addresses that web3.js derives', () => {
  for (const secret of secrets) {
    const wallet = Keypair.fromSeed(secret).publicKey
    const mint = new PublicKey(digest(secret))
    const [tokenProgram, associated, curve] = [PROGRAMS.token, PROGRAMS.associatedToken, PROGRAMS.bondingCurve].map(
      (program) => new PublicKey(program),
    ) as [PublicKey, PublicKey, PublicKey]
    const seeds = [wallet.toBytes(), tokenProgram.toBytes(), mint.toBytes()]
    expect(walletAddress(secret)).toBe(wallet.toBase58())
    expect(tokenAccountAddress(wallet.toBase58(), mint.toBase58())).toBe(
      PublicKey.findProgramAddressSync(seeds, associated)[0].toBase58(),
    )
    expect(poolAddress(mint.toBase58())).toBe(
      PublicKey.findProgramAddressSync([Buffer.from('bonding-curve'), mint.toBytes()], curve)[0].toBase58(),
    )
  }
})

test('random keys have 32 bytes, and random signatures have 64 bytes', () => {
  const random = draws(1, 'test')
  for (let count = 0; count < 2_000; count++) {
    expect(isPublicKey(random.publicKey()) && isSignature(random.signature())).toBe(true)
  }
})
