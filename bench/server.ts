import { fork } from 'node:child_process'
import type { FromServer, ToServer } from './market-server.ts'

/** The server that replaces the service. It runs in a separate process. */
export interface Server {
  readonly feedUrl: string
  readonly postUrl: string
  tell(message: ToServer): void
  /** Resolves with the arrival time of the next POST request's first byte, on the clock of `stampNow`. */
  nextPost(): Promise<number>
  close(): void
}

export async function startServer(): Promise<Server> {
  const child = fork(new URL('./market-server.ts', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  let waiting: (at: number) => void = () => {}
  const { promise, resolve, reject } = Promise.withResolvers<Extract<FromServer, { kind: 'listening' }>>()
  child.on('exit', () => reject(new Error('the market server ended')))
  child.on('message', (message: FromServer) => {
    if (message.kind === 'listening') resolve(message)
    else waiting(message.at)
  })
  const { feedPort, postPort } = await promise
  return {
    feedUrl: `ws://127.0.0.1:${feedPort}`,
    postUrl: `http://127.0.0.1:${postPort}/api`,
    tell: (message) => void child.send(message),
    nextPost: () =>
      new Promise((taken) => {
        waiting = taken
      }),
    close: () => void child.kill(),
  }
}
