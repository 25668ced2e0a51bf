import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** A service, a chain and a feed that repeat every request in their answers, in red letters. */
export interface LoudService {
  readonly port: number
  close(): Promise<void>
}

const RED = '\u001b[31m'

export async function openLoudService(): Promise<LoudService> {
  const server = createServer((request, response) => {
    const echo = `${RED}no: ${request.headers.authorization ?? ''} ${request.url}`
    const isRpc = request.url?.startsWith('/rpc') === true
    response.writeHead(isRpc ? 200 : 400, { 'content-type': 'application/json' })
    const answer = isRpc
      ? { jsonrpc: '2.0', id: 1, error: { code: -32_600, message: echo } }
      : { code: 'INVALID_MINT', message: echo }
    request.resume().once('end', () => response.end(JSON.stringify(answer)))
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const error = {
        type: 'error',
        code: 'AUTHENTICATION_FAILED',
        message: `${RED}no: ${data}`,
        timestamp: Date.now(),
      }
      socket.send(JSON.stringify(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
