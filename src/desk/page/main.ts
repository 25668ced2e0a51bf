import { h, render } from 'preact'
import { App } from './app.ts'
import { readTheme, setTheme } from './colors.ts'
import { Connection } from './connection.ts'
import { routeOf } from './route.ts'
import { askEarly, browser } from './server.ts'
import { type Desk, Store } from './store.ts'
import { tokenPath } from './token-section.ts'

const store = new Store<Desk>({ view: null, link: { state: 'connecting', heardAt: 0 }, me: null, news: [] })
new Connection(store, browser).start()
// The chart of the current URL and its data are requested early, so that they load at the same time as the first state.
const { page, subject } = routeOf(location.hash)
if (page === 'token') {
  if (subject !== '') askEarly(tokenPath(subject))
  void import('./price-chart.ts')
}
if (page === 'money' || page === 'bots') void import('uplot')

setTheme(readTheme())
render(h(App, { store }), document.getElementById('desk')!)
