import { type ComponentChild, h } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Access } from './access-section.ts'
import { ActionDialog } from './action-dialog.ts'
import { Bots, OneBot } from './bots-section.ts'
import { readTheme, setTheme, type Theme } from './colors.ts'
import { ageText, printable } from './format.ts'
import { modeText, Notices, Vitals } from './header.ts'
import { SHORTCUTS, shortcutOf } from './keys.ts'
import { Log } from './log-section.ts'
import { Money } from './money-section.ts'
import { OpenOrders, OrdersPage } from './orders-section.ts'
import { Positions } from './positions-section.ts'
import { Results } from './results-section.ts'
import { addressOf, PAGES, type Page as PageName, RESULT_PAGES, type Route, routeOf, routeOfResults } from './route.ts'
import type { ActionRequest, Shown } from './shown.ts'
import { type Desk, type Link, type Store, useStore } from './store.ts'
import { TokenPage } from './token-section.ts'
import { Wallets } from './wallets-section.ts'
import { Dialog, type Question, WhyPanel } from './why-panel.ts'

const THEMES: readonly Theme[] = ['auto', 'light', 'dark']
const TICK_MS = 1_000
const FRAMES_AWAITED = 120

type Opened =
  | { readonly is: 'action'; readonly request: ActionRequest }
  | { readonly is: 'why'; readonly question: Question }
  | { readonly is: 'keys' }
  | null

export function App({ store }: { store: Store<Desk> }): ComponentChild {
  const desk = useStore(store)
  const asked = useRoute()
  const clock = useClock()
  const [theme, turn] = useTheme()
  const [opened, setOpened] = useState<Opened>(null)
  const { view, link, me } = desk
  const route = view?.source === 'results' ? routeOfResults(asked) : asked
  // This is a layout effect, because a later effect could close a dialog that a key has opened on the new page.
  useLayoutEffect(() => setOpened(null), [route.page, route.subject])
  const isLive = link.state === 'live'
  const canAct = isLive && me !== null && !me.readOnly && view?.source === 'running'
  const act = (request: ActionRequest): void => setOpened({ is: 'action', request })
  useKeys({ canAct, act, turn, isBusy: opened !== null, help: () => setOpened({ is: 'keys' }) })
  const now =
    view === null ? clock : view.time + (isLive && view.source === 'running' ? Math.max(0, clock - link.heardAt) : 0)
  const explain = (subject: string, bot = ''): void => setOpened({ is: 'why', question: { subject, bot } })
  const shown = view === null ? null : { ...{ view, now, canAct, act, explain } }
  return h(
    'div',
    { class: `desk ${isLive || link.state === 'connecting' ? '' : 'stale'}` },
    h('a', { class: 'skip', href: '#content', onClick: toContent }, 'Skip to the content'),
    h(TopBar, { desk, shown, clock, theme, turn, help: () => setOpened({ is: 'keys' }) }),
    h(Connection, { link, clock }),
    shown === null || view?.source === 'results'
      ? null
      : h('header', { class: 'state' }, h(Vitals, { shown }), h(Notices, { shown })),
    h(Tabs, { route, pages: view?.source === 'results' ? RESULT_PAGES : PAGES }),
    h(
      'main',
      { id: 'content', tabIndex: -1, 'aria-busy': shown === null },
      shown === null
        ? h('p', { class: 'empty' }, 'Waiting for the first state of the process…')
        : h(Page, { desk, shown, route, theme }),
    ),
    opened?.is === 'action'
      ? h(ActionDialog, { request: opened.request, clockAhead: now - clock, close: () => setOpened(null) })
      : null,
    opened?.is === 'why'
      ? h(WhyPanel, { key: opened.question.subject, question: opened.question, now, close: () => setOpened(null) })
      : null,
    opened?.is === 'keys' ? h(Keys, { close: () => setOpened(null) }) : null,
  )
}

function Page({
  desk,
  shown,
  route: { page, subject },
  theme,
}: {
  desk: Desk
  shown: Shown
  route: Route
  theme: Theme
}): ComponentChild {
  switch (page) {
    case 'overview':
      return h(
        'div',
        { class: 'stack' },
        h(Wallets, { shown }),
        h(Bots, { shown }),
        h(Positions, { shown }),
        h(OpenOrders, { shown }),
      )
    case 'bots':
      return subject === '' ? h(Bots, { shown }) : h(OneBot, { key: `${subject} ${theme}`, shown, name: subject })
    case 'positions':
      return h(Positions, { shown })
    case 'orders':
      return h(OrdersPage, { shown })
    case 'token':
      return h(TokenPage, { shown, mint: subject, theme })
    case 'money':
      return h(Money, { shown, theme })
    case 'log':
      return h(Log, { shown, news: desk.news })
    case 'results':
      return h(Results, { shown, run: subject })
    case 'about':
      return h(Access, { shown, me: desk.me })
  }
}

interface TopBarProps {
  readonly desk: Desk
  readonly shown: Shown | null
  readonly clock: number
  readonly theme: Theme
  readonly turn: () => void
  readonly help: () => void
}

