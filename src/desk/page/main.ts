import { h, render } from 'preact'
import { App } from './app.ts'
import { readTheme, setTheme } from './colors.ts'
import { Connection } from './connection.ts'
import { routeOf } from './route.ts'
import { browser, readMe } from './server.ts'
import { type Desk, Store } from './store.ts'

const { page } = routeOf(location.hash)
// The chart that the address asks for is loaded while the first state is on its way.
if (page === 'token') void import('./price-chart.ts')
if (page === 'money' || page === 'bots') void import('uplot')

const store = new Store<Desk>({ view: null, link: { state: 'connecting', heardAt: 0 }, me: null, news: [] })

setTheme(readTheme())
render(h(App, { store }), document.getElementById('desk')!)
new Connection(store, browser).start()
void readMe().then((me) => {
  if (me === 'ended') store.set({ link: { state: 'ended', heardAt: 0 } })
  else if (me !== 'lost') store.set({ me })
})
