import type { Config } from '../../config/config.ts'
import type { Order } from '../../core/order.ts'
import type { Clock } from '../../core/ports.ts'
import type { Route } from '../../runtime/working-order.ts'
import type { PaperWorld } from '../paper-world.ts'
import type { Trading } from './trading.ts'
import { vetted } from './vetting.ts'

/** How the orders of each bot go out: on paper, through the service, or signed here. */
export class Routes {
  readonly #paper: PaperWorld
  /** By which executor a live bot has. */
  readonly #live: { readonly cloud: Route | undefined; readonly local: Route | undefined }
  readonly #signsHere: ReadonlySet<string>

  constructor(paper: PaperWorld, { bots }: Config, { cloud, local, chain }: Trading, clock: Clock) {
    const looked = (route: Route | undefined): Route | undefined =>
      route && chain ? vetted(route, { bots }, chain, clock) : route
    this.#paper = paper
    this.#live = { cloud: looked(cloud), local: looked(local) }
    this.#signsHere = new Set(bots.filter(({ executor }) => executor === 'local').map(({ name }) => name))
  }

  of({ account, bot }: Pick<Order, 'account' | 'bot'>): Route {
    const route = this.#paper.route(account) ?? (this.#signsHere.has(bot) ? this.#live.local : this.#live.cloud)
    if (route === undefined) throw new Error(`no executor for ${account}`)
    return route
  }
}
