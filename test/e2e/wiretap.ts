import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'

// Loaded with --import into every process and thread of a run. Writes the target of each connection as a line into the
// file that SLUICE_E2E_WIRETAP names. Every client (undici, ws, Node's http and fetch) uses a Socket of node:net.
const require = createRequire(import.meta.url)
const file = process.env.SLUICE_E2E_WIRETAP as string

/** Wraps a function of a module so that every call is recorded, except calls for which `show` returns nothing. */
function tap(of: Record<string, unknown>, name: string, show: (args: unknown[]) => string): void {
  const original = of[name] as (...args: unknown[]) => unknown
  of[name] = function (this: unknown, ...args: unknown[]) {
    const line = show(args)
    if (line !== '') appendFileSync(file, `${line}\n`)
    return original.apply(this, args)
  }
}

/** Returns the target in the arguments of `connect`, which have three forms: normalized, options, or port and host. */
function target(args: unknown[]): string {
  const [first, second] = (Array.isArray(args[0]) ? args[0] : args) as [unknown, unknown]
  if (typeof first !== 'object' || first === null)
    return `connect ${typeof second === 'string' ? second : 'localhost'}:${first}`
  const { host, port, path } = first as { host?: string; port?: number; path?: string }
  return path === undefined ? `connect ${host ?? 'localhost'}:${port}` : `socket ${path}`
}

/** Returns the host name that DNS looks up; '' for a numeric address, which needs no lookup. */
function lookedUp([host]: unknown[]): string {
  return isIP(String(host)) === 0 ? `lookup ${host}` : ''
}

const net = require('node:net') as { Socket: { prototype: Record<string, unknown> } }
tap(net.Socket.prototype, 'connect', target)
const dgram = require('node:dgram') as { Socket: { prototype: Record<string, unknown> } }
for (const name of ['send', 'connect']) tap(dgram.Socket.prototype, name, () => `datagram ${name}`)
const dns = require('node:dns') as Record<string, unknown> & { promises: Record<string, unknown> }
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  tap(dns, name, lookedUp)
  tap(dns.promises, name, lookedUp)
}
