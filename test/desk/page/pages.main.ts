// Opens every page of the desk and carries out every action in Chromium, at two widths, light and dark. `--pictures
// FOLDER` writes pictures of the pages, too. `--only TEXT,TEXT` runs only the parts whose names contain one of these
// texts.
import { strict as assert } from 'node:assert'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { CHROMIUM, launch, NO_CHROMIUM, WatchedPage } from './browser.ts'
import { FixtureDesk } from './fixture-server.ts'
import { plantedProblems } from './planted.ts'
import { mintOf, NOW, SMALL } from './recorded-desk.ts'

const WIDTHS = [380, 1400]
const SCHEMES = ['light', 'dark'] as const
const ROUTES: readonly (readonly [route: string, awaited: string])[] = [
  ['overview', 'table[aria-label="Positions"]'],
  ['bots', 'table[aria-label="Bots"]'],
  ['bots/momentum', '.chart[data-drawn] canvas'],
  ['positions', 'table[aria-label="Positions"]'],
  ['orders', 'table[aria-label="Past orders"]'],
  [`token/${mintOf(0)}`, '.chart.price[data-drawn] canvas'],
  ['money', '.chart[data-drawn] canvas'],
  ['log', '.log[aria-label="Log, newest first"] li'],
  ['results', 'table[aria-label="Backtests and sweeps"]'],
  ['results/momentum-2026-11-20', 'iframe'],
  ['about', 'table[aria-label="Sessions"]'],
]

interface Trial {
  readonly browser: Browser
  readonly desk: FixtureDesk
  readonly url: string
}

async function open(
  { browser, url }: Trial,
  width: number,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<WatchedPage> {
  return WatchedPage.open(browser, url, { viewport: { width, height: 900 }, colorScheme })
}

/** Returns the defects of the page. Each one names its element. */
function inspect(): string[] {
  const found: string[] = []
  const named = (element: Element): string => `${element.tagName.toLowerCase()} ${element.outerHTML.slice(0, 120)}`
  if (document.documentElement.scrollWidth > innerWidth)
    found.push(`the page is ${document.documentElement.scrollWidth} px wide`)
  for (const word of ['undefined', 'NaN', '[object', 'null'])
    if (document.body.innerText.includes(word)) found.push(`the text of the page contains "${word}"`)
  for (const element of document.querySelectorAll('a[href], button, input, select, iframe, [role=img]')) {
    const label =
      element.getAttribute('aria-label') ?? element.getAttribute('title') ?? element.closest('label')?.textContent
    if (`${label ?? ''}${element.textContent ?? ''}`.trim() === '') found.push(`no name: ${named(element)}`)
  }
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
  if (new Set(ids).size !== ids.length) found.push(`an id occurs twice: ${ids.join()}`)
  const rgb = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number)
  const light = (color: number[]): number => {
    const [r, g, b] = color.map((part) =>
      part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    )
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  }
  const groundOf = (element: Element): number[] => {
    for (let at: Element | null = element; at !== null; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor)
      if ((color[3] ?? 1) === 1) return color.slice(0, 3)
    }
    return [255, 255, 255]
  }
  for (const element of document.querySelectorAll('body *')) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim() !== '')
    if (!isText || element.closest('[disabled], .hidden, .skip, .chart') !== null || element.tagName === 'OPTION')
      continue
    const [one, other] = [light(rgb(getComputedStyle(element).color).slice(0, 3)), light(groundOf(element))]
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
    if (contrast < 4.5) found.push(`contrast ${contrast.toFixed(2)}: ${named(element)}`)
  }
  return found
}

async function everyPage(trial: Trial, pictures: string | undefined): Promise<void> {
  for (const width of WIDTHS)
    for (const scheme of SCHEMES) {
      const watched = await open(trial, width, scheme)
      for (const [route, awaited] of ROUTES) {
        await watched.go(route)
        await watched.page.waitForSelector(awaited)
        assert.deepEqual(await watched.page.evaluate(inspect), [], `${route} at ${width} px, ${scheme}`)
        if (pictures === undefined) continue
        const name = route.startsWith('token') ? 'token' : route.replaceAll('/', '-')
        await watched.page.waitForTimeout(500)
        await watched.page.screenshot({ path: join(pictures, `${name}-${width}-${scheme}.png`) })
      }
      assert.deepEqual(watched.problems, [])
      await watched.close()
    }
}

