import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as ws from 'ws'
import { WebSocketServer } from 'ws'
import { dialWebSocket, FrameCutter } from '../../src/venues/web-socket.ts'

type Reader = NodeJS.WritableStream & { on(event: 'message', seen: (data: Buffer, isBinary: boolean) => void): Reader }
const { Receiver } = ws as unknown as { Receiver: new (options: object) => Reader }

interface Frame {
  opcode: number
  fin: boolean
  payload: Buffer
}

function encode({ opcode, fin, payload }: Frame): Buffer {
  const first = (fin ? 0x80 : 0) | opcode
  if (payload.length < 126) return Buffer.concat([Buffer.from([first, payload.length]), payload])
  const head = Buffer.alloc(payload.length < 65_536 ? 4 : 10)
  head[0] = first
  head[1] = payload.length < 65_536 ? 126 : 127
  if (head.length === 4) head.writeUInt16BE(payload.length, 2)
  else head.writeBigUInt64BE(BigInt(payload.length), 2)
  return Buffer.concat([head, payload])
}

/** Returns the messages that the WebSocket library reads without the frame cutter. */
function plain(chunks: Buffer[]): string[] {
  const seen: string[] = []
  const receiver = new Receiver({ skipUTF8Validation: false }).on('message', (data, isBinary) =>
    seen.push(`${isBinary} ${data}`),
  )
  receiver.on('error', () => {})
  for (const chunk of chunks) receiver.write(chunk)
  return seen
}

/**
 * Returns the messages that arrive if the frame cutter reads the bytes before the WebSocket library. `cut`: the number
 * of messages that the cutter itself delivered, so that the library did not receive them.
 */
function cutting(chunks: Buffer[]): { seen: string[]; cut: number } {
  const seen: string[] = []
  let cut = 0
  const receiver = new Receiver({ skipUTF8Validation: false }).on('message', (data, isBinary) =>
    seen.push(`${isBinary} ${data}`),
  )
  receiver.on('error', () => {})
  const cutter = new FrameCutter(
    (data, start, end) => {
      cut++
      seen.push(`false ${Buffer.from(data.subarray(start, end))}`)
    },
    (bytes) => void receiver.write(bytes),
    () => true,
  )
  for (const chunk of chunks) cutter.push(chunk)
  return { seen, cut }
}

const size = fc.oneof(
  fc.nat(20),
  fc.integer({ min: 120, max: 130 }),
  fc.integer({ min: 300, max: 400 }),
  fc.constantFrom(65_535, 65_536, 70_000),
)
const payload = size.map((length) => Buffer.alloc(length, 'x'))
const control = fc.constantFrom(9, 10).map((opcode): Frame[] => [{ opcode, fin: true, payload: Buffer.from('p') }])
const message = fc.oneof(
  { weight: 5, arbitrary: payload.map((one): Frame[] => [{ opcode: 1, fin: true, payload: one }]) },
  payload.map((one): Frame[] => [{ opcode: 2, fin: true, payload: one }]),
  control,
  fc
    .tuple(payload, control, payload)
    .map(([first, between, last]): Frame[] => [
      { opcode: 1, fin: false, payload: first },
      ...between,
      { opcode: 0, fin: true, payload: last },
    ]),
)

test('for any chunks, the frame cutter delivers the same messages in the same order as the WebSocket library alone', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.nat(140_000), { maxLength: 6 }), (messages, cuts) => {
      const stream = Buffer.concat(messages.flat().map(encode))
      const places = [...new Set([0, ...cuts.filter((at) => at < stream.length), stream.length])].sort((a, b) => a - b)
      const chunks = places.slice(1).map((end, index) => stream.subarray(places[index], end))
      expect(cutting(chunks).seen).toEqual(plain(chunks))
    }),
    { numRuns: 300 },
  )
})

test('the frame cutter delivers the same messages if the bytes arrive one by one', () => {
  const frames = [
    encode({ opcode: 1, fin: true, payload: Buffer.alloc(200, 'x') }),
    encode({ opcode: 1, fin: true, payload: Buffer.from('end') }),
  ]
  const bytes = [...Buffer.concat(frames)].map((byte) => Buffer.from([byte]))
  expect(cutting(bytes).seen).toEqual(plain(bytes))
})

test('the frame cutter handles all messages of a chunk, and the WebSocket library none of them', () => {
  const chunk = Buffer.concat(
    Array.from({ length: 50 }, (_, index) => encode({ opcode: 1, fin: true, payload: Buffer.alloc(index * 7, 'x') })),
  )
  expect(cutting([chunk]).cut).toBe(50)
})

test('the WebSocket library rejects messages that violate the protocol, also with the frame cutter', () => {
  const broken = [Buffer.from([0xf1, 1, 65]), encode({ opcode: 1, fin: true, payload: Buffer.from('a') })]
  expect(cutting([Buffer.concat(broken)]).cut).toBe(1)
  const endless = Buffer.from([0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 65])
  expect(cutting([endless, broken[1] as Buffer]).seen).toEqual([])
})

test('the frame cutter delivers no message after the connection was closed', () => {
  let isOpen = true
  const seen: string[] = []
  const cutter = new FrameCutter(
    (data, start, end) => {
      seen.push(Buffer.from(data.subarray(start, end)).toString())
      isOpen = false
    },
    () => {},
    () => isOpen,
  )
  const frame = encode({ opcode: 1, fin: true, payload: Buffer.from('a') })
  cutter.push(Buffer.concat([frame, frame]))
  expect(seen).toEqual(['a'])
})

describe('over a real socket', () => {
  async function conversation(play: (server: ws.WebSocket) => void): Promise<string[]> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await new Promise((resolve) => server.on('listening', resolve))
    server.on('connection', (socket) => socket.on('message', () => play(socket)))
    const { port } = server.address() as { port: number }
    const events: string[] = []
    let isSettled = true
    await new Promise<void>((resolve) => {
      const socket = dialWebSocket(`ws://127.0.0.1:${port}/`, {
        open: () => {
          events.push('open')
          socket.send('hello')
        },
        message: (data, isBinary, start, end) => {
          events.push(isBinary ? 'binary' : Buffer.from(data.subarray(start, end)).toString())
          isSettled = false
        },
        settled: () => {
          isSettled = true
        },
        closed: (reason) => {
          events.push(isSettled ? `closed: ${reason}` : 'closed before the messages were settled')
          resolve()
        },
      })
    })
    await new Promise((resolve) => server.close(resolve))
    return events
  }

  test('text, binary, ping and close frames arrive in order over a real socket', async () => {
    const play = (server: ws.WebSocket): void => {
      for (const text of ['one', 'two']) server.send(text)
      server.ping()
      server.send(Buffer.from('three'))
      server.send('four')
      server.on('pong', () => server.close(4_000))
    }
    expect(await conversation(play)).toEqual(['open', 'one', 'two', 'binary', 'four', 'closed: code 4000'])
  })
  test('a WebSocket connection that is lost is reported as closed', async () => {
    expect(await conversation((server) => server.terminate())).toEqual(['open', 'closed: code 1006'])
  })
  test('a WebSocket connection that is refused is reported as closed', async () => {
    const reason = await new Promise<string>((resolve) => {
      dialWebSocket('ws://127.0.0.1:1/', { open() {}, message() {}, settled() {}, closed: resolve })
    })
    expect(reason).toMatch(/ECONNREFUSED/)
  })
  test('a WebSocket message above the size limit closes the connection', async () => {
    const events = await conversation((server) => server.send('x'.repeat(17 * 1_048_576)))
    expect(events[1]).toMatch(/^closed: Max payload size exceeded/)
  })
})
