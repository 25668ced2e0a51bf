import { afterEach, expect, test, vi } from 'vitest'
import { failureOf, post } from '../../../src/desk/page/server.ts'

afterEach(() => vi.unstubAllGlobals())

const MAY_BE_DONE = /^The desk does not answer\. The action may have been carried out/

test.each<[string, () => Promise<Response>, RegExp]>([
  ['an action whose answer is lost', () => Promise.reject(new TypeError('network')), MAY_BE_DONE],
  [
    'an action whose answer is incomplete',
    async () => ({ text: () => Promise.reject(new Error('aborted')) }) as never,
    MAY_BE_DONE,
  ],
  [
    'an action that the desk refuses',
    async () => Response.json({ error: 'no such bot' }, { status: 409 }),
    /^no such bot$/,
  ],
])('for %s, the page shows a message about the possible effect', async (_what, fetch, text) => {
  vi.stubGlobal('fetch', fetch)
  const error = await post('/api/actions/confirm', { nonce: 'n' }).catch((error: unknown) => error)
  expect(failureOf(error)).toMatch(text)
})
