// Solana programs in C for clang's `bpf` target: the loader's input, calls to other programs, wide arithmetic. There is
// no initialized memory and no C library; scripts/link-bpf.ts links only .text and rejects everything else. Layout of
// the input: solana.com/docs/programs/faq#input-parameter-serialization. Syscalls in C: agave's sdk, solana_sdk/cpi.h.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// A function of this target has at most five arguments; with more it must be inlined.
#define INLINE static inline __attribute__((always_inline))
#define OUTLINE static __attribute__((noinline, unused))

typedef struct { const u8 *key; u8 isWritable; u8 isSigner; } Meta;
typedef struct { const u8 *program; Meta *accounts; u64 accountCount; u8 *data; u64 dataLength; } Instruction;
typedef struct {
  u8 *key; u64 *lamports; u64 dataLength; u8 *data; u8 *owner; u64 rentEpoch; u8 isSigner; u8 isWritable; u8 isExecutable;
} Account;
typedef struct { const u8 *bytes; u64 length; } Seed;
typedef struct { const Seed *seeds; u64 count; } Seeds;
typedef struct { u64 slot; u64 epochStart; u64 epoch; u64 leaderEpoch; u64 unixTimestamp; } Clock;

extern u64 sol_invoke_signed_c(const Instruction *, const Account *, int, const Seeds *, int);
extern u64 sol_get_clock_sysvar(Clock *);

#define MOST_ACCOUNTS 24

typedef struct {
  Account accounts[MOST_ACCOUNTS];
  u64 count;
  u8 *data;
  u64 dataLength;
  u8 *program;
  // Parts of the next call.
  Instruction call;
  Meta metas[MOST_ACCOUNTS];
  u8 buffer[64];
} Context;

// First 32 KB of the heap. A stack frame has only 512 bytes.
#define CONTEXT ((Context *)0x300000000ULL)

// Anchor's error numbers (anchor-lang ErrorCode), which clients know.
#define INSTRUCTION_UNKNOWN 101
#define INSTRUCTION_MALFORMED 102
#define CONSTRAINT_BROKEN 2003
#define TOO_FEW_ACCOUNTS 3005
#define WRONG_PROGRAM_OWNER 3007
#define NOT_SIGNED 3010
#define NOT_INITIALIZED 3012

#define TRY(expression) do { u64 failure = (expression); if (failure) return failure; } while (0)
#define REQUIRE(condition, failure) do { if (!(condition)) return (failure); } while (0)

// The target reads and writes unaligned little-endian words.
INLINE u64 readU64(const u8 *at) { return *(const u64 *)at; }

INLINE void writeU64(u8 *at, u64 value) { *(u64 *)at = value; }

OUTLINE int isSame(const u8 *a, const u8 *b) {
  return readU64(a) == readU64(b) && readU64(a + 8) == readU64(b + 8) && readU64(a + 16) == readU64(b + 16) &&
         readU64(a + 24) == readU64(b + 24);
}

// Parses the loader's input. A duplicate account is stored as the index of its first occurrence.
OUTLINE u64 readInput(Context *context, u8 *input) {
  context->count = *(u64 *)input;
  REQUIRE(context->count <= MOST_ACCOUNTS, TOO_FEW_ACCOUNTS);
  u8 *at = input + 8;
  for (u64 i = 0; i < context->count; i++) {
    Account *account = &context->accounts[i];
    if (*at != 0xff) {
      *account = context->accounts[*at];
      at += 8;
      continue;
    }
    account->isSigner = at[1];
    account->isWritable = at[2];
    account->isExecutable = at[3];
    account->key = at + 8;
    account->owner = at + 40;
    account->lamports = (u64 *)(at + 72);
    account->dataLength = *(u64 *)(at + 80);
    account->data = at + 88;
    at += 88 + ((account->dataLength + 7) & ~7ULL) + 10240;
    account->rentEpoch = *(u64 *)at;
    at += 8;
  }
  context->dataLength = *(u64 *)at;
  context->data = at + 8;
  context->program = at + 8 + context->dataLength;
  return 0;
}

// Builds the next call: program, accounts one by one, then data.
OUTLINE void callTo(Context *context, const Account *program) {
  context->call.program = program->key;
  context->call.accounts = context->metas;
  context->call.accountCount = 0;
  context->call.data = context->buffer;
  context->call.dataLength = 0;
}

OUTLINE void withAccount(Context *context, const Account *account, u8 isWritable, u8 isSigner) {
  Meta *meta = &context->metas[context->call.accountCount++];
  meta->key = account->key;
  meta->isWritable = isWritable;
  meta->isSigner = isSigner;
}

INLINE void withByte(Context *context, u8 value) { context->buffer[context->call.dataLength++] = value; }

INLINE void withU32(Context *context, u32 value) {
  *(u32 *)(context->buffer + context->call.dataLength) = value;
  context->call.dataLength += 4;
}

INLINE void withU64(Context *context, u64 value) {
  writeU64(context->buffer + context->call.dataLength, value);
  context->call.dataLength += 8;
}

INLINE void withKey(Context *context, const u8 *key) {
  for (int at = 0; at < 32; at += 8) withU64(context, readU64(key + at));
}

INLINE u64 invoke(Context *context, const Seeds *signer) {
  return sol_invoke_signed_c(&context->call, context->accounts, (int)context->count, signer, signer ? 1 : 0);
}

// System.Transfer (2).
OUTLINE u64 transferLamports(Context *context, const Account *system, const Account *from, const Account *to, u64 lamports) {
  callTo(context, system);
  withAccount(context, from, 1, 1);
  withAccount(context, to, 1, 0);
  withU32(context, 2);
  withU64(context, lamports);
  return invoke(context, 0);
}

// TransferChecked (12) of Token and Token-2022. `signer`: seeds of a program-derived authority, or none if the
// authority has signed.
INLINE u64 transferTokens(Context *context, const Account *token, const Account *from, const Account *mint, const Account *to,
                          const Account *authority, u64 amount, const Seeds *signer) {
  callTo(context, token);
  withAccount(context, from, 1, 0);
  withAccount(context, mint, 0, 0);
  withAccount(context, to, 1, 0);
  withAccount(context, authority, 0, 1);
  withByte(context, 12);
  withU64(context, amount);
  withByte(context, mint->data[44]); // its decimals
  return invoke(context, signer);
}