async function everyAction(trial: Trial): Promise<void> {
  const { desk } = trial
  const token = `token/${mintOf(0)}`
  const buttons: readonly (readonly [route: string, button: string, asked: object])[] = [
    ['overview', 'Halt', { action: 'halt' }],
    ['overview', 'Resume', { action: 'resume' }],
    ['overview', 'Flatten', { action: 'flatten' }],
    ['positions', 'Sell MOONCAT of dips', { action: 'sell', mint: mintOf(0), bot: 'dips' }],
    ['orders', 'Cancel o299', { action: 'cancel', order: 'o299' }],
    [token, 'Sell MOONCAT of dips', { action: 'sell', mint: mintOf(0), bot: 'dips' }],
    [token, 'Buy', { action: 'buy', mint: mintOf(0), bot: 'momentum', sol: 0.1 }],
  ]
  for (const width of WIDTHS) {
    const watched = await open(trial, width)
    const { page } = watched
    for (const [route, button, asked] of buttons) {
      await watched.go(route)
      const { action } = asked as { action: string }
      if (button === 'Buy') await page.getByRole('spinbutton', { name: 'SOL' }).fill('0.1')
      for (const isConfirmed of [false, true]) {
        desk.posts.length = 0
        await page.getByRole('button', { name: button, exact: true }).first().click()
        await page.getByText(`${action}: this is what would happen`).waitFor()
        assert.deepEqual(desk.posts, [{ path: '/api/actions/preview', body: asked }])
        if (action === 'flatten') await page.getByText('Warning: 6 positions').waitFor()
        if (isConfirmed) {
          await page.locator('dialog button.strong').click()
          await page.getByText('done with nonce-1').waitFor()
          assert.deepEqual(desk.posts[1], { path: '/api/actions/confirm', body: { nonce: 'nonce-1' } })
          await page.getByRole('button', { name: 'Close' }).click()
        } else await page.getByRole('button', { name: 'Do nothing' }).click()
        await page.locator('dialog').waitFor({ state: 'detached' })
        assert.equal(desk.posts.length, isConfirmed ? 2 : 1, `${button}: posts`)
      }
    }
    assert.deepEqual(watched.problems, [])
    await watched.close()
  }
}

/** Tests Halt, Resume and Flatten of a single wallet: each asks once for a confirmation that names this wallet. */
async function everyWallet(trial: Trial, pictures: string | undefined): Promise<void> {
  const { desk } = trial
  for (const isHostile of [false, true])
    for (const width of WIDTHS)
      for (const scheme of SCHEMES) {
        desk.size = { ...SMALL, hasWallets: true, isHostile }
        const watched = await open(trial, width, scheme)
        const { page } = watched
        for (const route of ['overview', 'bots', 'positions']) {
          await watched.go(route)
          await page.waitForSelector(route === 'overview' ? 'table[aria-label="Wallets"]' : 'main table')
          assert.deepEqual(await page.evaluate(inspect), [], `${route} with wallets at ${width} px, ${scheme}`)
        }
        await watched.go('overview')
        const wallets = page.getByRole('table', { name: 'Wallets' })
        assert.equal(
          await wallets.getByRole('row').count(),
          5,
          'the table must have five rows: a heading, three wallets, and the sum of two wallets',
        )
        if (isHostile) {
          await watched.close()
          continue
        }
        await wallets.getByText('all 2 wallets (live)').waitFor()
        if (pictures !== undefined)
          await page.screenshot({ path: join(pictures, `wallets-${width}-${scheme}.png`), fullPage: true })
        for (const [action, text] of [
          ['halt', 'Halt'],
          ['resume', 'Resume'],
          ['flatten', 'Flatten'],
        ] as const) {
          desk.posts.length = 0
          await page.getByRole('button', { name: `${text} the wallet side` }).click()
          await page.getByRole('heading', { name: `${text} in the wallet side` }).waitFor()
          await page.getByText(`${action}: this is what would happen`).waitFor()
          await page.locator('dialog button.strong').click()
          await page.getByText('done with nonce-1').waitFor()
          const asked = { path: '/api/actions/preview', body: { action, wallet: 'side' } }
          assert.deepEqual(desk.posts, [asked, { path: '/api/actions/confirm', body: { nonce: 'nonce-1' } }])
          await page.getByRole('button', { name: 'Close' }).click()
          await page.locator('dialog').waitFor({ state: 'detached' })
        }
        assert.deepEqual(watched.problems, [])
        await watched.close()
      }
  desk.size = SMALL
}

