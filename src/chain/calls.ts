/** An instruction of a transaction that landed, called by the message itself or from inside another one. */
export interface Call {
  readonly program: string
  readonly accounts: readonly string[]
  /** Base58, as the node tells it. */
  readonly data: string
  /** Who called it; undefined: the message. */
  readonly parent: Call | undefined
}

/** What a transaction called, in order. */
export interface Calls {
  readonly all: readonly Call[]
  /** Whether the node recorded what was called from inside; else `all` are those of the message. */
  readonly hasInner: boolean
}

interface RawCall {
  programIdIndex: unknown
  accounts: unknown
  data: unknown
  stackHeight?: unknown
}

/** From `message.instructions` and `meta.innerInstructions` of an answer of getTransaction, encoding json; undefined where they are not what
 *  a node answers. Nothing but the parts of a fill rests on them. */
export function readCalls(outer: unknown, inner: unknown, accounts: readonly string[]): Calls | undefined {
  try {
    return callsOf(outer as RawCall[], inner as { index: unknown; instructions: RawCall[] }[] | null, accounts)
  } catch {
    return undefined
  }
}

function callsOf(
  outer: readonly RawCall[],
  inner: readonly { index: unknown; instructions: readonly RawCall[] }[] | null | undefined,
  keys: readonly string[],
): Calls {
  const groups = new Map((inner ?? []).map(({ index, instructions }) => [index, instructions]))
  const all = outer.flatMap((raw, index) => {
    const open: Call[] = [callOf(raw, undefined, keys)]
    const called = [...open]
    for (const one of groups.get(index) ?? []) {
      // 1 is the message's own instruction. Nodes of long ago do not say how deep: then it is taken for its direct call.
      const height = one.stackHeight ?? 2
      if (!isPlace(height, open.length + 2) || height < 2) throw new TypeError('a call of nobody')
      open.length = height - 1
      const call = callOf(one, open.at(-1), keys)
      open.push(call)
      called.push(call)
    }
    return called
  })
  return { all, hasInner: Array.isArray(inner) }
}

function callOf({ programIdIndex, accounts, data }: RawCall, parent: Call | undefined, keys: readonly string[]): Call {
  if (typeof data !== 'string' || !Array.isArray(accounts)) throw new TypeError('not an instruction')
  const key = (place: unknown): string => {
    if (!isPlace(place, keys.length)) throw new TypeError('an account that is not there')
    return keys[place] as string
  }
  return { program: key(programIdIndex), accounts: accounts.map(key), data, parent }
}

function isPlace(value: unknown, length: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < length
}
