// Preloaded into a process by a test: names every module of @solana/web3.js that is loaded, in any of its threads.
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    if (url.includes('/@solana/web3.js/')) appendFileSync(process.env.SLUICE_LOADED, `${url}\n`)
    return next(url, context)
  },
})
