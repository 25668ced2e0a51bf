import type { Rpc, RpcResult } from '../../src/chain/rpc/rpc.ts'

type Method = (params: readonly unknown[]) => unknown

/** A node whose answers a test defines. A thrown number is an error code. */
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
