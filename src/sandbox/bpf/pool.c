// The sandbox's pool: a bonding curve x * y = k with the instructions, account indexes and errors of pump.fun's program
// (pump-public-docs @1b82215, idl/pump.json), so that a reader of one can read the other. Its arithmetic equals
// src/solana/bonding-curve.ts to the lamport. The program never opens accounts or pays rent: the sandbox writes the
// curve's account and vault, and rewrites them for other traders' trades. Accounts that the real program uses for its
// own bookkeeping are set to this program's id.
#include "solana.h"

// Instructions by the first eight bytes of their data.
#define BUY 0xeaebda01123d0666ULL
#define BUY_EXACT_SOL_IN 0x5fcddf9e0874fc38ULL
#define SELL 0xad837f01a485e633ULL

#define TOO_MUCH_SOL_REQUIRED 6002
#define TOO_LITTLE_SOL_RECEIVED 6003
#define CURVE_COMPLETE 6005
#define BUY_ZERO_AMOUNT 6020
#define SELL_ZERO_AMOUNT 6022
#define OVERFLOW 6024
#define BELOW_MIN_TOKENS_OUT 6042

// Indexes of the accounts.
enum { FEES = 1, MINT = 2, CURVE = 3, VAULT = 4, OWN = 5, USER = 6, SYSTEM = 7, BUY_TOKEN = 8, SELL_TOKEN = 9 };
#define BUY_ACCOUNTS 16
#define SELL_ACCOUNTS 14

// Account of the curve: pump.fun's fields up to `creator`, then fields of our own. src/sandbox/chain/pool-program.ts
// writes it. Real reserves never exceed virtual ones.
typedef struct {
  u64 discriminator, virtualTokens, virtualSol, realTokens, realSol, supply;
  u8 isComplete;
  u8 creator[32];
  u8 bump;
  u16 feeBps;
  u8 unused[4];
  u8 feeAccount[32];
  u8 mint[32];
} Curve;

#define CURVE_DISCRIMINATOR 0x60acd86037f8b717ULL

typedef struct { u64 sol, fee, tokens; } Swap;

// Writes floor(a * b / c), computed with 128 bits, to `*result`. Returns nonzero if c is zero or the quotient exceeds
// 64 bits.
OUTLINE u64 multiplyDivide(u64 a, u64 b, u64 c, u64 *result) {
  u64 aLow = (u32)a, aHigh = a >> 32, bLow = (u32)b, bHigh = b >> 32;
  u64 lowest = aLow * bLow, cross = aLow * bHigh, other = aHigh * bLow;
  u64 middle = (lowest >> 32) + (u32)cross + (u32)other;
  u64 low = (middle << 32) | (u32)lowest;
  u64 high = aHigh * bHigh + (cross >> 32) + (other >> 32) + (middle >> 32);
  if (high >= c) return OVERFLOW;
  if (high == 0) {
    *result = low / c;
    return 0;
  }
  u64 quotient = 0;
  for (int bit = 63; bit >= 0; bit--) {
    u64 carry = high >> 63;
    high = (high << 1) | (low >> 63);
    low <<= 1;
    quotient <<= 1;
    if (carry || high >= c) {
      high -= c;
      quotient |= 1;
    }
  }
  *result = quotient;
  return 0;
}

// Rounded up. The share is below one, so the result fits into 64 bits.
OUTLINE u64 feeOn(u64 sol, u64 bps) {
  return sol / 10000 * bps + (sol % 10000 * bps + 9999) / 10000;
}

// Buys exactly `tokens`, at most those for sale.
INLINE u64 quoteTokens(const Curve *curve, u64 tokens, Swap *swap) {
  swap->tokens = tokens < curve->realTokens ? tokens : curve->realTokens;
  REQUIRE(swap->tokens < curve->virtualTokens, TOO_MUCH_SOL_REQUIRED);
  TRY(multiplyDivide(swap->tokens, curve->virtualSol, curve->virtualTokens - swap->tokens, &swap->sol));
  REQUIRE(++swap->sol, OVERFLOW);
  swap->fee = feeOn(swap->sol, curve->feeBps);
  return 0;
}

// Tokens for `spend` lamports (at least one), including the fee.
INLINE u64 quoteSpend(const Curve *curve, u64 spend, Swap *swap) {
  TRY(multiplyDivide(spend - 1, 10000, 10000 + curve->feeBps, &swap->sol));
  TRY(multiplyDivide(swap->sol, curve->virtualTokens, curve->virtualSol + swap->sol, &swap->tokens));
  swap->fee = feeOn(swap->sol, curve->feeBps);
  return swap->tokens > curve->realTokens ? quoteTokens(curve, curve->realTokens, swap) : 0;
}

INLINE u64 quoteSale(const Curve *curve, u64 tokens, Swap *swap) {
  REQUIRE(curve->virtualTokens + tokens >= tokens, OVERFLOW);
  TRY(multiplyDivide(tokens, curve->virtualSol, curve->virtualTokens + tokens, &swap->sol));
  REQUIRE(swap->sol <= curve->realSol, OVERFLOW);
  swap->fee = feeOn(swap->sol, curve->feeBps);
  swap->tokens = tokens;
  return 0;
}

