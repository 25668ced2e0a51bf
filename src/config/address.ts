export type SecureScheme = 'https' | 'wss'

const PLAIN = { https: 'http', wss: 'ws' } as const

/** Returns the problem of an address to which the process sends a key or an order; undefined if it is valid. Only an
 *  address of this machine may be unencrypted. The returned text never repeats the address, because it may contain a
 *  key. */
function addressProblem(text: string, scheme: SecureScheme): string | undefined {
  const url = URL.parse(text)
  const plain = PLAIN[scheme]
  if (!url?.host) return `expected an address that begins with ${scheme}://, as in ${scheme}://example.com`
  if (url.protocol === `${plain}:`) {
    return isLoopback(url.hostname) ? undefined : `expected ${scheme}://, found ${plain}:// (allowed for loopback only)`
  }
  return url.protocol === `${scheme}:` ? undefined : `expected ${scheme}://, found ${url.protocol}//`
}

/** Returns the problem of an address that is written in a configuration file; undefined if it is valid. An address with
 *  parts that may contain a secret is refused. */
export function openAddressProblem(text: string, scheme: SecureScheme): string | undefined {
  const problem = addressProblem(text, scheme)
  if (problem) return problem
  const { username, password, search, hash } = new URL(text)
  return username || password || search || hash
    ? 'expected an address without user, query or fragment: write a key as env:NAME or file:PATH under service.apiKey'
    : undefined
}

/** Returns the problem of the address at which browsers reach the desk (`desk.origin`); undefined if it is valid. */
export function originProblem(text: string): string | undefined {
  const problem = openAddressProblem(text, 'https')
  if (problem) return problem
  return new URL(text).pathname === '/' ? undefined : 'expected an address without a path, as in https://example.com'
}

/** Matches the name of a query parameter that probably contains a secret. */
const SECRET_PARAMETER = /key|token|secret|auth|pass|sign/i

/** Returns the problem of an address for public data that is written in a configuration file; undefined if it is
 *  valid. */
export function publicAddressProblem(text: string): string | undefined {
  const problem = addressProblem(text, 'https')
  if (problem) return `${problem}, or env:NAME or file:PATH`
  const { username, password, searchParams } = new URL(text)
  const isSecret =
    username !== '' || password !== '' || [...searchParams.keys()].some((name) => SECRET_PARAMETER.test(name))
  return isSecret ? 'the address seems to contain a key: write it as env:NAME or file:PATH' : undefined
}

/** Whether the host is this machine. Decides by the text alone, without a name server. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** Returns the problem of an RPC address that was read from its env: or file: reference; undefined if it is valid. */
export function rpcAddressProblem(text: string): string | undefined {
  return addressProblem(text, 'https')
}

/** Whether the address is that of an RPC on this machine and contains no key. */
export function isOpenLoopback(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && isLoopback(url.hostname) && url.pathname === '/' && !openAddressProblem(text, 'https')
}
