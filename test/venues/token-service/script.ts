import type { Dial, Socket, SocketEvents } from '../../../src/base/machine.ts'

/** One connection to the scripted service. */
export class ScriptedConnection {
  readonly sent: { method: string; apiKey?: string; keys?: string[] }[] = []
  isTerminated = false
  readonly #on: SocketEvents

  constructor(on: SocketEvents) {
    this.#on = on
  }

  open(): void {
    this.#on.open()
  }

  /** Sends a message to the client: an object as JSON, a text unchanged. */
  say(...messages: (object | string)[]): void {
    for (const message of messages) {
      this.#on.message(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), false)
      this.settle()
    }
  }

  sayBinary(data: Uint8Array): void {
    this.#on.message(data, true)
    this.settle()
  }

  /** Sends the bytes `start` to `end` of `chunk` as one message. Call `settle` after the last message of the chunk. */
  sayRange(chunk: Uint8Array, start: number, end: number): void {
    this.#on.message(chunk, false, start, end)
  }

  settle(): void {
    this.#on.settled()
  }

  close(reason = 'gone'): void {
    this.#on.closed(reason)
  }

  /** Returns the messages that were received since the last call. */
  take(): string[] {
    return this.sent.splice(0).map(({ method, keys }) => [method, ...(keys ?? [])].join(' '))
  }

  get socket(): Socket {
    return {
      send: (text) => void this.sent.push(JSON.parse(text)),
      terminate: () => {
        this.isTerminated = true
        this.#on.closed('terminated')
      },
    }
  }
}

/** A service that sends what the test specifies. */
export class ScriptedService {
  readonly connections: ScriptedConnection[] = []

  readonly dial: Dial = (_url, on) => {
    const connection = new ScriptedConnection(on)
    this.connections.push(connection)
    return connection.socket
  }

  get last(): ScriptedConnection {
    return this.connections.at(-1) as ScriptedConnection
  }
}
