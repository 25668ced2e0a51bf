import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isIP } from 'node:net'
import type { Millis } from '../../src/base/units.ts'

/** A certificate that signs itself, with its private key (PEM). */
export interface IssuedCertificate {
  readonly cert: string
  readonly key: string
}

export interface CertificateFacts {
  /** The host name or IPv4 address of the certificate. */
  readonly host: string
  readonly from: Millis
  readonly to: Millis
  /** The length of the RSA key in bits; absent if the key is an elliptic-curve key. */
  readonly rsaBits?: number
}

// The tests need no external program to issue certificates. Node creates the keys and signatures, and the rest is a
// fixed structure in DER (RFC 5280, section 4.1).

/** Issues a certificate. */
export function issue({ host, from, to, rsaBits }: CertificateFacts): IssuedCertificate {
  const { privateKey, publicKey } =
    rsaBits === undefined
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: rsaBits })
  const algorithm = rsaBits === undefined ? ECDSA_SHA256 : RSA_SHA256
  const body = sequence(
    tag(0xa0, integer(2)),
    integer(1),
    algorithm,
    nameOf(host),
    sequence(time(from), time(to)),
    nameOf(host),
    publicKey.export({ type: 'spki', format: 'der' }),
    tag(0xa3, sequence(sequence(SUBJECT_ALTERNATIVE, tag(0x04, sequence(alternative(host)))))),
  )
  const signature = sign('sha256', body, privateKey)
  return { cert: pem(sequence(body, algorithm, tag(0x03, Buffer.from([0]), signature))), key: pemOf(privateKey) }
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string
}

function tag(number: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([number, ...size]), content])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tag(0x30, ...parts)
}

function identifier(hex: string): Buffer {
  return tag(0x06, Buffer.from(hex, 'hex'))
}

const ECDSA_SHA256 = sequence(identifier('2a8648ce3d040302'))
const RSA_SHA256 = sequence(identifier('2a864886f70d01010b'), tag(0x05))
const COMMON_NAME = identifier('550403')
const SUBJECT_ALTERNATIVE = identifier('551d11')

/** `value`: below 128. */
function integer(value: number): Buffer {
  return tag(0x02, Buffer.from([value]))
}

function nameOf(host: string): Buffer {
  return sequence(tag(0x31, sequence(COMMON_NAME, tag(0x0c, Buffer.from(host)))))
}

/** GeneralizedTime. */
function time(at: Millis): Buffer {
  return tag(0x18, Buffer.from(`${new Date(at).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`))
}

function alternative(host: string): Buffer {
  return isIP(host) === 4 ? tag(0x87, Buffer.from(host.split('.').map(Number))) : tag(0x82, Buffer.from(host))
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
