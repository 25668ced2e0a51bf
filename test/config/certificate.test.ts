import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ExitCode } from '../../src/base/errors.ts'
import { CertificateError, validCertificate } from '../../src/config/certificate.ts'
import { loadConfig } from '../../src/config/load.ts'
import { issue } from '../support/certificates.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const NOW = Date.UTC(2026, 10, 23)
const DAY_MS = 86_400_000
const origin = 'https://desk.example.com'

const good = issue({ host: 'desk.example.com', from: NOW - DAY_MS, to: NOW + 90 * DAY_MS })
const other = issue({ host: 'desk.example.com', from: NOW - DAY_MS, to: NOW + 90 * DAY_MS })
const expired = issue({ host: 'desk.example.com', from: NOW - 90 * DAY_MS, to: NOW - DAY_MS })
const early = issue({ host: 'desk.example.com', from: NOW + DAY_MS, to: NOW + 90 * DAY_MS })
const encrypted = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
}).privateKey
const weak = issue({ host: 'desk.example.com', from: NOW - DAY_MS, to: NOW + DAY_MS, rsaBits: 512 })

const [certificate, key] = [join(folder.path, 'chain.pem'), join(folder.path, 'key.pem')]
const files = { certificate, key }

/** Writes the two files of a certificate. A file whose text is undefined is not written. */
function write(cert: string | undefined, secret: string | undefined, mode = 0o600): void {
  folder.write('chain.pem', cert ?? '', 0o644)
  folder.write('key.pem', secret ?? '', mode)
}

function failure(): CertificateError {
  try {
    validCertificate(files, origin, NOW)
  } catch (error) {
    if (error instanceof CertificateError) return error
    throw error
  }
  throw new Error('expected the certificate to be refused')
}

const yaml = `service: sandbox
desk:
  origin: ${origin}
  tls:
    certificate: chain.pem
    key: key.pem
bots: [{ name: a, strategy: dip-buyer }]
`

/** Returns the place and the message of each error that `check` prints. */
async function checked(): Promise<string[]> {
  folder.write('desk.yaml', yaml)
  const result = await loadConfig(['desk.yaml'], { cwd: folder.path, certificateAt: NOW })
  return result.ok ? [] : result.errors.map(({ line, path, message }) => `${line} ${path}: ${message}`)
}

const damaged = good.cert.replace(/\n.{20}/, `\n${'A'.repeat(20)}`)

test.each<[string, string | undefined, string | undefined, 'certificate' | 'key', RegExp]>([
  [
    'garbage as certificate',
    'hello',
    good.key,
    'certificate',
    /contains no certificate in PEM .*: name the file of the chain/,
  ],
  ['an empty certificate', '', good.key, 'certificate', /contains no certificate in PEM/],
  ['a damaged certificate', damaged, good.key, 'certificate', /the certificate is damaged: copy the file again/],
  [
    'a certificate file and a key file that are exchanged',
    good.key,
    good.cert,
    'certificate',
    /contains a private key and no certificate: exchange/,
  ],
  [
    'an expired certificate',
    expired.cert,
    expired.key,
    'certificate',
    /expired at 2026-11-22 00:00 UTC: renew it; --no-desk starts without/,
  ],
  [
    'a certificate that becomes valid tomorrow',
    early.cert,
    early.key,
    'certificate',
    /is valid from 2026-11-24 00:00 UTC on: check the clock/,
  ],
  [
    'a key that belongs to another certificate',
    good.cert,
    other.key,
    'key',
    /the key does not belong to the first certificate of .*chain\.pem: name the two/,
  ],
  [
    'a certificate chain in the wrong order',
    other.cert + good.cert,
    good.key,
    'key',
    /the certificate of the server comes first in its chain/,
  ],
  [
    'a chain in which the certificate of the issuer is damaged',
    good.cert + damaged,
    good.key,
    'certificate',
    /TLS refuses the certificate or its key \(.*\): have another one issued/,
  ],
  [
    'a key file without a key',
    good.cert,
    'hello',
    'key',
    /contains no private key in PEM .*: name the file of the key/,
  ],
  ['a damaged key', good.cert, good.key.replace(/\n.{20}/, `\n${'A'.repeat(20)}`), 'key', /the private key is damaged/],
  ['an encrypted key', good.cert, encrypted, 'key', /the key is encrypted: write it without a passphrase/],
  [
    'a key that is too weak',
    weak.cert,
    weak.key,
    'certificate',
    /TLS refuses the certificate or its key \(.*key too small\): have another one issued/,
  ],
  ['a certificate file that is too long', 'A'.repeat(300_000), good.key, 'certificate', /is longer than 256 KiB/],
])('%s is refused with exit code 2, and `check` reports the same', async (_name, cert, secret, at, problem) => {
  write(cert, secret)
  const error = failure()
  expect(error).toMatchObject({ at, exitCode: ExitCode.usage, message: expect.stringMatching(problem) })
  expect(error.message).toContain(`desk.tls.${at}: ${files[at]}: `)
  expect(error.message).not.toContain('\n')
  expect(await checked()).toEqual([`${at === 'certificate' ? 5 : 6} desk.tls.${at}: ${error.problem}`])
})

