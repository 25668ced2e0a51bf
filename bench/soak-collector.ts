import { defineStrategy, z } from 'sluice'

/** Collects what nobody holds any more in the thread that it runs in, now and then, and says what is left: `soak.ts`
 *  reads it. */
export default defineStrategy({
  name: 'soak-collector',
  about: 'Says what the thread of the strategies holds. It never trades.',
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
