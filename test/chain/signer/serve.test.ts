import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeRequest, encodeAnswer, encodeRequest, FrameReader } from '../../../src/chain/signer/frames.ts'
import type { SignRequest } from '../../../src/chain/signer/port.ts'
import { serve } from '../../../src/chain/signer/serve.ts'
import { buy, PAIR } from './requests.ts'
import { settle, socketPair } from './socket-pair.ts'

// The signer's end of a connection. There is no engine process: the test plays the engine, which may be hostile.

const KEY = PAIR.publicKey.toBytes()
const { request, signature } = buy(1_000)
const hello = encodeAnswer({ kind: 'hello', publicKey: KEY })

/** Returns a signer that signs everything, and the bytes that it sends to its engine. */
function signerAlone() {
  const [near, far] = socketPair()
  const heard: Buffer[] = []
  const asked: SignRequest[] = []
  const over: string[] = []
  near.on('error', () => {}).on('data', (chunk: Buffer) => heard.push(chunk))
  const decide = (one: SignRequest) => {
    asked.push(one)
    return { kind: 'signed', signature } as const
  }
  serve(far, { publicKey: KEY, decide, over: (why) => over.push(why) })
  return { near, far, asked, over, heard: () => Buffer.concat(heard).subarray(hello.length) }
}

test('the signer reads a request correctly, however its bytes are split', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 8 })
  const names = fc.stringMatching(/^[ -~]{0,40}$/)
  const anyRequest = fc.record({
    ...{ orderId: names, attemptId: names, policyHash: names, guarded: fc.boolean() },
    boundLamports: fc.bigInt({ min: 0n, max: 2n ** 60n }),
    message: fc.uint8Array({ maxLength: 1_232 }),
  })
  const property = fc.property(fc.array(anyRequest, { minLength: 1, maxLength: 4 }), sizes, (requests, cuts) => {
    const bytes = Buffer.concat(requests.map((one, id) => encodeRequest(id, one)))
    const reader = new FrameReader()
    const frames: Uint8Array[] = []
    for (let at = 0, cut = 0; at < bytes.length; cut++) {
      const size = cuts[cut % cuts.length] as number
      frames.push(...reader.take(bytes.subarray(at, at + size)).map((one) => Uint8Array.from(one)))
      at += size
    }
    expect(frames.map((frame) => decodeRequest(frame))).toEqual(
      requests.map((one, id) => ({ id, request: { ...one, message: Uint8Array.from(one.message) } })),
    )
  })
  fc.assert(property, { numRuns: 30 })
})

test('an invalid request closes the connection, and neither this request nor a later one is signed', async () => {
  const whole = encodeRequest(1, request)
  const spoilt: [string, Uint8Array][] = [
    ['a length prefix of 4 GiB', Buffer.from([255, 255, 255, 255])],
    ['an empty frame', Buffer.alloc(4)],
    ['a frame that is too long', Buffer.from([1, 16, 0, 0])],
    ['a flag that is neither 0 nor 1', Buffer.from(whole).fill(2, 8, 9)],
    ['a cost limit above the supply of SOL', Buffer.from(whole).fill(255, 9, 17)],
    ['an order id with control characters', Buffer.from(whole).fill(7, 18, 20)],
    ['a frame that is too short', Buffer.from([3, 0, 0, 0, 1, 2, 3])],
  ]
  for (const [name, bytes] of spoilt) {
    const { near, asked, over } = signerAlone()
    near.write(bytes)
    near.write(whole)
    await settle()
    expect(asked, name).toEqual([])
    expect(over, name).toEqual([expect.stringMatching(/./)])
  }
})

test('random bytes are never signed, and only close the connection', async () => {
  const garbage = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 5 })
  const property = fc.asyncProperty(garbage, async (chunks) => {
    const { near, asked, heard } = signerAlone()
    for (const chunk of chunks) near.write(chunk)
    await settle()
    expect(asked).toEqual([])
    expect(heard()).toHaveLength(0)
    near.destroy()
  })
  await fc.assert(property, { numRuns: 30 })
})

test('half a request waits for its second half, and the end of the stream closes the connection', async () => {
  const { near, asked, over } = signerAlone()
  near.write(encodeRequest(1, request).subarray(0, 100))
  await settle()
  expect([asked, over]).toEqual([[], []])
  near.end()
  near.destroy()
  await settle()
  expect(asked).toEqual([])
  expect(over).toHaveLength(1)
})

test('an engine with endless requests does not block other engines', async () => {
  const { near, asked } = signerAlone()
  const other = signerAlone()
  near.write(Buffer.concat(Array.from({ length: 1_000 }, (_none, id) => encodeRequest(id, request))))
  other.near.write(encodeRequest(1, request))
  await settle()
  expect(other.asked).toHaveLength(1)
  expect(asked.length).toBeLessThan(100)
  for (const one of [near, other.near]) one.destroy()
})

test('requests of an engine that was disconnected are neither counted nor signed', async () => {
  const { near, asked } = signerAlone()
  near.write(Buffer.concat(Array.from({ length: 1_000 }, (_none, id) => encodeRequest(id, request))))
  await settle()
  near.destroy()
  await settle()
  const atItsEnd = asked.length
  await settle()
  expect(asked.length).toBe(atItsEnd)
  expect(atItsEnd).toBeLessThan(100)
})

test('the signer stops reading from an engine that does not read its answers', async () => {
  const { near, far, asked } = signerAlone()
  near.removeAllListeners('data').pause()
  const one = encodeRequest(1, request)
  let sent = 0
  while (near.write(one) || sent < 2_000) sent++
  await settle()
  expect(far.isPaused()).toBe(true)
  expect(asked.length).toBeLessThan(sent)
  expect(far.writableLength).toBeLessThan(200_000)
  near.destroy()
})