function TopBar({ desk: { view, me }, shown, clock, theme, turn, help }: TopBarProps): ComponentChild {
  const button = (action: 'halt' | 'resume' | 'flatten', text: string): ComponentChild =>
    h(
      'button',
      { type: 'button', class: 'act', disabled: shown?.canAct !== true, onClick: () => shown?.act({ action }) },
      text,
    )
  const isReadOnly = me?.readOnly === true || (view !== null && view.source !== 'running')
  return h(
    'div',
    { class: 'top', role: 'banner' },
    h('h1', {}, 'Sluice'),
    h('span', { class: 'title' }, view === null ? '' : printable(view.title)),
    view === null ? null : h('span', { class: 'mode' }, modeText(view, clock)),
    h('span', { class: 'space' }),
    isReadOnly
      ? h('span', { class: 'quiet' }, 'read-only')
      : [button('halt', 'Halt'), button('resume', 'Resume'), button('flatten', 'Flatten')],
    h(
      'button',
      { type: 'button', 'aria-label': `Colours: ${theme}`, title: 'Light, dark, or as the system', onClick: turn },
      theme,
    ),
    h('button', { type: 'button', 'aria-label': 'Keys', title: 'Keys', onClick: help }, '?'),
  )
}

/** Shows how old the state on the page is if the connection is lost or the session has ended. */
function Connection({ link, clock }: { link: Link; clock: number }): ComponentChild {
  const age = link.heardAt === 0 ? '' : ` This page shows the state of ${ageText(clock - link.heardAt)} ago.`
  const texts: Readonly<Record<Link['state'], string>> = {
    connecting: '',
    live: '',
    lost: `The connection is lost; the page tries again.${age}`,
    ended: `The session has ended.${age} Run \`sluice desk link\` on the machine, and open the link that it prints.`,
  }
  const text = texts[link.state]
  // A screen reader announces only a text without the age, because the age changes each second. This text changes only
  // with the state of the connection.
  return h(
    'div',
    { class: `connection ${link.state}` },
    h(
      'span',
      { class: 'hidden', role: 'status' },
      { ended: 'The session has ended.', lost: 'The connection is lost.', live: '', connecting: '' }[link.state],
    ),
    text === '' ? null : h('p', { class: 'lost' }, text),
  )
}

function Tabs({ route: { page }, pages }: { route: Route; pages: readonly PageName[] }): ComponentChild {
  useEffect(
    () => document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    [page],
  )
  return h(
    'nav',
    { class: 'tabs', 'aria-label': 'Pages' },
    pages.map(({ key, name }) =>
      h('a', { key, href: addressOf(key), ...(key === page ? { 'aria-current': 'page' } : {}) }, name),
    ),
  )
}

function Keys({ close }: { close: () => void }): ComponentChild {
  return h(
    Dialog,
    { label: 'Keys', close },
    h('h2', {}, 'Keys'),
    h(
      'dl',
      { class: 'keys' },
      SHORTCUTS.map(({ key, does }) => h('div', { key }, h('dt', {}, h('kbd', {}, key)), h('dd', {}, does))),
    ),
    h('div', { class: 'buttons' }, h('button', { type: 'button', onClick: close }, 'Close')),
  )
}

function toContent(event: Event): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = (): void => {
      setHash(location.hash)
      scrollTo(0, 0)
    }
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return routeOf(hash)
}

/** The browser's time, once a second. */
function useClock(): number {
  const [time, setTime] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setTime(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return time
}

function useTheme(): [Theme, () => void] {
  const [theme, set] = useState<Theme>(readTheme)
  useEffect(() => setTheme(theme), [theme])
  return [theme, () => set(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!)]
}

interface KeyUse {
  readonly canAct: boolean
  readonly act: (request: ActionRequest) => void
  readonly turn: () => void
  readonly help: () => void
  /** Whether a dialog is open. The dialog then receives all keys. */
  readonly isBusy: boolean
}

function useKeys(use: KeyUse): void {
  // The listener for keys reads the latest state through this reference. If each effect replaced the listener, the old
  // one could still handle a key with the state of a dialog that has just closed.
  const latest = useRef(use)
  latest.current = use
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { canAct, act, turn, help, isBusy } = latest.current
      const isInText = event.target instanceof Element && event.target.closest('input, select, textarea') !== null
      const key = shortcutOf(event, isInText || isBusy)
      if (key === undefined) return
      event.preventDefault()
      const page = PAGES[Number(key) - 1]
      if (page !== undefined) location.hash = addressOf(page.key)
      else if (key === '?') help()
      else if (key === 'd') turn()
      else if (key === 't') toMintField()
      else if (canAct) act({ action: key === 'h' ? 'halt' : key === 'r' ? 'resume' : 'flatten' })
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

function toMintField(): void {
  location.hash = addressOf('token')
  focusOnce('mint', FRAMES_AWAITED)
}

/** Gives the focus to an element that is drawn in one of the next frames. */
function focusOnce(id: string, frames: number): void {
  const element = document.getElementById(id)
  if (element !== null) element.focus()
  else if (frames > 0) requestAnimationFrame(() => focusOnce(id, frames - 1))
}
