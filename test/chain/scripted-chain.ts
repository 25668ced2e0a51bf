import type { Rpc, RpcResult } from '../../src/chain/rpc/rpc.ts'

type Method = (params: readonly unknown[]) => unknown

/** A node that answers what a test says; a thrown number is the code of an error. */
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

/** Lets all promises that are under way settle. */
export const settled = (): Promise<void> => new Promise(setImmediate)
