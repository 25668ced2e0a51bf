// Preloaded into a process by a test: names each module that is loaded, in any of its threads, by its npm package, as a
// module of Node (`node:fs`), or as a file of Sluice (`src/main.ts`).
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const ROOT = new URL('../../', import.meta.url).href

function nameOf(url) {
  const [, joined, installed] = /.*\/node_modules\/(?:\.sluice\/(.+)-[\d.]+\.js|((?:@[^/]+\/)?[^/]+))/.exec(url) ?? []
  return joined ?? installed ?? url.replace(ROOT, '')
}

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.SLUICE_LOADED, `${nameOf(url)}\n`)
    return next(url, context)
  },
})
