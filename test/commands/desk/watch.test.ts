import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { called } from '../../e2e/called.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** Returns the address of a server on loopback that answers every request with this status. */
async function serving(status: number, asked: string[] = []): Promise<string> {
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(status).end()
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('`watch --once` requests each address once, or its /health if it has no path, and exits with 0 if all answer', async () => {
  const asked: string[] = []
  const [one, other] = [await serving(200, asked), await serving(200, asked)]
  const { code, stdout, stderr } = await called(['watch', one, `${other}/own/path`, '--once', '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(asked.toSorted()).toEqual(['GET /health', 'GET /own/path'])
  expect(JSON.parse(stdout).watched).toMatchObject([
    { url: `${one}/health`, isUp: true, reason: '' },
    { url: `${other}/own/path`, isUp: true },
  ])
})

test('`watch --once` exits with 1 if one address does not answer, and prints this address with the reason', async () => {
  const [up, down] = [await serving(200), await serving(503)]
  const { code, stderr } = await called(['watch', up, down, '--once'])
  expect(code).toBe(1)
  expect(stderr).toContain(`${new URL(down).host} is down: the process answers, but its bots do not run (503)`)
  expect(stderr).not.toContain(new URL(up).host)
})

test.each<[what: string, args: string[], text: string]>([
  ['`watch` without an address', [], "missing required argument 'url'"],
  ['`watch` with an address without encryption', ['http://desk.example.com'], 'expected https://, found http://'],
  ['`watch` with text that is not an address', ['desk'], 'expected an address that begins with https://'],
  [
    '`watch` with a file without alerts',
    ['https://desk.example.com', '--alerts', 'empty.yaml'],
    'empty.yaml has neither a section alerts nor a section telegram',
  ],
  ['`watch` with a file that has an error', ['https://desk.example.com', '--alerts', 'wrong.yaml'], 'wrong.yaml:1:'],
])('%s exits with 2', async (_what, args, text) => {
  folder.write('empty.yaml', 'journal: { path: x.db }\n')
  folder.write('wrong.yaml', 'alert: { url: env:HOOK }\n')
  const { code, stderr } = await called(['watch', ...args], folder.path)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) })
})
