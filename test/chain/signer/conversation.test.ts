import type { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import type { Cancel, Clock } from '../../../src/base/machine.ts'
import type { Line } from '../../../src/chain/signer/client.ts'
import { encodeAnswer } from '../../../src/chain/signer/frames.ts'
import type { SignRequest } from '../../../src/chain/signer/port.ts'
import { keepRunning } from '../../../src/chain/signer/running.ts'
import { RECONNECTS, RESTARTS } from '../../../src/chain/signer/start.ts'
import { buy, PAIR, WALLET } from './requests.ts'
import { settle, socketPair } from './socket-pair.ts'

// The engine's end of a connection to the signer. There is no signer process: the test plays the signer, which may be
// hostile, and sets the time.

const KEY = PAIR.publicKey.toBytes()
const { request, signature } = buy(1_000)
const hello = encodeAnswer({ kind: 'hello', publicKey: KEY })
const signed = (id: number, bytes = signature) => encodeAnswer({ kind: 'signed', id, signature: bytes })

class ManualClock implements Clock {
  #now = 0
  #timers: { at: number; run: () => void }[] = []
  now(): number {
    return this.#now
  }
  after(ms: number, run: () => void): Cancel {
    const timer = { at: this.#now + ms, run }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }
  pass(ms: number): void {
    this.#now += ms
    const due = this.#timers.filter(({ at }) => at <= this.#now)
    this.#timers = this.#timers.filter(({ at }) => at > this.#now)
    for (const { run } of due) run()
  }
}

/** Returns an engine that talks to simulated signers. `behave` is called once for each connection. */
async function engine(behave: (far: Duplex, dialled: number) => void, retries = RESTARTS) {
  const clock = new ManualClock()
  const told: string[] = []
  const far: Duplex[] = []
  const dial = (): Line => {
    const [near, other] = socketPair()
    far.push(other)
    other.on('error', () => {})
    behave(other, far.length)
    const cut = async (): Promise<void> => void near.destroy()
    return { stream: near, cut, why: () => '' }
  }
  const signer = await keepRunning({ dial, retries, wallet: WALLET, clock, tell: (line) => told.push(line) })
  return { signer, clock, told, far }
}

test.each<[string, (far: Duplex) => void]>([
  ['an invalid signature', (far) => far.write(signed(1, new Uint8Array(64).fill(1)))],
  ['a signature for another message', (far) => far.write(signed(1, buy(1_000, 1).signature))],
  ['an answer to a request that was never made', (far) => far.write(signed(2))],
  ['a second greeting', (far) => far.write(hello)],
  ['a length prefix of 4 GiB', (far) => far.write(Buffer.from([255, 255, 255, 255, 1]))],
  ['an answer of an unknown kind', (far) => far.write(Buffer.from([1, 0, 0, 0, 9]))],
  ['half an answer, after which the connection ends', (far) => far.end(signed(1).subarray(0, 40))],
  ['no answer, because the connection ends', (far) => far.end()],
])('after an invalid answer the engine disconnects the signer, and nothing is signed: %s', async (_name, behave) => {
  const { signer, told } = await engine((far, dialled) => {
    far.write(hello)
    if (dialled === 1) far.once('data', () => behave(far))
  })
  expect(await signer.sign(request)).toMatchObject({ ok: false, code: 'SIGNER_DOWN' })
  await settle()
  expect(told).toEqual([expect.stringContaining('the signer is down'), 'the signer is up again'])
  await signer.close()
})

test('an answer that arrives byte by byte is accepted', async () => {
  const { signer } = await engine((far) => {
    far.write(hello)
    far.once('data', () => {
      for (const byte of signed(1)) far.write(Uint8Array.of(byte))
    })
  })
  expect(await signer.sign(request)).toEqual({ ok: true, signature })
  await signer.close()
})

test('the reason of a refusal is printed without control characters', async () => {
  const reason = 'no\u001b[2J\u202e!'
  const { signer } = await engine((far) => {
    far.write(hello)
    far.once('data', () => far.write(encodeAnswer({ kind: 'refused', id: 1, code: 'SIGNER_CAP', reason })))
  })
  const refused = { ok: false, code: 'SIGNER_CAP', reason: 'no\\u001b[2J\\u202e!' }
  expect(await signer.sign(request)).toEqual(refused)
  await signer.close()
})

test('if no answer arrives for two seconds, the engine closes the connection, open requests fail, and the engine connects again', async () => {
  const { signer, clock, far } = await engine((other) => void other.write(hello))
  const waiting = [signer.sign(request), signer.sign(buy(1_000, 1).request)]
  clock.pass(2_000)
  for (const result of await Promise.all(waiting)) expect(result).toMatchObject({ code: 'SIGNER_DOWN' })
  await settle()
  expect(far).toHaveLength(2)
  expect(far[0]?.destroyed || far[0]?.readableEnded).toBe(true)
  await signer.close()
})

test('the engine restarts a signer at most three times a minute', async () => {
  const { signer, clock, far, told } = await engine((other) => void other.write(hello))
  for (let deaths = 1; deaths <= 3; deaths++) {
    far.at(-1)?.end()
    await settle()
    expect(far).toHaveLength(deaths + 1)
  }
  far.at(-1)?.end()
  await settle()
  clock.pass(59_000)
  expect(await signer.sign(request)).toMatchObject({ ok: false, code: 'SIGNER_DOWN' })
  expect(far).toHaveLength(4)
  clock.pass(1_000)
  await settle()
  expect(far.length).toBeGreaterThan(4)
  expect(told.at(-1)).toBe('the signer is up again')
  const answer = signer.sign(request)
  far.at(-1)?.write(signed(1))
  expect(await answer).toEqual({ ok: true, signature })
  // In the next minute, three more restarts are allowed.
  const before = far.length
  far.at(-1)?.end()
  await settle()
  expect(far).toHaveLength(before + 1)
  await signer.close()
})

test('if no process listens at the socket, the engine tries again each second, and reports the failure once', async () => {
  const { signer, clock, far, told } = await engine((other, dialled) => {
    if (dialled === 1 || dialled === 8) other.write(hello)
    else other.end()
  }, RECONNECTS)
  far[0]?.end()
  for (let tries = 2; tries <= 7; tries++) {
    await settle()
    expect(far).toHaveLength(tries)
    clock.pass(1_000)
  }
  await settle()
  expect(told).toEqual([expect.stringContaining('the signer is down'), 'the signer is up again'])
  await signer.close()
})

test('a request that is made during a restart of the signer waits for the restart', async () => {
  let begin = () => {}
  const { signer, far } = await engine((other, dialled) => {
    if (dialled === 1) other.write(hello)
    else begin = () => void other.write(hello)
    other.on('data', () => other.write(signed(1)))
  })
  far[0]?.end()
  await settle()
  const answer = signer.sign(request)
  await settle()
  begin()
  expect(await answer).toEqual({ ok: true, signature })
  await signer.close()
})

test.each<[string, (far: Duplex) => void, RegExp]>([
  [
    'the key of another wallet',
    (far) => far.write(encodeAnswer({ kind: 'hello', publicKey: new Uint8Array(32) })),
    /has the key of 1111/,
  ],
  [
    'the report of a failure',
    (far) => far.write(encodeAnswer({ kind: 'failed', exitCode: 4, reason: 'a reason' })),
    /^a reason$/,
  ],
  ['the end of the connection', (far) => far.end(), /it ended/],
  [
    'another version of the protocol',
    (far) => far.write(Buffer.from([34, 0, 0, 0, 0, 2, ...KEY])),
    /another protocol version/,
  ],
])('the engine refuses a connection that begins with %s', async (_name, behave, because) => {
  await expect(engine(behave)).rejects.toThrow(because)
})

test.each<[string, Partial<SignRequest>]>([
  ['a message of a megabyte', { message: new Uint8Array(1_000_000) }],
  ['a negative cost limit', { boundLamports: -1n }],
  ['an order id with several lines', { orderId: 'a\nb' }],
])('an invalid request is refused before it is sent to the signer: %s', async (_name, changed) => {
  const { signer } = await engine((far) => {
    far.write(hello)
    far.on('data', () => expect.unreachable())
  })
  expect(await signer.sign({ ...request, ...changed })).toMatchObject({ ok: false, code: 'SIGNER_REFUSED' })
  await signer.close()
})
