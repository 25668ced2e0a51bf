import { expect, test } from 'vitest'
import { CHROMIUM, launch, NO_CHROMIUM, WatchedPage } from './browser.ts'
import { FixtureDesk } from './fixture-server.ts'
import { mintOf } from './recorded-desk.ts'

if (CHROMIUM === undefined) console.error(NO_CHROMIUM)

test.skipIf(CHROMIUM === undefined)(
  'in Chromium, at 380 px, the desk shows the state, follows a change, draws a chart, and sells after one question',
  async () => {
    const desk = new FixtureDesk()
    const url = await desk.listen()
    const browser = await launch()
    try {
      const watched = await WatchedPage.open(browser, url, { viewport: { width: 380, height: 800 } })
      const { page, problems } = watched
      await watched.go('overview')
      expect(await page.locator('.vitals').innerText()).toContain('9.8334 SOL')

      desk.push({
        set: { fills: 567, wallets: [{ mode: 'paper', bots: ['momentum'], solBalance: 1, positionsSol: 0.5 }] },
      })
      await page.getByText('1.5000 SOL').waitFor()

      await page.getByRole('button', { name: 'Sell WIFROOF of momentum' }).click()
      await page.getByText('sell: this is what would happen').waitFor()
      await page.getByRole('button', { name: /^Sell now/ }).click()
      await page.getByText('done with nonce-1').waitFor()
      expect(desk.posts.map(({ body }) => body)).toEqual([
        { action: 'sell', mint: mintOf(1), bot: 'momentum' },
        { nonce: 'nonce-1' },
      ])
      await page.keyboard.press('Escape')

      await watched.go(`token/${mintOf(0)}`)
      await page.locator('.chart.price[data-drawn] canvas').first().waitFor()
      expect(problems).toEqual([])
    } finally {
      await browser.close()
      await desk.close()
    }
  },
)
