/** Addresses of the programs of Solana and pump.fun. */
export const PROGRAMS = {
  system: '11111111111111111111111111111111',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  token2022: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  associatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
  memo: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  memo1: 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  lookupTable: 'AddressLookupTab1e1111111111111111111111111',
  bondingCurve: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
  pumpSwap: 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA',
  pumpFees: 'pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ',
} as const

/** Address of the clock sysvar. It contains the slot and the time of the block up to which the node that reads the
 *  account has processed the chain. */
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111'

/** Mint of wrapped SOL. */
export const WSOL_MINT = 'So11111111111111111111111111111111111111112'

/** Mints of currencies, which are never traded. Some feeds name a currency as the mint of a new token (in 5 % of the
 *  announcements of one recording). */
export const DENIED_MINTS: ReadonlySet<string> = new Set([
  'So11111111111111111111111111111111111111112', // wSOL
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', // USDC
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', // USDT
])