test('a certificate or key is refused if its file is missing, is a folder, or can be read by others', () => {
  write(good.cert, good.key)
  const problem = (change: Partial<typeof files>): string => {
    try {
      validCertificate({ ...files, ...change }, origin, NOW)
      return ''
    } catch (error) {
      return `${(error as CertificateError).exitCode} ${(error as Error).message}`
    }
  }
  expect(problem({ certificate: '/nowhere/chain.pem' })).toBe(
    '2 desk.tls.certificate: /nowhere/chain.pem: no such file: correct the path, or copy the file there',
  )
  expect(problem({ key: join(key, 'key.pem') })).toMatch(/^2 .*no such file/)
  mkdirSync(join(folder.path, 'folder'))
  expect(problem({ certificate: join(folder.path, 'folder') })).toMatch(/is not a file: name a file in PEM$/)
  for (const mode of [0o644, 0o604, 0o660]) {
    chmodSync(key, mode)
    expect(problem({})).toMatch(/^4 desk\.tls\.key: .*others can read the key \(mode 06[046][04]\); run: chmod 600 '/)
  }
  chmodSync(key, 0o640)
  expect(problem({})).toBe('')
})

test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
  'a key file that the user may not read is refused',
  () => {
    write(good.cert, good.key, 0o200)
    expect(failure()).toMatchObject({ at: 'key', message: expect.stringContaining('may not read the file') })
  },
)

test('a certificate for another host name is accepted, and `check` warns about it', async () => {
  write(good.cert, good.key)
  expect(await checked()).toEqual([])
  expect(validCertificate(files, origin, NOW).warning).toBeUndefined()
  expect(validCertificate(files, 'https://other.example.com', NOW).warning).toMatch(
    /chain\.pem: the certificate is not for other\.example\.com, so browsers refuse it: have one issued for that name/,
  )
  const address = issue({ host: '10.0.0.2', from: NOW - 1, to: NOW + DAY_MS })
  write(address.cert, address.key)
  expect(validCertificate(files, 'https://10.0.0.2:8443', NOW).warning).toBeUndefined()
  expect(validCertificate(files, 'https://[::1]:8443', NOW).warning).toMatch('is not for ::1')
  folder.write('desk.yaml', yaml)
  const result = await loadConfig(['desk.yaml'], { cwd: folder.path, certificateAt: NOW })
  expect(result).toMatchObject({ ok: true, config: { warnings: [{ line: 5, path: 'desk.tls.certificate' }] } })
})

test('an expired certificate of the issuer is a warning and no error, because a browser may have a newer one', () => {
  write(good.cert + other.cert, good.key)
  expect(validCertificate(files, origin, NOW).warning).toBeUndefined()
  write(good.cert + other.cert + expired.cert, good.key)
  expect(validCertificate(files, origin, NOW).warning).toMatch(
    /chain\.pem: certificate 3 of the chain expired at 2026-11-22 00:00 UTC, so browsers may refuse the desk: have the whole/,
  )
})
