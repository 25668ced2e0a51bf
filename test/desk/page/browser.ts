import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The Chromium of this machine; undefined if none is installed. The tests download no browser. */
export const CHROMIUM = PLACES.find((path) => existsSync(path))

export const NO_CHROMIUM =
  'SKIPPED: no Chromium is installed, so the page of the desk is not tested. Debian: apt-get install chromium'

export async function launch(...more: string[]): Promise<Browser> {
  // The sandbox of Chromium needs a user that is not root; the pages of these tests are our own.
  return chromium.launch({ executablePath: CHROMIUM as string, args: ['--no-sandbox', ...more] })
}

/** A browser page that records its problems. */
export class WatchedPage {
  readonly page: Page
  /** Errors and warnings of the console, exceptions, and requests to another host. */
  readonly problems: string[] = []
  readonly #url: string
  /** HTTP statuses that the test expects. The console errors about them count as no problem. */
  #expected: readonly number[] = []

  private constructor(page: Page, url: string) {
    this.page = page
    this.#url = url
    page.on('console', (message) => this.#note(message.type(), message.text()))
    page.on('pageerror', (error) => this.problems.push(`exception: ${error.message}`))
    page.on('request', (request) => {
      const asked = request.url()
      if (!asked.startsWith(url) && !asked.startsWith('data:')) this.problems.push(`request to ${asked}`)
    })
  }

  static async open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const context = await browser.newContext({ timezoneId: 'UTC', ...options })
    return new WatchedPage(await context.newPage(), url)
  }

  /** Opens a page of the desk. `route` is the part of the address after `#/`. */
  async go(route: string): Promise<void> {
    await this.page.goto(`${this.#url}/#/${route}`)
    await this.page.waitForSelector('.vitals')
  }

  expect(...statuses: number[]): void {
    this.#expected = statuses
  }

  async close(): Promise<void> {
    await this.page.context().close()
  }

  #note(type: string, text: string): void {
    const isExpected = this.#expected.some(
      (status) => text.includes(`${status}`) || (status === 0 && text.includes('net::ERR')),
    )
    if ((type === 'error' || type === 'warning') && !isExpected) this.problems.push(`${type}: ${text}`)
  }
}
