// Draws docs/desk/token.png, the picture of a token in the documents. It runs the demo and shows the token that the
// bots traded most, with bars that one of the bots declares. `npm run desk-picture -- [--seconds 240]`
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { FillsAnswer } from '../../../src/desk/api/types.ts'
import { sendCommand } from '../../../src/live/control/client.ts'
import { launch as launchSluice } from '../../e2e/process.ts'
import { until } from '../../e2e/until.ts'
import { CHROMIUM, launch, NO_CHROMIUM, WatchedPage } from './browser.ts'

const PICTURE = fileURLToPath(new URL('../../../docs/desk/token.png', import.meta.url))

/** Returns the mint with a symbol and the most fills; of several such mints, the one that was traded last. */
function mostTraded({ fills }: FillsAnswer): string {
  const counts = new Map<string, number>()
  for (const { mint, symbol } of fills) if (symbol !== '') counts.set(mint, (counts.get(mint) ?? 0) + 1)
  const [[mint = ''] = []] = [...counts].sort(([, one], [, other]) => other - one)
  return mint
}

async function draw(journal: string, seconds: number): Promise<void> {
  const demo = launchSluice(['demo', '--desk', '--journal', journal])
  const browser = await launch()
  try {
    await until('the desk', () => demo.stderr.includes('"desk":"http'))
    await sleep(seconds * 1_000)
    const { url } = (await sendCommand(journal, { command: 'desk-link', readOnly: false, name: '' })) as { url: string }
    const { origin } = new URL(url)
    const { page } = await WatchedPage.open(browser, origin, { viewport: { width: 1400, height: 900 } })
    await page.goto(url)
    await page.getByRole('button', { name: 'Log in to this desk' }).click()
    await page.waitForSelector('.vitals')
    const fills = (await page.evaluate('fetch("/api/fills?limit=500").then((answer) => answer.json())')) as FillsAnswer
    await page.goto(`${origin}/#/token/${mostTraded(fills)}`)
    await page.getByRole('button', { name: '15 min' }).click()
    await page
      .getByRole('button', { name: / \(.*\)$/ })
      .first()
      .click()
    await page.locator('.chart.price[data-drawn] canvas').first().waitFor()
    await sleep(1_500)
    await page.screenshot({ path: PICTURE })
  } finally {
    await browser.close()
    demo.child.kill('SIGINT')
    await demo.ended
  }
}

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '240' } } })
if (CHROMIUM === undefined) console.error(NO_CHROMIUM)
else {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-picture-'))
  try {
    await draw(join(folder, 'demo.db'), Number(values.seconds))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
