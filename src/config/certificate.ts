import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import type { DeskConfig } from './config.ts'

const MOST_BYTES = 262_144
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\w+/=\s]+-----END CERTIFICATE-----/g
const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m
/** Permissions that the file of a private key must not have: every permission of other users, and the permission of the
 *  group to write. */
const UNSAFE_MODE = 0o027

/** A certificate chain and its private key (PEM), which belong together and are valid now. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly validFrom: Millis
  readonly validTo: Millis
  /** Reason why browsers refuse the certificate, although the desk can be served with it; undefined if they accept
   *  it. */
  readonly warning?: string
}

type DeskTls = NonNullable<DeskConfig['tls']>

/** A certificate or a key that cannot be used. The message names the key of the configuration, the file, the cause and
 *  the remedy. */
export class CertificateError extends SluiceError {
  /** `certificate` or `key`: the key of the section `desk.tls` that contains the path of the file. */
  readonly at: keyof DeskTls
  /** The message without the key of the configuration. */
  readonly problem: string

  constructor(at: keyof DeskTls, file: string, problem: string, exitCode: ExitCode = ExitCode.usage) {
    super(`desk.tls.${at}: ${file}: ${problem}`, exitCode)
    this.at = at
    this.problem = `${file}: ${problem}`
  }
}

/** Reads the files, and checks that they can be used now. Throws a CertificateError: exit code 4 if others can read the
 *  key, otherwise 2. `origin`: address at which browsers reach the desk. */
export function validCertificate(files: DeskTls, origin: string | undefined, now: Millis): Certificate {
  const certificate = readCertificate(files, origin, now)
  requireValid(certificate, files, now)
  return certificate
}

/** Reads the files, but does not check whether the certificate is valid now. Throws a CertificateError. */
export function readCertificate(files: DeskTls, origin: string | undefined, now: Millis): Certificate {
  const leaf = leafOf(files.certificate)
  const key = keyOf(files)
  if (!leaf.x509.checkPrivateKey(key.object))
    throw new CertificateError(
      'key',
      files.key,
      `the key does not belong to the first certificate of ${files.certificate}: name the two files that were issued together; the certificate of the server comes first in its chain`,
    )
  try {
    createSecureContext({ cert: leaf.text, key: key.text })
  } catch (error) {
    const reason = (error as Error).message
    const problem = `TLS refuses the certificate or its key (${reason}): have another one issued`
    throw new CertificateError('certificate', files.certificate, problem)
  }
  const warning = nameWarning(leaf.x509, files, origin) ?? chainWarning(leaf.text, files, now)
  return {
    ...{ cert: leaf.text, key: key.text, validFrom: leaf.x509.validFromDate.getTime() },
    validTo: leaf.x509.validToDate.getTime(),
    ...(warning !== undefined && { warning }),
  }
}

function nameWarning(x509: X509Certificate, { certificate }: DeskTls, origin: string | undefined): string | undefined {
  const host = origin === undefined ? undefined : new URL(origin).hostname.replace(/^\[|\]$/g, '')
  if (host === undefined || isFor(x509, host)) return undefined
  return `${certificate}: the certificate is not for ${host}, so browsers refuse it: have one issued for that name, or correct desk.origin`
}

/** Returns a warning if the certificate of an issuer has expired. It is only a warning, because a browser may know a
 *  newer certificate of that issuer. */
function chainWarning(text: string, { certificate }: DeskTls, now: Millis): string | undefined {
  const [, ...issuers] = text.match(CERTIFICATE) ?? []
  const times = issuers.map((pem) => new X509Certificate(pem).validToDate.getTime())
  const expired = times.findIndex((time) => time < now)
  if (expired < 0) return undefined
  return `${certificate}: certificate ${expired + 2} of the chain expired at ${dateOf(times[expired] as Millis)}, so browsers may refuse the desk: have the whole chain issued again`
}

/** Throws a CertificateError unless a certificate is valid now. */
export function requireValid({ validFrom, validTo }: Certificate, { certificate: file }: DeskTls, now: Millis): void {
  if (now > validTo)
    throw new CertificateError(
      'certificate',
      file,
      `the certificate expired at ${dateOf(validTo)}: renew it; --no-desk starts without the desk until then`,
    )
  if (now < validFrom)
    throw new CertificateError(
      'certificate',
      file,
      `the certificate is valid from ${dateOf(validFrom)} on: check the clock of this machine`,
    )
}

/** Returns the first certificate of a file, with the text of the file. */
function leafOf(file: string): { x509: X509Certificate; text: string } {
  const refuse = (problem: string): CertificateError => new CertificateError('certificate', file, problem)
  const text = textOf('certificate', file)
  const pem = text.match(CERTIFICATE)?.[0]
  if (pem === undefined)
    throw refuse(
      PRIVATE_KEY.test(text)
        ? 'contains a private key and no certificate: exchange desk.tls.certificate and desk.tls.key'
        : 'contains no certificate in PEM (-----BEGIN CERTIFICATE-----): name the file of the chain, such as fullchain.pem',
    )
  try {
    return { x509: new X509Certificate(pem), text }
  } catch {
    throw refuse('the certificate is damaged: copy the file again, or have a certificate issued again')
  }
}

function keyOf({ key: file }: DeskTls): { object: KeyObject; text: string } {
  const refuse = (problem: string): CertificateError => new CertificateError('key', file, problem)
  const text = textOf('key', file)
  const mode = statSync(file).mode & 0o777
  if (process.platform !== 'win32' && (mode & UNSAFE_MODE) !== 0)
    throw new CertificateError(
      'key',
      file,
      `others can read the key (mode ${mode.toString(8).padStart(4, '0')}); run: chmod 600 '${file}'`,
      ExitCode.unsafe,
    )
  if (ENCRYPTED.test(text))
    throw refuse('the key is encrypted: write it without a passphrase (`openssl pkey -in KEY -out NEW`)')
  if (!PRIVATE_KEY.test(text))
    throw refuse(
      'contains no private key in PEM (-----BEGIN PRIVATE KEY-----): name the file of the key, such as privkey.pem',
    )
  try {
    return { object: createPrivateKey(text), text }
  } catch {
    throw refuse('the private key is damaged: copy the file again, or have a certificate issued again')
  }
}

function textOf(at: keyof DeskTls, file: string): string {
  const refuse = (problem: string): CertificateError => new CertificateError(at, file, problem)
  try {
    const status = statSync(file)
    if (!status.isFile()) throw refuse('is not a file: name a file in PEM')
    if (status.size > MOST_BYTES) throw refuse('is longer than 256 KiB: name a file in PEM')
    return readFileSync(file, 'latin1')
  } catch (error) {
    if (error instanceof CertificateError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw refuse('no such file: correct the path, or copy the file there')
    if (code === 'EACCES' || code === 'EPERM')
      throw refuse('the user of this process may not read the file: give its group the right to, and mode 0640')
    throw refuse(`cannot be read (${message}): look at the disk`)
  }
}

/** Whether browsers accept the certificate for a host. Browsers do not look at the common name of the subject. */
function isFor(x509: X509Certificate, host: string): boolean {
  const found = isIP(host) === 0 ? x509.checkHost(host, { subject: 'never' }) : x509.checkIP(host)
  return found !== undefined
}

export function dateOf(time: Millis): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
