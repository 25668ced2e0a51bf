import { connect, createServer, type Server, type Socket } from 'node:net'

export interface Cut {
  /** The direction in which bytes are counted. */
  readonly of: 'request' | 'response'
  /** The number of bytes to forward before both ends are cut. */
  readonly after: number
  readonly how: 'end' | 'reset'
}

/** A TCP proxy on loopback that cuts a connection after any byte. */
export interface ByteCutter {
  readonly port: number
  /** Where new connections are cut; undefined if everything is forwarded. */
  cut: Cut | undefined
  /** The number of bytes that the client has sent since this was set to 0. */
  received: number
  close(): Promise<void>
}

export async function openByteCutter(targetPort: number): Promise<ByteCutter> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay())
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    const end = (how: Cut['how']): void => {
      // If the cut is an `end`, the forwarded bytes arrive before the end. A reset may arrive before the forwarded
      // bytes; it then has the effect of a cut at an earlier byte.
      upstream.end()
      if (how === 'end') client.destroy()
      else client.resetAndDestroy()
    }
    let passed = { request: 0, response: 0 }
    const pass = (of: Cut['of'], from: Socket, to: Socket): void => {
      from.on('data', (data) => {
        if (of === 'request') cutter.received += data.length
        const { cut } = cutter
        if (cut === undefined || cut.of !== of) {
          to.write(data)
          return
        }
        const part = data.subarray(0, cut.after - passed[of])
        passed = { ...passed, [of]: passed[of] + part.length }
        const isOver = passed[of] === cut.after
        if (part.length > 0) to.write(part, () => isOver && end(cut.how))
        else if (isOver) end(cut.how)
      })
      from.on('end', () => to.end())
    }
    if (cutter.cut?.of === 'request' && cutter.cut.after === 0) end(cutter.cut.how)
    else {
      pass('request', client, upstream)
      pass('response', upstream, client)
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const cutter: ByteCutter = {
    port: (server.address() as { port: number }).port,
    cut: undefined,
    received: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
  return cutter
}
