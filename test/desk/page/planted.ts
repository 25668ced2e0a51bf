import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { DeskRig } from '../../support/desk-rig.ts'

const FOREVER = { 'cache-control': 'max-age=31536000, immutable' }
const SCRIPT = '/app/planted.js'
const PAGE = `<!doctype html><title>planted</title><script src="${SCRIPT}"></script>`

/**
 * Simulates an attack: a program that used the desk's port earlier has planted a page in the browser. Then a user logs
 * in to the desk at this port. Returns one problem for each part of the planted page that still exists.
 */
export async function plantedProblems(browser: Browser): Promise<string[]> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const before = createServer(({ url }, answer) => {
    const [type, text] = url === SCRIPT ? ['text/javascript', 'localStorage.planted = 1'] : ['text/html', PAGE]
    answer.writeHead(200, { 'content-type': type, ...FOREVER }).end(text)
  })
  await new Promise<void>((resolve) => before.listen(0, '127.0.0.1', resolve))
  const { port } = before.address() as AddressInfo
  await page.goto(`http://127.0.0.1:${port}/`)
  before.closeAllConnections()
  await new Promise((resolve) => before.close(resolve))
  const rig = await DeskRig.start({ port })
  try {
    const problems: string[] = []
    await page.goto(`${rig.origin}/`)
    if ((await page.title()) !== 'planted')
      problems.push('the browser did not keep the planted page, so nothing is tested')
    await page.goto(`${rig.origin}/login?link=${rig.link()}`)
    await page.click('button')
    await page.waitForURL(`${rig.origin}/`)
    if ((await page.title()) !== 'Sluice') problems.push('after the login, the browser shows the planted page')
    if ((await page.evaluate('localStorage.getItem("planted")')) !== null)
      problems.push('after the login, the planted storage still exists')
    const kept = `fetch('${SCRIPT}', { cache: 'only-if-cached', mode: 'same-origin' }).then(({ ok }) => ok, () => false)`
    if (await page.evaluate(kept)) problems.push('after the login, the planted script is still in the cache')
    return problems
  } finally {
    await context.close()
    await rig.close()
  }
}
