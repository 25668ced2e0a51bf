export type SecureScheme = 'https' | 'wss'

const PLAIN = { https: 'http', wss: 'ws' } as const

/** What is wrong with the address of a host that we shall send a key or an order to, without repeating it; undefined
 *  when it is fine. Everything that leaves the machine is encrypted. */
function addressProblem(text: string, scheme: SecureScheme): string | undefined {
  const url = URL.parse(text)
  const plain = PLAIN[scheme]
  if (!url?.host) return `expected an address that begins with ${scheme}://`
  if (url.protocol === `${plain}:`) {
    return isLoopback(url.hostname)
      ? undefined
      : `expected ${scheme}://, found ${plain}:// (which is for loopback only)`
  }
  return url.protocol === `${scheme}:` ? undefined : `expected ${scheme}://, found ${url.protocol}//`
}

/** An address in a configuration holds no secret: what may carry one is refused. */
export function openAddressProblem(text: string, scheme: SecureScheme): string | undefined {
  const problem = addressProblem(text, scheme)
  if (problem) return problem
  const { username, password, search, hash } = new URL(text)
  return username || password || search || hash
    ? 'expected an address without user, query or fragment: a key does not belong into it'
    : undefined
}

/** Whether the host is this machine, whatever a name server says. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** What is wrong with an RPC address once it was read. */
export function rpcAddressProblem(text: string): string | undefined {
  return addressProblem(text, 'https')
}

/** An RPC on this machine that needs no key. */
export function isOpenLoopback(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && isLoopback(url.hostname) && url.pathname === '/' && !openAddressProblem(text, 'https')
}
