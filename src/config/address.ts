export type SecureScheme = 'https' | 'wss'

const PLAIN = { https: 'http', wss: 'ws' } as const

/** Problem of an address that a key or an order is sent to; undefined if it is valid. Only loopback may be unencrypted.
 *  The text never repeats the address, which may contain a key. */
function addressProblem(text: string, scheme: SecureScheme): string | undefined {
  const url = URL.parse(text)
  const plain = PLAIN[scheme]
  if (!url?.host) return `expected an address that begins with ${scheme}://, as in ${scheme}://example.com`
  if (url.protocol === `${plain}:`) {
    return isLoopback(url.hostname) ? undefined : `expected ${scheme}://, found ${plain}:// (allowed for loopback only)`
  }
  return url.protocol === `${scheme}:` ? undefined : `expected ${scheme}://, found ${url.protocol}//`
}

/** Problem of an address in a configuration. Parts that may contain a secret are refused. */
export function openAddressProblem(text: string, scheme: SecureScheme): string | undefined {
  const problem = addressProblem(text, scheme)
  if (problem) return problem
  const { username, password, search, hash } = new URL(text)
  return username || password || search || hash
    ? 'expected an address without user, query or fragment: write a key as env:NAME or file:PATH under service.apiKey'
    : undefined
}

/** Whether the host is this machine. Depends on no name server. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** Problem of an RPC address that was read from its reference; undefined if it is valid. */
export function rpcAddressProblem(text: string): string | undefined {
  return addressProblem(text, 'https')
}

/** Whether the address is an RPC on this machine without a key. */
export function isOpenLoopback(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && isLoopback(url.hostname) && url.pathname === '/' && !openAddressProblem(text, 'https')
}
