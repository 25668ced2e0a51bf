import type { Rpc, RpcResult } from '../../src/chain/rpc/rpc.ts'

type Method = (params: readonly unknown[]) => unknown

/** A node with answers that a test defines. If the test throws a number, the node answers with it as an error code. */
export class ScriptedChain {
  readonly calls: [method: string, params: readonly unknown[]][] = []
  readonly methods: Record<string, Method> = {}

  readonly rpc: Rpc = async (method, params): Promise<RpcResult> => {
    this.calls.push([method, params])
    try {
      return { ok: true, value: structuredClone(this.methods[method]?.(params) ?? null) }
    } catch (code) {
      return { ok: false, code: code as number, message: 'scripted' }
    }
  }

  count(method: string): number {
    return this.calls.filter(([name]) => name === method).length
  }
}

/** Waits until all pending promises are settled. */
export const settled = (): Promise<void> => new Promise(setImmediate)