// Checks that the accounts belong to one curve. The vault must be owned by the called token program, which excludes
// forged accounts; that program itself refuses a vault of another mint.
INLINE u64 checkAccounts(const Context *context, const Account *token) {
  const Account *all = context->accounts;
  const Account *curve = &all[CURVE], *vault = &all[VAULT];
  REQUIRE(all[USER].isSigner, NOT_SIGNED);
  REQUIRE(isSame(curve->owner, context->program), WRONG_PROGRAM_OWNER);
  REQUIRE(curve->dataLength == sizeof(Curve), NOT_INITIALIZED);
  const Curve *state = (const Curve *)curve->data;
  REQUIRE(state->discriminator == CURVE_DISCRIMINATOR, NOT_INITIALIZED);
  REQUIRE(isSame(state->mint, all[MINT].key) && isSame(state->feeAccount, all[FEES].key), CONSTRAINT_BROKEN);
  REQUIRE(isSame(vault->owner, token->key), WRONG_PROGRAM_OWNER);
  REQUIRE(isSame(vault->data + 32, curve->key), CONSTRAINT_BROKEN);
  REQUIRE(!state->isComplete, CURVE_COMPLETE);
  return 0;
}

INLINE u64 buy(Context *context, u64 isExactSol, u64 first, u64 second) {
  Account *all = context->accounts;
  Curve *curve = (Curve *)all[CURVE].data;
  u64 most = isExactSol ? first : second;
  Swap swap;
  REQUIRE(first, BUY_ZERO_AMOUNT);
  if (isExactSol) TRY(quoteSpend(curve, first, &swap));
  else TRY(quoteTokens(curve, first, &swap));
  REQUIRE(swap.tokens, BUY_ZERO_AMOUNT);
  REQUIRE(swap.sol + swap.fee >= swap.sol && swap.sol + swap.fee <= most, TOO_MUCH_SOL_REQUIRED);
  REQUIRE(!isExactSol || swap.tokens >= second, BELOW_MIN_TOKENS_OUT);
  REQUIRE(curve->virtualSol + swap.sol >= swap.sol, OVERFLOW);

  curve->virtualSol += swap.sol;
  curve->realSol += swap.sol;
  curve->virtualTokens -= swap.tokens;
  curve->realTokens -= swap.tokens;
  curve->isComplete = curve->realTokens == 0;

  u8 word[16];
  writeU64(word, 0x2d676e69646e6f62ULL); // bonding-
  writeU64(word + 8, 0x6576727563ULL);   // curve
  Seed seeds[3] = {{word, 13}, {curve->mint, 32}, {&curve->bump, 1}};
  Seeds signer = {seeds, 3};
  TRY(transferLamports(context, &all[SYSTEM], &all[USER], &all[CURVE], swap.sol));
  TRY(transferLamports(context, &all[SYSTEM], &all[USER], &all[FEES], swap.fee));
  return transferTokens(context, &all[BUY_TOKEN], &all[VAULT], &all[MINT], &all[OWN], &all[CURVE], swap.tokens, &signer);
}

INLINE u64 sell(Context *context, u64 tokens, u64 least) {
  Account *all = context->accounts;
  Curve *curve = (Curve *)all[CURVE].data;
  Swap swap;
  REQUIRE(tokens, SELL_ZERO_AMOUNT);
  TRY(quoteSale(curve, tokens, &swap));
  REQUIRE(swap.sol - swap.fee >= least, TOO_LITTLE_SOL_RECEIVED);

  curve->virtualSol -= swap.sol;
  curve->realSol -= swap.sol;
  curve->virtualTokens += tokens;
  curve->realTokens += tokens;

  TRY(transferTokens(context, &all[SELL_TOKEN], &all[OWN], &all[MINT], &all[VAULT], &all[USER], tokens, 0));
  // After the call, because the runtime checks at each call that the sum of lamports is unchanged.
  *all[CURVE].lamports -= swap.sol;
  *all[USER].lamports += swap.sol - swap.fee;
  *all[FEES].lamports += swap.fee;
  return 0;
}

u64 entrypoint(u8 *input) {
  Context *context = CONTEXT;
  TRY(readInput(context, input));
  REQUIRE(context->dataLength >= 8, INSTRUCTION_UNKNOWN);
  u64 kind = readU64(context->data);
  REQUIRE(kind == BUY || kind == BUY_EXACT_SOL_IN || kind == SELL, INSTRUCTION_UNKNOWN);
  // Newer clients append flags about reward points, which do not affect the trade.
  REQUIRE(context->dataLength >= 24 && context->dataLength <= 26, INSTRUCTION_MALFORMED);
  REQUIRE(context->count >= (kind == SELL ? SELL_ACCOUNTS : BUY_ACCOUNTS), TOO_FEW_ACCOUNTS);
  TRY(checkAccounts(context, &context->accounts[kind == SELL ? SELL_TOKEN : BUY_TOKEN]));
  u64 first = readU64(context->data + 8), second = readU64(context->data + 16);
  return kind == SELL ? sell(context, first, second) : buy(context, kind == BUY_EXACT_SOL_IN, first, second);
}
