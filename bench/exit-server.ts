// A thread with a server that accepts POST requests, and that reports the path and the arrival time of each.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'
import { stampNow } from './frames.ts'

const server = createServer((request, response) => {
  parentPort?.postMessage({ path: request.url, at: stampNow() })
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage({ port: (server.address() as AddressInfo).port }))
