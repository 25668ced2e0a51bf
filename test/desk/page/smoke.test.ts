import { expect, test, vi } from 'vitest'
import type { FromDesk } from '../../../src/desk/messages.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { recordedView } from '../../../src/runtime/view/recorded-view.ts'
import type { View } from '../../../src/runtime/view/view.ts'
import { DeskRig } from '../../support/desk-rig.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { tradedJournal } from '../../support/traded-journal.ts'
import { viewOf } from '../../support/view-sample.ts'
import { CHROMIUM, launch, NO_CHROMIUM, WatchedPage } from './browser.ts'

temporaryFolder()
if (CHROMIUM === undefined) console.error(NO_CHROMIUM)

type Call = Extract<FromDesk, { kind: 'call' }>

/** Returns the view of the run that recorded this journal, with a position that can be sold. */
function runningView(journal: string, mint: string): View {
  const reader = openReader(journal)
  const recorded = recordedView(reader, 'smoke.yaml')
  reader.close()
  const [position] = viewOf().positions
  return { ...recorded, source: 'running', positions: [{ ...(position as View['positions'][0]), mint }] }
}

function mintOfFill(journal: string): string {
  const reader = openReader(journal)
  const [fill] = reader.fills()
  reader.close()
  return fill?.mint as string
}

/** Waits until the desk asks the main thread for this step of an action, and answers as the main thread would. */
async function answerCall(rig: DeskRig, step: Call['step'], text: string): Promise<Call> {
  const isCall = (said: FromDesk): said is Call => said.kind === 'call' && said.step === step
  const call = await vi.waitFor(() => rig.said.find(isCall) ?? expect.fail(`no call: ${step}`), { timeout: 20_000 })
  rig.desk.take({ kind: 'answer', id: call.id, refused: false, text })
  return call
}

test.skipIf(CHROMIUM === undefined)(
  'in Chromium, at 380 px, a user logs in to the desk, sees a change, sells after one question, opens a chart and an explanation, and logs out',
  async () => {
    const journal = tradedJournal()
    const mint = mintOfFill(journal)
    const rig = await DeskRig.start({}, { journal, acts: true })
    const browser = await launch()
    try {
      const view = runningView(journal, mint)
      rig.now = view.time
      rig.desk.take({ kind: 'view', view })
      const watched = await WatchedPage.open(browser, rig.origin, { viewport: { width: 380, height: 800 } })
      const { page, problems } = watched
      await page.goto(`${rig.origin}/login?link=${rig.link(false, 'phone')}`)
      await page.getByRole('button', { name: 'Log in to this desk' }).click()
      await page.waitForSelector('.vitals')

      const wallets: View['wallets'] = [{ mode: 'paper', bots: ['dips'], solBalance: 1, positionsSol: 0.5 }]
      rig.desk.take({ kind: 'change', change: { from: view.id, id: `${view.id}0`, set: { wallets } } })
      await page.getByText('1.5000 SOL').waitFor()

      await page.getByRole('button', { name: /^Sell .* of dips$/ }).click()
      const { command } = await answerCall(rig, 'preview', 'All tokens are sold.')
      expect(command).toMatchObject({ command: 'sell', mint })
      await page.getByText('All tokens are sold.').waitFor()
      await page.getByRole('button', { name: /^Sell now/ }).click()
      expect((await answerCall(rig, 'carry out', 'selling')).by).toBe('phone')
      await page.getByText('selling', { exact: true }).waitFor()
      await page.keyboard.press('Escape')

      await watched.go(`token/${mint}`)
      await page.locator('.chart.price[data-drawn] canvas').first().waitFor()
      await page
        .getByRole('button', { name: /bought for/ })
        .first()
        .click()
      await page.getByText('decided', { exact: true }).waitFor()
      await page.keyboard.press('Escape')

      await watched.go('about')
      // After the logout, the desk closes the page's event stream. The browser's error about it is expected.
      watched.expect(0)
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByText('This desk needs a login.').waitFor()
      expect((await rig.ask({ path: '/api/me' })).status).toBe(401)
      expect(problems).toEqual([])
    } finally {
      await browser.close()
      await rig.close()
    }
  },
)