async function refusedAndExpired(trial: Trial): Promise<void> {
  const { desk } = trial
  const watched = await open(trial, 380)
  const { page } = watched
  watched.expect(422)
  await watched.go(`token/${mintOf(0)}`)
  await page.getByRole('spinbutton', { name: 'SOL' }).fill('9')
  await page.getByRole('button', { name: 'Buy', exact: true }).click()
  await page.getByText('the plan allows buys of at most 5 SOL').waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  desk.nonceMs = 1_500
  desk.posts.length = 0
  await page.getByRole('button', { name: 'Halt' }).click()
  await page.getByRole('button', { name: 'The preview has expired: request a new one' }).click()
  await page.locator('dialog button.strong').waitFor()
  assert.deepEqual(
    desk.posts.map(({ path }) => path),
    ['/api/actions/preview', '/api/actions/preview'],
  )
  desk.nonceMs = 60_000
  assert.deepEqual(watched.problems, [])
  await watched.close()
}

async function keyboard(trial: Trial): Promise<void> {
  const { desk } = trial
  const watched = await open(trial, 1400)
  const { page } = watched
  await watched.go('overview')
  await page.keyboard.press('Tab')
  assert.equal(await focused(page), 'Skip to the content')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'content')
  for (const [key, title] of [
    ['2', 'Bots'],
    ['3', 'Positions'],
    ['4', 'Open orders'],
    ['6', 'Equity'],
    ['7', 'Log'],
    ['8', 'Backtests and sweeps'],
    ['9', 'Sessions'],
  ]) {
    await page.keyboard.press(key as string)
    await page.getByRole('heading', { name: title as string, exact: true }).waitFor()
  }
  await page.keyboard.press('t')
  await page.waitForFunction(() => document.activeElement?.id === 'mint')
  await page.keyboard.type(`h2${mintOf(1)}`)
  assert.equal(await page.locator('dialog').count(), 0, 'a keyboard shortcut must not work in a text field')
  await page.keyboard.press('Control+a')
  await page.keyboard.type(mintOf(1))
  desk.push({ set: { planNotice: 'a change of the view keeps the text in a field' } })
  await page.getByText('a change of the view keeps').waitFor()
  assert.equal(await page.locator('#mint').inputValue(), mintOf(1))
  await page.keyboard.press('Enter')
  await page.waitForFunction((mint) => location.hash === `#/token/${mint}`, mintOf(1))
  await page.getByText('Why is this token held').waitFor()
  await page.locator('main').focus()
  await page.keyboard.press('?')
  await page.getByText('halt: stop entries (asks first)').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  desk.posts.length = 0
  await page.keyboard.press('h')
  await page.locator('dialog button.strong').waitFor()
  assert.equal(await focused(page), 'Do nothing', 'the next Enter must not confirm the question')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('done with nonce-1').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('d')
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'light')
  await page.keyboard.press('d')
  await page.waitForFunction(() => getComputedStyle(document.documentElement).backgroundColor === 'rgb(19, 21, 23)')
  assert.deepEqual(watched.problems, [])
  await watched.close()
}

function focused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.activeElement?.textContent?.trim())
}

