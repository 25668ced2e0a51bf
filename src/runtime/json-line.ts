import type { Socket } from 'node:net'

/** A request is one line; a longer one is somebody else's protocol. */
const LONGEST_LINE = 256 * 1024

/** Reads the first line that comes; '' where the other side ends without one. Throws where it is too long, or the socket breaks. */
export async function readLine(socket: Socket, longest = LONGEST_LINE): Promise<string> {
  socket.setEncoding('utf8')
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk
    const end = text.indexOf('\n')
    if (end >= 0) return text.slice(0, end)
    if (text.length > longest) throw new Error('the line is too long')
  }
  return text
}
