import { encodeBase58 } from '../core/base58.ts'
import { type Answer, json } from './answers.ts'
import type { Dialect } from './dialect.ts'

/** A transaction that the service has built, before it is written down. */
export interface Built {
  bytes: Uint8Array
  lastValidBlockHeight: number
}

/** The document shows no reply of these endpoints: each dialect writes another plausible one. */
export function builtAnswer({ bytes, lastValidBlockHeight }: Built, dialect: Dialect): Answer {
  const { builtEncoding, builtShape, builtHeight } = dialect
  if (builtShape === 'raw') return { status: 200, body: bytes, headers: { 'content-type': 'application/octet-stream' } }
  const text = builtEncoding === 'base58' ? encodeBase58(bytes) : Buffer.from(bytes).toString('base64')
  if (builtShape === 'bareText') return { status: 200, body: text, headers: { 'content-type': 'text/plain' } }
  if (builtShape === 'bareJson') return json(200, text)
  const path = builtShape.split('.')
  const name = path.at(-1)!
  const height = builtHeight === 'told' ? { lastValidBlockHeight } : {}
  const value = builtShape === 'bytes' ? [...bytes] : text
  const inner: object = { [name]: value, ...height }
  return json(
    200,
    path.slice(0, -1).reduceRight<object>((nested, outer) => ({ [outer]: nested }), inner),
  )
}