async function explained(trial: Trial): Promise<void> {
  const watched = await open(trial, 1400)
  const { page } = watched
  await watched.go(`token/${mintOf(0)}`)
  const chart = page.locator('.chart.price[data-drawn]')
  await chart.waitFor()
  const box = await chart.boundingBox()
  assert(box !== null)
  // Opens the newest fill from the list, then from the chart: tries every 4 px of its column until a mark reacts.
  await page
    .getByRole('button', { name: /bought for 0.0500 SOL/ })
    .first()
    .click()
  await page.getByText('decided', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  const isOpen = async (): Promise<boolean> => (await page.locator('dialog').count()) > 0
  let x = box.x + 20
  for (; x < box.x + box.width - 80 && !(await isOpen()); x += 10)
    for (let y = box.y + 20; y < box.y + box.height - 40 && !(await isOpen()); y += 22) await page.mouse.click(x, y)
  assert(await isOpen(), 'a click on a mark of the chart opens its explanation')
  assert.deepEqual(watched.problems, [])
  await watched.close()
}

/** Tests that the list of a bot's refusals can be limited to one code. */
async function refusalsWithACode(trial: Trial): Promise<void> {
  for (const width of WIDTHS) {
    const watched = await open(trial, width)
    const { page } = watched
    await watched.go('bots/momentum')
    const table = page.getByRole('table', { name: 'Refusals', exact: true })
    const codes = async (): Promise<string[]> => [...new Set(await table.locator('code').allTextContents())].sort()
    await table.locator('code').first().waitFor()
    assert.deepEqual(await codes(), ['POSITIONS_LIMIT', 'TOKEN_TOO_YOUNG'])
    const filter = page.getByRole('region', { name: 'Refusals', exact: true }).getByRole('combobox')
    await filter.selectOption('POSITIONS_LIMIT')
    // While the page waits for the answer, it shows no table.
    await table.getByText('TOKEN_TOO_YOUNG').first().waitFor({ state: 'detached' })
    await table.getByText('POSITIONS_LIMIT').first().waitFor()
    assert.deepEqual(await codes(), ['POSITIONS_LIMIT'])
    await filter.selectOption('LIMIT_WAIT')
    await page.getByText('No refusal of this bot has this code.').waitFor()
    await filter.selectOption('all')
    await table.getByText('TOKEN_TOO_YOUNG').first().waitFor()
    assert.deepEqual(watched.problems, [])
    await watched.close()
  }
}

/** Tests that every refusal, wherever a page shows it, opens its own explanation. */
async function explainedRefusals(trial: Trial): Promise<void> {
  for (const width of WIDTHS) {
    const watched = await open(trial, width)
    const { page } = watched
    const opens = async (id: string): Promise<void> => {
      await page.getByRole('heading', { name: `${id}: request of dips refused` }).waitFor()
      await page.getByRole('button', { name: 'Close', exact: true }).click()
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    await watched.go(`token/${mintOf(0)}`)
    await page.waitForSelector('.chart.price[data-drawn] canvas')
    for (const [name, id] of [
      [/positions limit \(12 times\)/, 'd812.1'],
      [/token too young/, 'd955.0'],
    ] as const) {
      await page.getByRole('button', { name }).click()
      await opens(id)
    }
    for (const [id, share] of [
      ['d812.1', 0.6],
      ['d955.0', 0.9],
    ] as const) {
      await clickMark(page, id, share)
      await opens(id)
    }
    for (const [route, id] of [
      ['bots/momentum', 'd9000.0'],
      ['bots/momentum', 'd8999.0'],
      ['log', 'd1204113.0'],
      ['log', 'd1204033.0'],
    ] as const) {
      await watched.go(route)
      await page.getByRole('button', { name: `Why ${id}` }).click()
      await opens(id)
    }
    await watched.go('orders')
    await page.getByRole('button', { name: 'Why o295', exact: true }).click()
    await page.getByText('decided', { exact: true }).waitFor()
    assert.deepEqual(watched.problems, [])
    await watched.close()
  }
}

/** Width of the scale at the right of the chart, with the margin after the last price, px. */
const SCALE_WIDTH = 132

/**
 * Moves over the token's chart, about where a mark at this share of the time axis must be, and clicks where the cursor
 * is a pointer, until the explanation of this refusal opens. A click that opens another explanation closes it again.
 */
async function clickMark(page: Page, id: string, share: number): Promise<void> {
  const chart = page.locator('.chart.price[data-drawn]')
  await chart.scrollIntoViewIfNeeded()
  const box = await chart.boundingBox()
  assert(box !== null)
  const isOverMark = (): Promise<boolean> =>
    chart.evaluate((element) =>
      [...element.querySelectorAll('*')].some((part) => (part as HTMLElement).style?.cursor === 'pointer'),
    )
  const middle = box.x + share * (box.width - SCALE_WIDTH)
  for (const x of [0, -10, 10, -20, 20].map((distance) => middle + distance))
    for (let y = box.y + 10; y < box.y + box.height - 30; y += 18) {
      await page.mouse.move(x, y)
      if (!(await isOverMark())) continue
      await page.mouse.click(x, y)
      await page.locator('dialog[open]').waitFor()
      if ((await page.locator(`dialog[aria-label="Why ${id}"]`).count()) > 0) return
      await page.getByRole('button', { name: 'Close', exact: true }).click()
      await page.locator('dialog').waitFor({ state: 'detached' })
      // The library takes a second click within half a second for a double click.
      await page.waitForTimeout(600)
    }
  assert.fail(`no click on the chart opens the explanation of ${id}`)
}

async function hostileNames(trial: Trial): Promise<void> {
  const { desk } = trial
  desk.size = { ...SMALL, isHostile: true }
  for (const width of WIDTHS) {
    const watched = await open(trial, width)
    for (const [route, awaited] of ROUTES) {
      await watched.go(route)
      await watched.page.waitForSelector(awaited)
      assert.equal(await watched.page.title(), 'Sluice', route)
      assert.equal(await watched.page.locator('img, script:not([src])').count(), 0, route)
      assert.deepEqual(await watched.page.evaluate(inspect), [], `${route} at ${width} px with hostile names`)
      const text = await watched.page.evaluate(() => document.body.innerText)
      assert.match(text, /<img src=x/, `${route}: the name is shown as text`)
      assert(!text.includes('\u202e') && !text.includes('\u0000'), `${route}: hidden characters are escaped`)
    }
    assert.deepEqual(watched.problems, [])
    await watched.close()
  }
  desk.size = SMALL
}

async function lostConnection(trial: Trial): Promise<void> {
  const { desk } = trial
  const watched = await open(trial, 380)
  const { page } = watched
  watched.expect(0, 401)
  await watched.go('positions')
  desk.isUp = false
  desk.cut()
  await page.getByText(/The connection is lost; the page tries again. This page shows the state of \d+ s ago/).waitFor()
  assert.equal(await page.locator('.desk.stale').count(), 1, 'the page must be grey while the connection is lost')
  assert.equal(await page.getByRole('button', { name: 'Halt' }).isDisabled(), true)
  desk.isUp = true
  await page.locator('.desk:not(.stale)').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Halt' }).isDisabled(), false)
  desk.isLoggedOut = true
  desk.cut()
  await page.getByText(/The session has ended. This page shows/).waitFor()
  desk.isLoggedOut = false
  assert.deepEqual(watched.problems, [])
  await watched.close()
}

async function onlyReading(trial: Trial): Promise<void> {
  const { desk } = trial
  for (const name of ['readOnly', 'isRecorded'] as const) {
    desk[name] = true
    const watched = await open(trial, 1400)
    await watched.go('positions')
    await watched.page.getByText('read-only').waitFor()
    assert.equal(await watched.page.getByRole('button', { name: 'Sell MOONCAT of dips' }).isDisabled(), true)
    assert.equal(await watched.page.getByRole('button', { name: 'Halt' }).count(), 0)
    await watched.page.keyboard.press('h')
    assert.equal(await watched.page.locator('dialog').count(), 0)
    await watched.close()
    desk[name] = false
  }
}

async function followsChanges(trial: Trial): Promise<void> {
  const { desk } = trial
  const watched = await open(trial, 1400)
  const { page } = watched
  await watched.go('log')
  await page.waitForSelector('.log li')
  const line = {
    time: NOW,
    seq: 9_999_999,
    n: 0,
    level: 'error',
    bot: 'dips',
    mint: '',
    decision: '',
    code: 'DISK_FULL',
  } as const
  desk.log([{ ...line, text: 'the disk is full' }])
  await page.getByText('the disk is full').waitFor()
  const alert = { time: NOW, level: 'alert', kind: 'key-refused', bot: '', text: 'the key was refused' } as const
  desk.push({ set: { notices: [alert] }, openOrders: { o301: null } })
  const notices = page.getByRole('list', { name: 'Alerts and warnings of the process, newest first' })
  await notices.getByText('the key was refused').waitFor()
  await page.getByText('loss-limit 2; the webhook did not receive 1').waitFor()
  await watched.go('orders')
  await page.getByText('block 61 of 151').waitFor()
  assert.deepEqual(watched.problems, [])
  await watched.close()
}

/** Tests the button "Older": it adds the next older rows at the end of a list, until all rows are shown, each once. */
async function olderRows(trial: Trial): Promise<void> {
  const { desk } = trial
  desk.size = { ...SMALL, trades: 250 }
  for (const width of WIDTHS) {
    const watched = await open(trial, width)
    const { page } = watched
    for (const [route, list, button] of [
      ['orders', 'table[aria-label="Past orders"] tbody tr', 'Older orders'],
      ['bots/momentum', 'table[aria-label="Round trips"] tbody tr', 'Older round trips'],
      ['log', '.log[aria-label="Log, newest first"] li', 'Older lines'],
    ] as const) {
      await watched.go(route)
      const rows = page.locator(list)
      const shown: string[][] = []
      for (const count of [100, 200, 250]) {
        await rows.nth(count - 1).waitFor()
        shown.push(await rows.allInnerTexts())
        assert.equal(shown.at(-1)?.length, count, `${route}: rows`)
        const more = page.getByRole('button', { name: button })
        assert.equal(await more.count(), count === 250 ? 0 : 1, `${route}: the button after ${count} rows`)
        if (count < 250) await more.click()
      }
      const [first = [], second = [], all = []] = shown
      assert.deepEqual(
        [second.slice(0, 100), all.slice(0, 200)],
        [first, second],
        `${route}: the earlier rows must stay`,
      )
      assert.equal(new Set(all).size, 250, `${route}: every row must be shown once`)
      assert.deepEqual(await page.evaluate(inspect), [], `${route} with older rows at ${width} px`)
    }
    assert.deepEqual(watched.problems, [])
    await watched.close()
  }
  desk.size = SMALL
}

/** Tests the button "Older" while the journal cannot be read: the page shows the reason, and the button tries again. */
async function olderRowsFail(trial: Trial): Promise<void> {
  const { desk } = trial
  desk.size = { ...SMALL, trades: 250 }
  for (const width of WIDTHS) {
    const watched = await open(trial, width)
    const { page } = watched
    watched.expect(503)
    await watched.go('orders')
    const rows = page.locator('table[aria-label="Past orders"] tbody tr')
    await rows.nth(99).waitFor()
    desk.hasNoOlder = true
    await page.getByRole('button', { name: 'Older orders' }).click()
    await page.getByText('The older rows were not read: the journal is busy').waitFor()
    assert.equal(await rows.count(), 100, 'the rows that were read must stay')
    assert.deepEqual(await page.evaluate(inspect), [], `a failed list at ${width} px`)
    desk.hasNoOlder = false
    await page.getByRole('button', { name: 'Older orders: try again' }).click()
    await rows.nth(199).waitFor()
    assert.equal(await page.getByText('were not read').count(), 0)
    assert.deepEqual(watched.problems, [])
    await watched.close()
  }
  desk.size = SMALL
}

/** Tests that a user can end another session, after which only the own one is listed. */
async function revokedSession(trial: Trial): Promise<void> {
  const { desk } = trial
  for (const width of WIDTHS) {
    desk.ended.clear()
    const watched = await open(trial, width)
    const { page } = watched
    await watched.go('about')
    const sessions = page.getByRole('table', { name: 'Sessions' })
    await sessions.getByRole('row').nth(2).waitFor()
    assert.equal(await sessions.getByRole('row').count(), 3, 'a heading and two sessions')
    await page.getByRole('button', { name: 'Revoke tablet' }).click()
    await sessions.getByText('tablet').waitFor({ state: 'detached' })
    assert.deepEqual([...desk.ended], ['s2'])
    assert.equal(await sessions.getByRole('row').count(), 2)
    assert.deepEqual(watched.problems, [])
    await watched.close()
  }
  desk.ended.clear()
}

/** Tests that each chart of the equity says from when it contains the open positions. */
async function equityText(trial: Trial): Promise<void> {
  for (const width of WIDTHS) {
    const watched = await open(trial, width)
    for (const [route, text] of [
      ['money', /^Profit in SOL, with the open positions .* Only closed positions were recorded for: dips before /],
      ['bots/momentum', /^Profit in SOL, with the open positions [^.]* recorded once a minute\.$/],
      ['bots/dips', /^Profit of the closed positions in SOL. Only the last point also contains/],
    ] as const) {
      await watched.go(route)
      await watched.page.getByText(text).waitFor()
    }
    await watched.close()
  }
}

/** Tests that the page of a backtest shows the running bots next to it. */
async function liveBesideBacktest(trial: Trial): Promise<void> {
  for (const width of WIDTHS) {
    const watched = await open(trial, width)
    const { page } = watched
    await watched.go('results/momentum-2026-11-20')
    const textOf = async (label: string): Promise<string> =>
      (await page.locator(`table[aria-label="${label}"]`).innerText()).replaceAll(/\s+/g, ' ')
    assert.match(
      await textOf('Results of momentum'),
      /This journal Backtest net SOL 1\.0030 0\.9120 round trips 243 251/i,
    )
    assert.match(await textOf('Different conditions'), /strategy of momentum 3fa1 9c02/)
    await page.getByText('The journal covers 6 days, the backtest 4.').waitFor()
    assert.deepEqual(watched.problems, [])
    await watched.close()
  }
}

const { values } = parseArgs({ options: { pictures: { type: 'string' }, only: { type: 'string', default: '' } } })
if (CHROMIUM === undefined) console.error(NO_CHROMIUM)
else {
  if (values.pictures !== undefined) mkdirSync(values.pictures, { recursive: true })
  const desk = new FixtureDesk()
  const url = await desk.listen()
  const browser = await launch()
  const trial = { browser, desk, url }
  try {
    const parts: readonly (readonly [name: string, run: () => Promise<void>])[] = [
      ['every page at 380 and 1,400 px, light and dark', () => everyPage(trial, values.pictures)],
      ['every action asks for confirmation once', () => everyAction(trial)],
      ['wallets with names', () => everyWallet(trial, values.pictures)],
      ['refused and expired actions', () => refusedAndExpired(trial)],
      ['the keyboard', () => keyboard(trial)],
      ['fills open their explanation', () => explained(trial)],
      ['the list of refusals can be limited to one code', () => refusalsWithACode(trial)],
      ['each refusal opens its own explanation', () => explainedRefusals(trial)],
      ['hostile names', () => hostileNames(trial)],
      ['a lost connection and an ended session', () => lostConnection(trial)],
      ['read-only sessions and recorded journals', () => onlyReading(trial)],
      ['changes and log lines', () => followsChanges(trial)],
      ['older rows', () => olderRows(trial)],
      ['older rows that cannot be read', () => olderRowsFail(trial)],
      ['a revoked session', () => revokedSession(trial)],
      ['the limits of the equity', () => equityText(trial)],
      ['live beside backtest', () => liveBesideBacktest(trial)],
      [
        'a login removes the data that another program planted at this port',
        async () => assert.deepEqual(await plantedProblems(browser), []),
      ],
    ]
    for (const [name, run] of parts.filter(([name]) => values.only.split(',').some((text) => name.includes(text)))) {
      const start = Date.now()
      await run()
      console.log(`ok: ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`)
    }
  } finally {
    await browser.close()
    await desk.close()
  }
}
