// Preloaded into a process by a test: names the npm package of every module that is loaded, in any of its threads.
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
    if (name !== undefined) appendFileSync(process.env.SLUICE_LOADED, `${name}\n`)
    return next(url, context)
  },
})
