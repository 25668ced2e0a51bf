import { defineStrategy, z } from 'sluice'

/** A strategy that from time to time collects garbage in the thread of the strategies, and logs the memory in use for
 *  `soak.ts`. */
export default defineStrategy({
  name: 'soak-collector',
  about: 'Logs the memory of the thread of the strategies. It never trades.',
  params: z.object({ seconds: z.number().min(1).default(5) }),
  keys: ['priceUpdates'],
  start: ({ seconds }, bot) => {
    bot.every('collect', seconds)
    return {
      onTimer() {
        const { gc } = globalThis
        gc?.()
        const { heapUsed, arrayBuffers } = process.memoryUsage()
        console.log(`holds ${heapUsed} and ${arrayBuffers} bytes`)
      },
    }
  },
})
