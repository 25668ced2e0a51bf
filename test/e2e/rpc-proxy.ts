import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A call of the RPC, and the node's answer to it. */
export interface Passing {
  readonly method: string
  readonly params: readonly unknown[]
  readonly answer: Record<string, unknown>
}

export interface RpcProxy {
  readonly url: string
  close(): Promise<void>
}

/**
 * Opens a proxy in front of a sandbox's node. `change` modifies calls and answers; if it returns a number, the client
 * gets only this HTTP status.
 */
export async function openRpcProxy(
  behind: string,
  change: {
    readonly call?: (method: string, params: readonly unknown[]) => readonly unknown[]
    readonly answer?: (passing: Passing) => Record<string, unknown> | number
  },
): Promise<RpcProxy> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method, params, ...rest } = JSON.parse(body) as { method: string; params: unknown[] }
    const changed = JSON.stringify({ ...rest, method, params: change.call?.(method, params) ?? params })
    const headers = { 'content-type': 'application/json' }
    const answered = await fetch(behind, { method: 'POST', headers, body: changed })
    const answer = (await answered.json()) as Record<string, unknown>
    const given = change.answer?.({ method, params, answer }) ?? answer
    response.writeHead(typeof given === 'number' ? given : 200, headers)
    response.end(typeof given === 'number' ? '' : JSON.stringify(given))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rpc`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
